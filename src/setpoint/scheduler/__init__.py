"""Sees pods without a node and writes a binding. It never runs anything."""
