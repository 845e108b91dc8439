"""Pods and pod templates: defaults, validation, strategies."""
