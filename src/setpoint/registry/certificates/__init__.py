"""Strategies of certificates.k8s.io."""
