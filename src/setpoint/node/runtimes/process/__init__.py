"""Containers as processes of this host, each pod under a supervisor (decisions 19 and 20)."""
