"""Reading as Kubernetes answers it: versions, pages, selectors, forms."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"
_ONLY = 'is not a known field selector: only "metadata.name", "metadata.namespace"'


async def _five(api: Any) -> None:
    for number in range(5):
        await api.make(CONFIGMAPS, f"m{number}")


async def test_a_forgotten_page_is_410_with_a_token_for_the_rest(api: Any) -> None:
    await _five(api)
    token = (await api(f"GET {CONFIGMAPS}?limit=2"))["metadata"]["continue"]
    await api(f"DELETE {CONFIGMAPS}/m3")
    await api.make(CONFIGMAPS, "m9")
    await api.store.compact(api.store.revision)
    refusal = await api(f"GET {CONFIGMAPS}?limit=2&continue={token}", code=410)
    assert refusal["reason"] == "Expired"
    assert refusal["message"].startswith("The provided continue parameter is too old to display a consistent list result.")
    second = refusal["metadata"]["continue"]
    rest = await api(f"GET {CONFIGMAPS}?continue={second}")
    assert [item["metadata"]["name"] for item in rest["items"]] == ["m2", "m4", "m9"]
    assert rest["metadata"]["resourceVersion"] == await api.version(CONFIGMAPS)
    page = await api(f"GET {CONFIGMAPS}?limit=1&continue={second}")
    assert page["metadata"]["remainingItemCount"] == 2


async def test_a_list_at_a_forgotten_version_is_410(api: Any) -> None:
    await _five(api)
    old = await api.version(CONFIGMAPS)
    await api.make(CONFIGMAPS, "m9")
    await api.store.compact(api.store.revision)
    refusal = await api(f"GET {CONFIGMAPS}?resourceVersion={int(old) - 1}&resourceVersionMatch=Exact", code=410)
    assert (refusal["reason"], "continue" in refusal["metadata"]) == ("Expired", False)
    assert len((await api(f"GET {CONFIGMAPS}?resourceVersion={old}&resourceVersionMatch=NotOlderThan"))["items"]) == 6


WATCH_REFUSALS = [
    ("sendInitialEvents=true", ["sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"]),
    (
        "sendInitialEvents=true&resourceVersionMatch=Exact",
        ["sendInitialEvents requires setting resourceVersionMatch to NotOlderThan", 'supported values: "NotOlderThan"'],
    ),
    (
        "resourceVersionMatch=Exact",
        ["forbidden for watch unless sendInitialEvents is provided", 'supported values: "NotOlderThan"'],
    ),
    ("resourceVersionMatch=NotOlderThan", ["forbidden for watch unless sendInitialEvents is provided"]),
    ("continue=x", ["resourceVersionMatch is forbidden when continue is provided"]),
]


@pytest.mark.parametrize(("query", "causes"), WATCH_REFUSALS)
async def test_options_that_a_watch_does_not_take(api: Any, query: str, causes: list[str]) -> None:
    refusal = await api(f"GET {CONFIGMAPS}?watch=1&{query}", code=422)
    found = [cause["message"] for cause in refusal["details"]["causes"]]
    assert len(found) == len(causes)
    assert all(text in message for text, message in zip(causes, found, strict=True))


LIST_REFUSALS = [
    ("resourceVersionMatch=Exact", ["forbidden unless resourceVersion is provided"]),
    ("resourceVersion=0&resourceVersionMatch=Exact", ['"exact" is forbidden for resourceVersion "0"']),
    ("resourceVersion=1&resourceVersionMatch=Newest", ['supported values: "Exact", "NotOlderThan", ""']),
    ("sendInitialEvents=false", ["sendInitialEvents is forbidden for list"]),
]


@pytest.mark.parametrize(("query", "causes"), LIST_REFUSALS)
async def test_options_that_a_list_does_not_take(api: Any, query: str, causes: list[str]) -> None:
    refusal = await api(f"GET {CONFIGMAPS}?{query}", code=422)
    found = [cause["message"] for cause in refusal["details"]["causes"]]
    assert len(found) == len(causes)
    assert all(text in message for text, message in zip(causes, found, strict=True))


async def test_a_version_from_the_future(api: Any) -> None:
    """A get and a list wait for it and give up; a watch with its state first says so in the stream; a plain watch is silent."""
    get = asyncio.ensure_future(api(f"GET {CONFIGMAPS}?resourceVersion=99999", code=504))
    initial = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan"
    watch = asyncio.ensure_future(api.watch(f"{CONFIGMAPS}?watch=1&{initial}&resourceVersion=99999"))
    await api.clock.idle()
    await api.clock.advance(3.0)
    refusal = await get
    assert refusal["details"]["causes"] == [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    event = await (await watch).next()
    assert (event["type"], event["object"]["code"]) == ("ERROR", 504)


FIELDS = [
    ("/api/v1/namespaces/ns1/pods", "status.qosClass", "field label not supported: status.qosClass"),
    ("/api/v1/nodes", "metadata.namespace", "field label not supported: metadata.namespace"),
    ("/api/v1/persistentvolumes", "name", f'"name" {_ONLY}'),
    ("/api/v1/namespaces/ns1/persistentvolumeclaims", "spec.volumeName", f'"spec.volumeName" {_ONLY}'),
    ("/apis/batch/v1/namespaces/ns1/jobs", "status.failed", 'field label "status.failed" not supported for Job'),
    ("/apis/batch/v1/namespaces/ns1/cronjobs", "status.successful", f'"status.successful" {_ONLY}'),
    ("/apis/apps/v1/namespaces/ns1/statefulsets", "spec.x", "field label not supported for appsv1.StatefulSet: spec.x"),
    (
        "/apis/resource.k8s.io/v1/resourceslices",
        "spec.x",
        "field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: spec.x",
    ),
]


@pytest.mark.parametrize(("path", "field", "message"), FIELDS)
async def test_fields_that_a_kind_does_not_offer(api: Any, path: str, field: str, message: str) -> None:
    for suffix in ("", "&watch=1"):
        assert (await api(f"GET {path}?fieldSelector={field}=x{suffix}", code=400))["message"] == message
    assert (await api(f"DELETE {path}?fieldSelector={field}=x", code=400))["message"] == message


async def test_stateful_sets_have_a_field_that_is_always_empty(api: Any) -> None:
    assert (await api("GET /apis/apps/v1/namespaces/ns1/statefulsets?fieldSelector=status.successful=1"))["items"] == []


async def test_a_limit_ends_a_deletion_after_its_first_page(api: Any) -> None:
    await _five(api)
    gone = await api(f"DELETE {CONFIGMAPS}?limit=2")
    assert [item["metadata"]["name"] for item in gone["items"]] == ["m0", "m1"]
    assert gone["metadata"]["remainingItemCount"] == 3
    assert gone["metadata"]["continue"]
    assert len((await api(f"GET {CONFIGMAPS}"))["items"]) == 3


FORMS = [
    ("application/json;as=Table;v=v1;g=meta.k8s.io", 200),
    ("application/json;as=Table;v=v2;g=meta.k8s.io", 406),
    ("application/json;as=Table;v=v2;g=meta.k8s.io,application/json", 200),
    ("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", 406),
    ("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", 200),
    ("application/vnd.kubernetes.protobuf,application/json", 200),
    ("application/yaml", 200),
    ("image/png", 406),
    ("application/*", 406),
    ("*/*", 200),
]


@pytest.mark.parametrize(("accept", "code"), FORMS)
async def test_forms_of_a_list(api: Any, accept: str, code: int) -> None:
    response = await api.respond(f"GET {CONFIGMAPS}", accept=accept)
    assert response.status == code


async def test_a_page_of_a_table_has_the_lists_metadata(api: Any) -> None:
    await _five(api)
    response = await api.respond(f"GET {CONFIGMAPS}?limit=2", accept="application/json;as=Table;v=v1;g=meta.k8s.io")
    table = orjson.loads(response.body)
    assert set(table["metadata"]) == {"resourceVersion", "continue", "remainingItemCount"}
    assert [row["object"]["kind"] for row in table["rows"]] == ["PartialObjectMetadata"] * 2


TIMEOUTS = [
    ("abc", 'invalid duration "abc"'),
    ("5", 'missing unit in duration "5"'),
    ("5x", 'unknown unit "x" in duration "5x"'),
    ("1h5", 'missing unit in duration "1h5"'),
    ("-", 'invalid duration "-"'),
]


@pytest.mark.parametrize(("text", "why"), TIMEOUTS)
async def test_a_timeout_that_is_no_duration_is_refused(api: Any, text: str, why: str) -> None:
    for path in (CONFIGMAPS, "/apis", "/version"):
        refusal = await api(f"GET {path}?timeout={text}", code=400)
        assert refusal["message"] == f"invalid timeout specified in the request URL - time: {why}"


@pytest.mark.parametrize("text", ["", "0", "32s", "1m30s", "1.5h", "300ms"])
async def test_a_timeout_that_is_a_duration_is_taken(api: Any, text: str) -> None:
    assert (await api(f"GET {CONFIGMAPS}?timeout={text}"))["items"] == []
