"""The only composition root: configuration becomes components, started and stopped in order."""
