"""Strategies of networking.k8s.io."""
