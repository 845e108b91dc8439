"""Definitions make the server serve their kinds, live."""

from __future__ import annotations

from tests.apiserver.custom_resources.widgets import ANYTHING, CRDS, USER, WIDGETS, Server, typed

from setpoint.apiserver.request import Request


async def test_a_definition_is_served_and_withdrawn(server: Server) -> None:
    await server.define()
    assert (await server.make())["metadata"]["generation"] == 1
    groups = await server.json("GET", "/apis")
    assert "demo.test" in [group["name"] for group in groups["groups"]]
    assert [row["name"] for row in (await server.json("GET", "/apis/demo.test/v1"))["resources"]] == ["widgets"]
    document = await server.json("GET", "/openapi/v3/apis/demo.test/v1")
    assert "test.demo.v1.Widget" in document["components"]["schemas"]
    await server.ask("DELETE", f"{CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(2)
    assert (await server.ask("GET", WIDGETS)).status == 404
    assert (await server.ask("GET", f"{CRDS}/widgets.demo.test")).status == 404


async def test_a_finalizer_of_an_object_holds_the_definition(server: Server) -> None:
    await server.define()
    await server.make(metadata={"name": "a", "finalizers": ["demo.test/keep"]})
    await server.ask("DELETE", f"{CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(3)
    definition = await server.json("GET", f"{CRDS}/widgets.demo.test")
    conditions = {one["type"]: one["reason"] for one in definition["status"]["conditions"]}
    assert conditions["Terminating"] == "InstanceDeletionInProgress"
    assert (await server.make("b"))["code"] == 403
    await server.ask("PATCH", f"{WIDGETS}/a", {"metadata": {"finalizers": None}}, content_type="application/merge-patch+json")
    await server.cluster.clock.advance(10)
    assert (await server.ask("GET", f"{CRDS}/widgets.demo.test")).status == 404


async def test_a_taken_kind_is_not_accepted(server: Server) -> None:
    await server.define()
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": ANYTHING}}
    names = {"plural": "gadgets", "kind": "Widget"}
    spec = {"group": "demo.test", "scope": "Namespaced", "names": names, "versions": [version]}
    await server.ask("POST", CRDS, {"metadata": {"name": "gadgets.demo.test"}, "spec": spec})
    await server.cluster.clock.advance(1)
    found = (await server.json("GET", f"{CRDS}/gadgets.demo.test"))["status"]["conditions"]
    assert [(one["type"], one["status"], one["reason"]) for one in found] == [
        ("NamesAccepted", "False", "ListKindConflict"),
        ("Established", "False", "NotAccepted"),
    ]
    await server.ask("DELETE", f"{CRDS}/widgets.demo.test")
    await server.cluster.clock.advance(3)
    assert (await server.ask("GET", "/apis/demo.test/v1/gadgets")).status == 200


async def test_null_default_prune(server: Server) -> None:
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


async def test_numbers(server: Server) -> None:
    await server.define()
    body = b'{"apiVersion":"demo.test/v1","kind":"Widget","metadata":{"name":"n"},"n":1000000,"big":9223372036854775807,"f":1.0}'
    response = await server.cluster._server.pipeline.handle(
        Request("POST", WIDGETS, {}, {"content-type": "application/json"}, body, USER)
    )
    assert b'"n":1000000,"big":9223372036854775807,"f":1' in (response.body or b"")


async def test_wrong_types_are_invalid(server: Server) -> None:
    await server.define(typed(n={"type": "integer", "maximum": 10}, s={"type": "string", "enum": ["x", "y"]}))
    answer = await server.make(spec={"n": "1", "s": "z"})
    assert [cause["message"] for cause in answer["details"]["causes"]] == [
        'Invalid value: "string": spec.n in body must be of type integer: "string"',
        'Unsupported value: "z": supported values: "x", "y"',
    ]
    answer = await server.make(spec={"n": 11})
    assert answer["details"]["causes"][0]["message"] == "Invalid value: 11: spec.n in body should be less than or equal to 10"


async def test_unknown_fields_by_directive(server: Server) -> None:
    await server.define(typed(n={"type": "integer"}))
    body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"n": 1, "x": 1}, "y": 2}
    refused = await server.json("POST", f"{WIDGETS}?fieldValidation=Strict", body)
    assert refused["message"].endswith('strict decoding error: unknown field "spec.x", unknown field "y"')
    warned = await server.ask("POST", f"{WIDGETS}?fieldValidation=Warn", body)
    assert list(warned.warnings) == ['unknown field "spec.x"', 'unknown field "y"']


async def test_old_objects_are_defaulted_when_read_and_ratcheted(server: Server) -> None:
    await server.define(typed(n={"type": "integer"}, m={"type": "integer"}))
    await server.make(spec={"n": 20})
    schema = typed(n={"type": "integer", "maximum": 10}, m={"type": "integer"}, d={"type": "string", "default": "new"})
    definition = await server.json("GET", f"{CRDS}/widgets.demo.test")
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = schema
    await server.ask("PUT", f"{CRDS}/widgets.demo.test", definition)
    await server.cluster.clock.advance(1)
    assert (await server.json("GET", f"{WIDGETS}/a"))["spec"] == {"n": 20, "d": "new"}
    merge = "application/merge-patch+json"
    assert (await server.ask("PATCH", f"{WIDGETS}/a", {"spec": {"m": 1}}, content_type=merge)).status == 200
    assert (await server.ask("PATCH", f"{WIDGETS}/a", {"spec": {"n": 21}}, content_type=merge)).status == 422


async def test_status_apart(server: Server) -> None:
    await server.define(subresources={"status": {}})
    made = await server.make(spec={"n": 1}, status={"ready": True})
    assert "status" not in made
    patch = {"metadata": {"labels": {"q": "1"}}, "spec": {"n": 9}, "status": {"ready": True}}
    changed = await server.json("PATCH", f"{WIDGETS}/a/status", patch, content_type="application/merge-patch+json")
    assert (changed["spec"], changed["status"], "labels" in changed["metadata"]) == ({"n": 1}, {"ready": True}, False)
    assert changed["metadata"]["generation"] == 1


async def test_updates_name_their_version(server: Server) -> None:
    await server.define()
    made = await server.make(spec={"n": 1})
    del made["metadata"]["resourceVersion"]
    assert (await server.ask("PUT", f"{WIDGETS}/a", made)).status == 422


async def test_no_strategic_patches(server: Server) -> None:
    await server.define()
    await server.make()
    media = "application/strategic-merge-patch+json"
    assert (await server.ask("PATCH", f"{WIDGETS}/a", {"spec": {}}, content_type=media)).status == 415


async def test_tables(server: Server) -> None:
    table = "application/json;as=Table;v=v1;g=meta.k8s.io"
    await server.define(additionalPrinterColumns=[{"name": "N", "type": "integer", "jsonPath": ".spec.n"}])
    await server.make(spec={})
    found = await server.json("GET", WIDGETS, accept=table)
    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "N"]
    assert found["rows"][0]["cells"] == ["a", None]


async def test_selectable_fields(server: Server) -> None:
    await server.define(typed(color={"type": "string"}), selectableFields=[{"jsonPath": ".spec.color"}])
    await server.make("red", spec={"color": "red"})
    await server.make("blue", spec={"color": "blue"})
    found = await server.json("GET", f"{WIDGETS}?fieldSelector=spec.color=red")
    assert [item["metadata"]["name"] for item in found["items"]] == ["red"]
    assert (await server.ask("GET", f"{WIDGETS}?fieldSelector=spec.size=1")).status == 400


async def test_scale(server: Server) -> None:
    paths = {"specReplicasPath": ".spec.replicas", "statusReplicasPath": ".status.replicas"}
    await server.define(subresources={"scale": paths})
    await server.make(spec={"replicas": 2})
    scale = await server.json("GET", f"{WIDGETS}/a/scale")
    assert (scale["spec"], scale["status"]) == ({"replicas": 2}, {"replicas": 0})
    patch = {"spec": {"replicas": 5}}
    await server.ask("PATCH", f"{WIDGETS}/a/scale", patch, content_type="application/merge-patch+json")
    assert (await server.json("GET", f"{WIDGETS}/a"))["spec"]["replicas"] == 5


async def test_apply_owns_list_items_by_key(server: Server) -> None:
    ports = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port"],
        "items": {"type": "object", "required": ["port"], "properties": {"port": {"type": "integer"}, "n": {"type": "string"}}},
    }
    await server.define(typed(ports=ports))
    media = "application/apply-patch+yaml"
    for manager, port in (("one", 80), ("two", 443)):
        body = {"apiVersion": "demo.test/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"ports": [{"port": port}]}}
        await server.ask("PATCH", f"{WIDGETS}/a?fieldManager={manager}", body, content_type=media)
    assert [each["port"] for each in (await server.json("GET", f"{WIDGETS}/a"))["spec"]["ports"]] == [80, 443]


async def test_definitions_are_served_after_a_restart(server: Server) -> None:
    await server.define()
    await server.make(spec={"n": 1})
    await server.cluster.restart_api_server()
    assert (await server.json("GET", f"{WIDGETS}/a"))["spec"] == {"n": 1}
