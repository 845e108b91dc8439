"""Strategies of the group autoscaling."""
