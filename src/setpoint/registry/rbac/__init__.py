"""Strategies of rbac.authorization.k8s.io: what roles and bindings may say. Who may write them is authorisation's."""
