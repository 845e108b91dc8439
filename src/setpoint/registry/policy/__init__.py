"""Strategies of the group policy."""
