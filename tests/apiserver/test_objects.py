from __future__ import annotations

from typing import Any

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"


async def test_a_created_object_is_read_back_with_the_metadata_of_the_server(api: Any) -> None:
    made = await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a", "selfLink": "/x"}, "data": {"k": "v"}}, code=201)
    assert list(made)[:2] == ["kind", "apiVersion"]
    assert made["metadata"]["namespace"] == "ns1"
    assert made["metadata"]["uid"]
    assert "selfLink" not in made["metadata"]
    assert await api(f"GET {CONFIGMAPS}/a") == made


async def test_put_needs_the_present_version_and_a_no_op_is_no_write(api: Any) -> None:
    made = await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}, "data": {"k": "v"}})
    assert await api(f"PUT {CONFIGMAPS}/a", made) == made  # written anew, unchanged: nothing happens
    changed = await api(f"PUT {CONFIGMAPS}/a", made | {"data": {"k": "w"}})
    assert int(changed["metadata"]["resourceVersion"]) > int(made["metadata"]["resourceVersion"])
    refused = await api(f"PUT {CONFIGMAPS}/a", made, code=409)
    assert refused["reason"] == "Conflict"


async def test_delete_removes_and_answers_a_status(api: Any) -> None:
    made = await api(f"POST {CONFIGMAPS}", {"metadata": {"name": "a"}})
    gone = await api(f"DELETE {CONFIGMAPS}/a")
    assert gone["details"] == {"name": "a", "kind": "configmaps", "uid": made["metadata"]["uid"]}
    assert (await api(f"GET {CONFIGMAPS}/a", code=404))["reason"] == "NotFound"
