"""The ReplicaSet controller: as many pods as `spec.replicas` says, no more, no fewer."""
