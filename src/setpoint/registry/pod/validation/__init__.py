"""Validation of pods and pod templates, split by theme.

The order of complaints is that of Kubernetes' `pkg/apis/core/validation/validation.go`, for clients compare whole messages. Where
Go iterates a map (and so answers in random order) keys are taken sorted.
"""
