"""A scheduler without a server."""

from __future__ import annotations

import pytest

from setpoint.testing.scheduling import Rig


@pytest.fixture
def rig() -> Rig:
    return Rig()
