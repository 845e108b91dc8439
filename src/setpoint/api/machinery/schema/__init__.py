"""The schema engine: one tree of fields per kind, built-in or custom, that every kind-blind part of the server walks."""
