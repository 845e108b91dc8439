"""Certificates for nodes: requests that a node makes for itself are approved and signed with the cluster's CA.

Two signers are served: `kubernetes.io/kube-apiserver-client-kubelet` (a node's identity towards the API server) and
`kubernetes.io/kubelet-serving` (its serving certificate). Everything else waits for a person's approval, and other signers for
whoever serves them.
"""
