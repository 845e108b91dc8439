"""Strategies of apiregistration.k8s.io."""
