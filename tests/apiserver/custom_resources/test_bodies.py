"""What is sent and answered about kinds of one's own: odd bodies, embedded metadata, ownership."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from tests.apiserver.custom_resources.widgets import CRDS, USER, WIDGETS, Server, typed

from setpoint.apiserver.request import Request, Response


async def test_a_body_of_another_version_is_refused_whether_that_exists_or_not(server: Server) -> None:
    await server.define()
    body = {"apiVersion": "demo.test/v7", "kind": "Gadget", "metadata": {"name": "a"}}
    why = "the API version in the data (demo.test/v7) does not match the expected API version (demo.test/v1)"
    assert (await server.json("POST", WIDGETS, body))["message"] == why


@pytest.mark.parametrize(
    ("method", "path", "status", "message"),
    [
        ("DELETE", "/a/status", 405, 'delete is not supported on resources of kind "widgets.demo.test"'),
        ("OPTIONS", "/a", 405, ' is not supported on resources of kind "widgets.demo.test"'),
        ("GET", "/a/other", 404, 'widgets.demo.test "a" not found'),
        ("PUT", "", 400, "name must be provided"),
        ("GET", "/a/status/x", 200, None),
        ("HEAD", "/a", 200, None),
    ],
)
async def test_verbs_and_paths(server: Server, method: str, path: str, status: int, message: str | None) -> None:
    await server.define(typed(n={"type": "integer"}), subresources={"status": {}}, deprecated=True)
    await server.make()
    answer = await server.ask(method, f"{WIDGETS}{path}")
    assert (answer.status, orjson.loads(answer.body or b"null").get("message")) == (status, message)
    assert list(answer.warnings) == ["demo.test/v1 Widget is deprecated"]


async def test_an_apply_meets_the_schema_before_its_repeated_keys(server: Server) -> None:
    await server.define(typed(s={"type": "string"}))
    sent = {"content-type": "application/apply-patch+yaml"}
    query = {"fieldManager": ["one"], "fieldValidation": ["Strict"]}

    async def apply(spec: str) -> Response:
        text = f"apiVersion: demo.test/v1\nkind: Widget\nmetadata: {{name: a}}\nspec: {spec}\n"
        pipeline = server.cluster._server.pipeline
        return await pipeline.handle(Request("PATCH", f"{WIDGETS}/a", query, sent, text.encode(), USER))

    assert (await apply("{s: a, s: b, q: 1}")).status == 500
    assert (await apply("{s: a, s: b}")).status == 400
    assert (await apply("{s: a}")).status == 201


async def test_unknown_fields_of_embedded_metadata_come_last(server: Server) -> None:
    fields = {"type": "object", "x-kubernetes-embedded-resource": True, "properties": {"n": {"type": "integer"}}}
    await server.define({"type": "object", "properties": {"t": fields}})
    inner = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "odd": 1, "labels": None}, "zz": 1}
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a", "odd": 1}, "aa": 1, "t": inner}
    response = await server.ask("POST", WIDGETS, body)
    named = ("metadata.odd", "aa", "t.zz", "t.metadata.odd")
    assert list(response.warnings) == [f'unknown field "{name}"' for name in named]


async def test_embedded_metadata_must_be_metadata(server: Server) -> None:
    embedded = {"type": "object", "x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}
    await server.define({"type": "object", "properties": {"m": {"type": "object", "additionalProperties": embedded}}})

    async def refusal(inner: dict[str, Any]) -> str:
        body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "m": {"k": inner}}
        refused: str = (await server.json("POST", WIDGETS, body))["message"]
        return refused

    wrong = await refusal({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": 5}})
    assert 'm[k].metadata: Invalid value: {"name":5}: json: cannot unmarshal number into Go struct field ObjectMeta.name' in wrong
    assert "m[k].apiVersion: Invalid value: 1: must be a string" in await refusal({"apiVersion": 1, "kind": "Pod"})


@pytest.mark.parametrize("value", ["x", 5, [1], True])
async def test_an_update_to_a_wrong_type_is_invalid(server: Server, value: Any) -> None:
    await server.define(typed(o={"type": "object", "properties": {"a": {"type": "string"}}}))
    await server.make(spec={"o": {"a": "x"}})
    path, merge = f"{WIDGETS}/a", "application/merge-patch+json"
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
    answer = await server.json("POST", CRDS, {**kind, "metadata": {"name": "oddities.demo.test"}, "spec": spec})
    assert why in answer.get("message", "")


async def test_large_whole_numbers_have_all_their_digits(server: Server) -> None:
    await server.define({"type": "object", "x-kubernetes-preserve-unknown-fields": True})
    free = {"n": [1e20, -1.5e19, 2.0**63, 1e21], "s": '1e+20 " 1e+20'}
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, **free}
    made = await server.ask("POST", WIDGETS, body)
    read = await server.ask("GET", f"{WIDGETS}/a")
    wanted = b'"n":[100000000000000000000,-15000000000000000000,9223372036854776000,1e+21],"s":"1e+20 \\" 1e+20"'
    assert wanted in (made.body or b"")
    assert made.body == read.body


async def test_metadata_of_another_type(server: Server) -> None:
    await server.define({"type": "object"})
    await server.make()
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": "x"}
    why = "json: cannot unmarshal string into Go value of type v1.ObjectMeta"
    assert (await server.json("POST", WIDGETS, body))["message"].endswith(why)
    path, merge = f"{WIDGETS}/a", "application/merge-patch+json"
    assert (await server.json("PATCH", path, {"metadata": "x"}, content_type=merge))["message"].endswith(why)
    refused = await server.json("PATCH", path, {"metadata": {"labels": {"a": 1}}}, content_type=merge)
    assert refused["message"].endswith("json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string")


async def test_a_body_that_names_no_kind_is_quoted_whole_and_cut_short(server: Server) -> None:
    await server.define({"type": "object"})
    refused = await server.json("POST", WIDGETS, {"metadata": {"name": "a", "labels": {"b": "c"}}})
    text = '{"metadata":{"name":"a","labels":{"b":"c"}}}'
    assert refused["message"].endswith(f"Object 'Kind' is missing in '{text}' ({text[:30]} ...)")


async def test_what_has_no_kind_or_version_is_no_resource(server: Server) -> None:
    await server.define({"type": "object"})
    refused = await server.json("POST", WIDGETS, {"kind": "Widget", "metadata": {"name": "a"}})
    assert refused["message"] == "the API version in the data () does not match the expected API version (demo.test/v1)"
    await server.make()
    path, merge = f"{WIDGETS}/a", "application/merge-patch+json"
    refused = await server.json("PATCH", path, {"kind": None}, content_type=merge)
    assert (refused["code"], [cause["field"] for cause in refused["details"]["causes"]]) == (422, ["patch"])
    assert (await server.json("PATCH", path, {"apiVersion": None}, content_type=merge))["reason"] == "InternalError"


async def test_ownership_is_forgotten_where_another_owners_version_lacks_a_field(server: Server) -> None:
    """Owners are compared in their own versions, whose conversions are not pruned: what does not fit ends the tracking."""
    await server.define(typed(a={"type": "string"}))
    later = {"name": "v2", "served": True, "storage": False}
    schemas = [typed(a={"type": "string"}), typed(a={"type": "string"}, c={"type": "string"})]
    one = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schemas[0]}}
    versions = [one, {**later, "schema": {"openAPIV3Schema": schemas[1]}}]
    merge = "application/merge-patch+json"
    await server.ask("PATCH", f"{CRDS}/widgets.demo.test", {"spec": {"versions": versions}}, content_type=merge)
    await server.cluster.clock.advance(1)
    await server.make(spec={"a": "x"})
    path = f"{WIDGETS.replace('/v1/', '/v2/')}/a"
    changed = await server.json("PATCH", path, {"spec": {"a": "y"}}, content_type=merge)
    assert [entry["apiVersion"] for entry in changed["metadata"]["managedFields"]] == ["demo.test/v1", "demo.test/v2"]
    changed = await server.json("PATCH", path, {"spec": {"c": "new"}}, content_type=merge)
    assert changed["spec"] == {"a": "y"}
    assert "managedFields" not in changed["metadata"]


async def test_entries_of_a_version_that_is_gone_stop_applies_until_an_update_drops_them(server: Server) -> None:
    await server.define(typed(a={"type": "string"}))
    merge, schema = "application/merge-patch+json", {"openAPIV3Schema": typed(a={"type": "string"})}

    async def offer(*names: str) -> None:
        versions = [{"name": name, "served": True, "storage": name == "v1", "schema": schema} for name in names]
        await server.ask("PATCH", f"{CRDS}/widgets.demo.test", {"spec": {"versions": versions}}, content_type=merge)
        await server.cluster.clock.advance(1)

    await offer("v1", "v2")
    body = {"apiVersion": "demo.test/v2", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"a": "x"}}
    await server.ask("POST", WIDGETS.replace("/v1/", "/v2/"), body)
    await offer("v1")
    whole = {**body, "apiVersion": "demo.test/v1"}
    sent, query = {"content-type": "application/apply-patch+yaml"}, {"fieldManager": ["m"]}
    request = Request("PATCH", f"{WIDGETS}/a", query, sent, orjson.dumps(whole), USER)
    refused = orjson.loads((await server.cluster._server.pipeline.handle(request)).body or b"null")
    message = "request to convert CR to an invalid group/version: demo.test/v2"
    assert (refused["code"], refused["message"]) == (500, message)
    changed = await server.json("PATCH", f"{WIDGETS}/a", {"spec": {"a": "z"}}, content_type=merge)
    assert "managedFields" not in changed["metadata"]


async def test_answers_in_protobuf_are_refused_in_protobuf(server: Server) -> None:
    await server.define()
    await server.make()
    refused = await server.ask("GET", f"{WIDGETS}/a", accept="application/vnd.kubernetes.protobuf")
    assert (refused.status, refused.headers["Content-Type"]) == (406, "application/vnd.kubernetes.protobuf")
    assert refused.body is not None
    assert refused.body.startswith(b"k8s\x00")
    unknown = await server.json("GET", f"{WIDGETS}/a", accept="text/html")
    assert unknown["message"].startswith("only the following media types are accepted: application/json, ")
    assert "details" not in unknown


async def test_a_scale_of_zero_owns_nothing(server: Server) -> None:
    paths = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
    await server.define(typed(n={"type": "integer"}), subresources={"scale": paths})
    await server.make(spec={"n": 2})
    merge = "application/merge-patch+json"
    for replicas, owners in ((4, ["", "scale"]), (0, [""])):
        await server.ask("PATCH", f"{WIDGETS}/a/scale", {"spec": {"replicas": replicas}}, content_type=merge)
        found = await server.json("GET", f"{WIDGETS}/a")
        assert sorted(entry.get("subresource", "") for entry in found["metadata"]["managedFields"]) == owners


async def test_complaints_about_metadata_begin_there(server: Server) -> None:
    await server.define()
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": 1}}
    message = (await server.json("POST", WIDGETS, body))["message"]
    assert message.endswith("json: cannot unmarshal number into Go struct field ObjectMeta.name of type string")


async def test_metadata_through_status_is_owned_where_it_can_be_changed(server: Server) -> None:
    """A definition's labels may be written with its status, a custom object's may not."""
    await server.define(typed(a={"type": "string"}), subresources={"status": {}})
    await server.make()
    merge, labels = "application/merge-patch+json", {"metadata": {"labels": {"l": "1"}, "finalizers": ["a.b/c"]}}

    async def owned(path: str) -> list[str]:
        obj = await server.json("PATCH", f"{path}/status?fieldManager=m", labels, content_type=merge)
        entries = obj["metadata"].get("managedFields") or ()
        return [name for entry in entries if entry["manager"] == "m" for name in entry["fieldsV1"]["f:metadata"]]

    assert sorted(await owned(f"{CRDS}/widgets.demo.test")) == ["f:finalizers", "f:labels"]
    assert await owned(f"{WIDGETS}/a") == []
