from __future__ import annotations

from .conftest import Api


async def test_nobody_acts_as_somebody_else(api: Api) -> None:
    answer = await api("GET /api/v1/namespaces/d/secrets", code=403, impersonate_user="alice")
    assert 'cannot impersonate resource "users"' in answer["message"]
