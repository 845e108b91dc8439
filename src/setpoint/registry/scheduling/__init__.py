"""Strategies of scheduling.k8s.io."""
