"""Strategies of admissionregistration.k8s.io: what configurations may say. Obeying them is admission's."""
