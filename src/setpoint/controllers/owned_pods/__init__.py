"""What controllers that own pods have in common: what they see in a pod, how pods are made and deleted, and which go first."""
