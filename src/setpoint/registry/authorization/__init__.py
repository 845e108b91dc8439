"""What reviews of authorization.k8s.io may ask. Who may ask, and the answers, are the API server's."""
