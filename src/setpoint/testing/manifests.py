"""Manifests that several tests declare."""

from __future__ import annotations


def deployment(
    name: str = "web", *, replicas: int = 3, mark: str = "", image: str = "demo:v1", command: str = "exec sleep 1000"
) -> str:
    """A Deployment whose processes run `command` in a shell and bear `MARK=<mark>` in their environment."""
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      terminationGracePeriodSeconds: 1
      containers:
      - name: app
        image: {image}
        command: [sh, -c, {command!r}]
        env: [{{name: MARK, value: {mark!r}}}]
"""
