"""Certificates on request: who may have one without being asked (`approving`), what is signed (`signing`), what is cleared away
(`cleaning`).

Four signers are served with the cluster's CA: `kubernetes.io/kube-apiserver-client` (clients of the API server; a person
approves), `kubernetes.io/kube-apiserver-client-kubelet` (a node's identity), `kubernetes.io/kubelet-serving` (a node's serving
certificate) and `kubernetes.io/legacy-unknown`. Other signers are left to whoever serves them.
Source: Kubernetes `pkg/controller/certificates`.
"""
