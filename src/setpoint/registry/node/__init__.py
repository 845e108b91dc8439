"""Strategies of node.k8s.io."""
