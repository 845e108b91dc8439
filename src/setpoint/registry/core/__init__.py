"""Strategies of the smaller kinds of the core group."""
