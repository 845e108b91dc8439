"""Strategies of apiextensions.k8s.io: definitions of custom resources, not the resources themselves."""
