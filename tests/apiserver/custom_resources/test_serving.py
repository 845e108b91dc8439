"""Definitions make the server serve their kinds, live; behaviours B08, B10, B15, B23, B31, B32, B35, B36."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import orjson
import pytest

from setpoint.api.machinery.user import UserInfo
from setpoint.apiserver.request import Request, Response
from setpoint.testing.cluster import VirtualCluster

_USER = UserInfo("admin", groups=("system:masters", "system:authenticated"))
_CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_WIDGETS = "/apis/demo.test/v1/namespaces/default/widgets"
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}


class Server:
    """Plain requests to the pipeline of a virtual cluster."""

    def __init__(self, cluster: VirtualCluster) -> None:
        self.cluster = cluster

    async def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Response:
        path, _, text = path.partition("?")
        query = {name: [value] for name, _, value in (part.partition("=") for part in text.split("&"))} if text else {}
        sent = {"content-type": "application/json", **{name.replace("_", "-"): value for name, value in headers.items()}}
        content = b"" if body is None else orjson.dumps(body)
        pipeline = self.cluster._server.pipeline
        return await pipeline.handle(Request(method, path, query, sent, content, _USER))

    async def json(self, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
        found: dict[str, Any] = orjson.loads((await self.ask(method, path, body, **headers)).body or b"null")
        return found

    async def define(self, schema: dict[str, Any] | None = None, **version: Any) -> None:
        """Define Widget and wait until it is served."""
        one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema or _ANYTHING}, **version}
        spec = {
            "group": "demo.test",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [one],
        }
        await self.ask("POST", _CRDS, {"metadata": {"name": "widgets.demo.test"}, "spec": spec})
        await self.cluster.clock.advance(1)

    async def make(self, name: str = "a", **fields: Any) -> dict[str, Any]:
        body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": name}, **fields}
        return await self.json("POST", _WIDGETS, body)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with VirtualCluster(0, parts=()) as cluster:
        yield Server(cluster)


def _typed(**spec: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}, "status": _ANYTHING}}


async def test_a_definition_is_served_and_withdrawn(server: Server) -> None:
    await server.define()
    assert (await server.make())["metadata"]["generation"] == 1
    groups = await server.json("GET", "/apis")
    assert "demo.test" in [group["name"] for group in groups["groups"]]
    assert [row["name"] for row in (await server.json("GET", "/apis/demo.test/v1"))["resources"]] == ["widgets"]
    document = await server.json("GET", "/openapi/v3/apis/demo.test/v1")
    assert "test.demo.v1.Widget" in document["components"]["schemas"]
    await server.ask("DELETE", f"{_CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(2)
    assert (await server.ask("GET", _WIDGETS)).status == 404
    assert (await server.ask("GET", f"{_CRDS}/widgets.demo.test")).status == 404


async def test_a_finalizer_of_an_object_holds_the_definition(server: Server) -> None:
    await server.define()
    await server.make(metadata={"name": "a", "finalizers": ["demo.test/keep"]})
    await server.ask("DELETE", f"{_CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(3)
    definition = await server.json("GET", f"{_CRDS}/widgets.demo.test")
    conditions = {one["type"]: one["reason"] for one in definition["status"]["conditions"]}
    assert conditions["Terminating"] == "InstanceDeletionInProgress"
    assert (await server.make("b"))["code"] == 403
    await server.ask("PATCH", f"{_WIDGETS}/a", {"metadata": {"finalizers": None}}, content_type="application/merge-patch+json")
    await server.cluster.clock.advance(10)
    assert (await server.ask("GET", f"{_CRDS}/widgets.demo.test")).status == 404


async def test_a_taken_kind_is_not_accepted(server: Server) -> None:
    await server.define()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANYTHING}}
    names = {"plural": "gadgets", "kind": "Widget"}
    spec = {"group": "demo.test", "scope": "Namespaced", "names": names, "versions": [version]}
    await server.ask("POST", _CRDS, {"metadata": {"name": "gadgets.demo.test"}, "spec": spec})
    await server.cluster.clock.advance(1)
    found = (await server.json("GET", f"{_CRDS}/gadgets.demo.test"))["status"]["conditions"]
    assert [(one["type"], one["status"], one["reason"]) for one in found] == [
        ("NamesAccepted", "False", "ListKindConflict"),
        ("Established", "False", "NotAccepted"),
    ]
    await server.ask("DELETE", f"{_CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(3)
    assert (await server.ask("GET", "/apis/demo.test/v1/gadgets")).status == 200


async def test_b31_null_default_prune(server: Server) -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "string", "nullable": True},
            "b": {"type": "string", "default": "d"},
            "c": {"type": "string"},
            "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
        },
    }
    await server.define(schema)
    made = await server.make(a=None, b=None, c=None, zz=1, free={"q": None})
    assert {name: made.get(name, "absent") for name in ("a", "b", "c", "zz", "free")} == {
        "a": None,
        "b": "d",
        "c": "absent",
        "zz": "absent",
        "free": {"q": None},
    }


async def test_b32_numbers(server: Server) -> None:
    await server.define()
    body = b'{"apiVersion":"demo.test/v1","kind":"Widget","metadata":{"name":"n"},"n":1000000,"big":9223372036854775807,"f":1.0}'
    response = await server.cluster._server.pipeline.handle(
        Request("POST", _WIDGETS, {}, {"content-type": "application/json"}, body, _USER)
    )
    assert b'"n":1000000,"big":9223372036854775807,"f":1' in (response.body or b"")


async def test_wrong_types_are_invalid(server: Server) -> None:
    await server.define(_typed(n={"type": "integer", "maximum": 10}, s={"type": "string", "enum": ["x", "y"]}))
    answer = await server.make(spec={"n": "1", "s": "z"})
    assert [cause["message"] for cause in answer["details"]["causes"]] == [
        'Invalid value: "string": spec.n in body must be of type integer: "string"',
        'Unsupported value: "z": supported values: "x", "y"',
    ]
    answer = await server.make(spec={"n": 11})
    assert answer["details"]["causes"][0]["message"] == "Invalid value: 11: spec.n in body should be less than or equal to 10"


async def test_unknown_fields_by_directive(server: Server) -> None:
    await server.define(_typed(n={"type": "integer"}))
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"n": 1, "x": 1}, "y": 2}
    refused = await server.json("POST", f"{_WIDGETS}?fieldValidation=Strict", body)
    assert refused["message"].endswith('strict decoding error: unknown field "spec.x", unknown field "y"')
    warned = await server.ask("POST", f"{_WIDGETS}?fieldValidation=Warn", body)
    assert list(warned.warnings) == ['unknown field "spec.x"', 'unknown field "y"']


async def test_old_objects_are_defaulted_when_read_and_ratcheted(server: Server) -> None:
    await server.define(_typed(n={"type": "integer"}, m={"type": "integer"}))
    await server.make(spec={"n": 20})
    schema = _typed(n={"type": "integer", "maximum": 10}, m={"type": "integer"}, d={"type": "string", "default": "new"})
    definition = await server.json("GET", f"{_CRDS}/widgets.demo.test")
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    await server.ask("PUT", f"{_CRDS}/widgets.demo.test", definition)
    await server.cluster.clock.advance(1)
    assert (await server.json("GET", f"{_WIDGETS}/a"))["spec"] == {"n": 20, "d": "new"}
    merge = "application/merge-patch+json"
    assert (await server.ask("PATCH", f"{_WIDGETS}/a", {"spec": {"m": 1}}, content_type=merge)).status == 200
    assert (await server.ask("PATCH", f"{_WIDGETS}/a", {"spec": {"n": 21}}, content_type=merge)).status == 422


async def test_b15_status_apart(server: Server) -> None:
    await server.define(subresources={"status": {}})
    made = await server.make(spec={"n": 1}, status={"ready": True})
    assert "status" not in made
    patch = {"metadata": {"labels": {"q": "1"}}, "spec": {"n": 9}, "status": {"ready": True}}
    changed = await server.json("PATCH", f"{_WIDGETS}/a/status", patch, content_type="application/merge-patch+json")
    assert (changed["spec"], changed["status"], "labels" in changed["metadata"]) == ({"n": 1}, {"ready": True}, False)
    assert changed["metadata"]["generation"] == 1


async def test_b10_updates_name_their_version(server: Server) -> None:
    await server.define()
    made = await server.make(spec={"n": 1})
    del made["metadata"]["resourceVersion"]
    assert (await server.ask("PUT", f"{_WIDGETS}/a", made)).status == 422


async def test_b23_no_strategic_patches(server: Server) -> None:
    await server.define()
    await server.make()
    media = "application/strategic-merge-patch+json"
    assert (await server.ask("PATCH", f"{_WIDGETS}/a", {"spec": {}}, content_type=media)).status == 415


async def test_b35_tables(server: Server) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    await server.define(additionalPrinterColumns=[{"name": "N", "type": "integer", "jsonPath": ".spec.n"}])
    await server.make(spec={})
    found = await server.json("GET", _WIDGETS, accept=table)
    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "N"]
    assert found["rows"][0]["cells"] == ["a", None]


async def test_b36_selectable_fields(server: Server) -> None:
    await server.define(_typed(color={"type": "string"}), selectableFields=[{"jsonPath": ".spec.color"}])
    await server.make("red", spec={"color": "red"})
    await server.make("blue", spec={"color": "blue"})
    found = await server.json("GET", f"{_WIDGETS}?fieldSelector=spec.color=red")
    assert [item["metadata"]["name"] for item in found["items"]] == ["red"]
    assert (await server.ask("GET", f"{_WIDGETS}?fieldSelector=spec.size=1")).status == 400


async def test_scale(server: Server) -> None:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    await server.define(subresources={"scale": paths})
    await server.make(spec={"replicas": 2})
    scale = await server.json("GET", f"{_WIDGETS}/a/scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 2}, {"replicas": 0})
    patch = {"spec": {"replicas": 5}}
    await server.ask("PATCH", f"{_WIDGETS}/a/scale", patch, content_type="application/merge-patch+json")
    assert (await server.json("GET", f"{_WIDGETS}/a"))["spec"]["replicas"] == 5


async def test_apply_owns_list_items_by_key(server: Server) -> None:
    ports = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port"],
        "items": {"type": "object", "required": ["port"], "properties": {"port": {"type": "integer"}, "n": {"type": "string"}}},
    }
    await server.define(_typed(ports=ports))
    media = "application/apply-patch+yaml"
    for manager, port in (("one", 80), ("two", 443)):
        body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"ports": [{"port": port}]}}
        await server.ask("PATCH", f"{_WIDGETS}/a?fieldManager={manager}", body, content_type=media)
    assert [each["port"] for each in (await server.json("GET", f"{_WIDGETS}/a"))["spec"]["ports"]] == [80, 443]


async def test_definitions_are_served_after_a_restart(server: Server) -> None:
    await server.define()
    await server.make(spec={"n": 1})
    await server.cluster.restart_api_server()
    assert (await server.json("GET", f"{_WIDGETS}/a"))["spec"] == {"n": 1}


async def _watched(server: Server) -> AsyncIterator[bytes]:
    stream = (await server.ask("GET", f"{_WIDGETS}?watch=1")).stream
    assert stream is not None
    return stream


async def test_watches_end_with_the_definition(server: Server) -> None:
    await server.define()
    await server.make()
    stream = await _watched(server)
    assert b'"ADDED"' in await anext(stream)
    await server.ask("DELETE", f"{_CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(2)
    assert b'"DELETED"' in await asyncio.wait_for(anext(stream), 2)
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(anext(stream), 2)


async def test_a_watch_from_before_the_definition_is_too_old(server: Server) -> None:
    await server.define()
    since = (await server.json("GET", f"{_CRDS}/widgets.demo.test"))["metadata"]["resourceVersion"]
    stream = (await server.ask("GET", f"{_WIDGETS}?watch=1&resourceVersion=1")).stream
    assert stream is not None
    error = orjson.loads(await anext(stream))["object"]
    assert (error["code"], error["message"]) == (410, f"too old resource version: 1 ({since})")
    await server.make()
    stream = (await server.ask("GET", f"{_WIDGETS}?watch=1&resourceVersion={since}")).stream
    assert stream is not None
    assert b'"ADDED"' in await anext(stream)


async def test_watches_end_when_the_schema_changes_and_not_with_labels(server: Server) -> None:
    await server.define(_typed(n={"type": "integer"}))
    await server.make()
    stream = await _watched(server)
    await anext(stream)
    waiting = asyncio.ensure_future(anext(stream))
    merge = "application/merge-patch+json"
    definition = f"{_CRDS}/widgets.demo.test"
    await server.ask("PATCH", definition, {"metadata": {"labels": {"a": "b"}}}, content_type=merge)
    await server.cluster.clock.advance(1)
    assert not waiting.done()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": _ANYTHING}}
    await server.ask("PATCH", definition, {"spec": {"versions": [version]}}, content_type=merge)
    await server.cluster.clock.advance(1)
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(waiting, 2)


async def test_a_body_of_another_version_is_refused_whether_that_exists_or_not(server: Server) -> None:
    await server.define()
    body = {"apiVersion": "demo.test/v7", "kind": "Gadget", "metadata": {"name": "a"}}
    why = "the API version in the data (demo.test/v7) does not match the expected API version (demo.test/v1)"
    assert (await server.json("POST", _WIDGETS, body))["message"] == why


async def test_verbs_that_status_does_not_have(server: Server) -> None:
    await server.define(_typed(n={"type": "integer"}), subresources={"status": {}})
    await server.make()
    refused = await server.json("DELETE", f"{_WIDGETS}/a/status")
    assert refused["message"] == 'delete is not supported on resources of kind "widgets.demo.test"'
    assert refused["details"] == {"group": "demo.test", "kind": "widgets"}


async def test_an_apply_meets_the_schema_before_its_repeated_keys(server: Server) -> None:
    await server.define(_typed(s={"type": "string"}))
    sent = {"content-type": "application/apply-patch+yaml"}
    query = {"fieldManager": ["one"], "fieldValidation": ["Strict"]}

    async def apply(spec: str) -> Response:
        text = f"apiVersion: demo.test/v1\nkind: Widget\nmetadata: {{name: a}}\nspec: {spec}\n"
        pipeline = server.cluster._server.pipeline
        return await pipeline.handle(Request("PATCH", f"{_WIDGETS}/a", query, sent, text.encode(), _USER))

    assert (await apply("{s: a, s: b, q: 1}")).status == 500
    assert (await apply("{s: a, s: b}")).status == 400
    assert (await apply("{s: a}")).status == 201


async def test_unknown_fields_of_embedded_metadata_come_last(server: Server) -> None:
    fields = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"n": {"type": "integer"}}}
    await server.define({"type": "object", "properties": {"t": fields}})
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "odd": 1, "labels": None}, "zz": 1}
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a", "odd": 1}, "aa": 1, "t": inner}
    response = await server.ask("POST", _WIDGETS, body)
    named = ("metadata.odd", "aa", "t.zz", "t.metadata.odd")
    assert list(response.warnings) == [f'unknown field "{name}"' for name in named]


async def test_embedded_metadata_must_be_metadata(server: Server) -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    await server.define({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": embedded}}})

    async def refusal(inner: dict[str, Any]) -> str:
        body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "m": {"k": inner}}
        refused: str = (await server.json("POST", _WIDGETS, body))["message"]
        return refused

    wrong = await refusal({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}})
    assert 'm[k].metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name' in wrong
    assert "m[k].apiVersion: Invalid value: 1: must be a string" in await refusal({"apiVersion": 1, "kind": "Pod"})


@pytest.mark.parametrize("value", ["x", 5, [1], True])
async def test_an_update_to_a_wrong_type_is_invalid(server: Server, value: Any) -> None:
    await server.define(_typed(o={"type": "object", "properties": {"a": {"type": "string"}}}))
    await server.make(spec={"o": {"a": "x"}})
    path, merge = f"{_WIDGETS}/a", "application/merge-patch+json"
    refused = await server.json("PATCH", path, {"spec": {"o": value}}, content_type=merge)
    assert refused["details"]["causes"][0]["field"] == "spec.o"
    assert (await server.json("GET", path))["metadata"]["managedFields"]


@pytest.mark.parametrize(
    ("field", "why"),
    [
        ({"type": "object", "additionalProperties": "x"}, "boolean or JSON schema expected"),
        ({"type": "array", "items": ["x"]}, "cannot unmarshal string into Go value of type v1.JSONSchemaProps"),
        ({"type": "array", "items": "x"}, "properties[a].items: Required value: must be specified"),
        ({"type": "number", "minimum": 1e20, "items": True}, ""),
    ],
)
async def test_schemas_of_other_types_in_a_definition(server: Server, field: dict[str, Any], why: str) -> None:
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"a": field}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    names = {"plural": "oddities", "kind": "Oddity"}
    spec = {"group": "demo.test", "scope": "Cluster", "names": names, "versions": [version]}
    kind = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition"}
    answer = await server.json("POST", _CRDS, {**kind, "metadata": {"name": "oddities.demo.test"}, "spec": spec})
    assert why in answer.get("message", "")


async def test_large_whole_numbers_have_all_their_digits(server: Server) -> None:
    await server.define({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    free = {"n": [1e20, -1.5e19, 2.0**63, 1e21], "s": '1e+20 " 1e+20'}
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, **free}
    made = await server.ask("POST", _WIDGETS, body)
    read = await server.ask("GET", f"{_WIDGETS}/a")
    wanted = b'"n":[100000000000000000000,-15000000000000000000,9223372036854776000,1e+21],"s":"1e+20 \\" 1e+20"'
    assert wanted in (made.body or b"")
    assert made.body == read.body


async def test_metadata_of_another_type(server: Server) -> None:
    await server.define({"type": "object"})
    await server.make()
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": "x"}
    why = "json: cannot unmarshal string into Go value of type v1.ObjectMeta"
    assert (await server.json("POST", _WIDGETS, body))["message"].endswith(why)
    path, merge = f"{_WIDGETS}/a", "application/merge-patch+json"
    assert (await server.json("PATCH", path, {"metadata": "x"}, content_type=merge))["message"].endswith(why)
    refused = await server.json("PATCH", path, {"metadata": {"labels": {"a": 1}}}, content_type=merge)
    assert refused["message"].endswith("json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string")


async def test_a_body_that_names_no_kind_is_quoted_whole_and_cut_short(server: Server) -> None:
    await server.define({"type": "object"})
    refused = await server.json("POST", _WIDGETS, {"metadata": {"name": "a", "labels": {"b": "c"}}})
    text = '{"metadata":{"name":"a","labels":{"b":"c"}}}'
    assert refused["message"].endswith(f"Object 'Kind' is missing in '{text}' ({text[:30]} ...)")


async def test_ownership_is_forgotten_where_another_owners_version_lacks_a_field(server: Server) -> None:
    """Owners are compared in their own versions, whose conversions are not pruned: what does not fit ends the tracking."""
    await server.define(_typed(a={"type": "string"}))
    later = {"name": "v2", "served": True, "storage": False}
    schemas = [_typed(a={"type": "string"}), _typed(a={"type": "string"}, c={"type": "string"})]
    one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schemas[0]}}
    versions = [one, {**later, "schema": {"openAPIV3Schema": schemas[1]}}]
    merge = "application/merge-patch+json"
    await server.ask("PATCH", f"{_CRDS}/widgets.demo.test", {"spec": {"versions": versions}}, content_type=merge)
    await server.cluster.clock.advance(1)
    await server.make(spec={"a": "x"})
    path = f"{_WIDGETS.replace('/v1/', '/v2/')}/a"
    changed = await server.json("PATCH", path, {"spec": {"a": "y"}}, content_type=merge)
    assert [entry["apiVersion"] for entry in changed["metadata"]["managedFields"]] == ["demo.test/v1", "demo.test/v2"]
    changed = await server.json("PATCH", path, {"spec": {"c": "new"}}, content_type=merge)
    assert changed["spec"] == {"a": "y"}
    assert "managedFields" not in changed["metadata"]


async def test_answers_in_protobuf_are_refused_in_protobuf(server: Server) -> None:
    await server.define()
    await server.make()
    refused = await server.ask("GET", f"{_WIDGETS}/a", accept="application/vnd.kubernetes.protobuf")
    assert (refused.status, refused.headers["Content-Type"]) == (406, "application/vnd.kubernetes.protobuf")
    assert refused.body is not None
    assert refused.body.startswith(b"k8s\x00")
    unknown = await server.json("GET", f"{_WIDGETS}/a", accept="text/html")
    assert unknown["message"].startswith("only the following media types are accepted: application/json, ")
    assert "details" not in unknown


async def test_a_scale_of_zero_owns_nothing(server: Server) -> None:
    paths = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    await server.define(_typed(n={"type": "integer"}), subresources={"scale": paths})
    await server.make(spec={"n": 2})
    merge = "application/merge-patch+json"
    for replicas, owners in ((4, ["", "scale"]), (0, [""])):
        await server.ask("PATCH", f"{_WIDGETS}/a/scale", {"spec": {"replicas": replicas}}, content_type=merge)
        found = await server.json("GET", f"{_WIDGETS}/a")
        assert sorted(entry.get("subresource", "") for entry in found["metadata"]["managedFields"]) == owners


async def test_complaints_about_metadata_begin_there(server: Server) -> None:
    await server.define()
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": 1}}
    message = (await server.json("POST", _WIDGETS, body))["message"]
    assert message.endswith("json: cannot unmarshal number into Go struct field ObjectMeta.name of type string")


async def test_metadata_through_status_is_owned_where_it_can_be_changed(server: Server) -> None:
    """A definition's labels may be written with its status, a custom object's may not."""
    await server.define(_typed(a={"type": "string"}), subresources={"status": {}})
    await server.make()
    merge, labels = "application/merge-patch+json", {"metadata": {"labels": {"l": "1"}, "finalizers": ["a.b/c"]}}

    async def owned(path: str) -> list[str]:
        obj = await server.json("PATCH", f"{path}/status?fieldManager=m", labels, content_type=merge)
        entries = obj["metadata"].get("managedFields") or ()
        return [name for entry in entries if entry["manager"] == "m" for name in entry["fieldsV1"]["f:metadata"]]

    assert sorted(await owned(f"{_CRDS}/widgets.demo.test")) == ["f:finalizers", "f:labels"]
    assert await owned(f"{_WIDGETS}/a") == []
