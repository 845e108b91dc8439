"""Strategies of flowcontrol.apiserver.k8s.io."""
