"""What holds for all tests."""

from __future__ import annotations

from hypothesis import settings

# How long an example takes is the machine's matter; tests that hang are ended by pytest-timeout.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")
