"""Typed, frozen views of the built-in kinds for components (generated)."""
