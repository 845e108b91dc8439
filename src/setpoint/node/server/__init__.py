"""The agent's HTTPS port, shaped like kubelet's, for the API server alone."""
