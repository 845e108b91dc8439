"""The StatefulSet controller: pods with names and storage of their own, made, replaced and removed in order."""
