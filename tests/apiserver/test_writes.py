"""What clients rely on about writes; the ids name behaviours that emulators of the API have got wrong."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

CONFIGMAPS = "/api/v1/namespaces/ns1/configmaps"
SERVICES = "/api/v1/namespaces/ns1/services"
PODS = "/api/v1/namespaces/ns1/pods"
DEPLOYMENTS = "/apis/apps/v1/namespaces/ns1/deployments"
ROLES = "/apis/rbac.authorization.k8s.io/v1/namespaces/ns1/roles"

JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


def config_map(data: Any = None, **metadata: Any) -> dict[str, Any]:
    obj: dict[str, Any] = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m", **metadata}}
    return obj if data is None else {**obj, "data": data}


def deployment(**spec: Any) -> dict[str, Any]:
    template = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template, **spec}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


class Writer:
    """Patches, in fewer words."""

    def __init__(self, api: Any) -> None:
        self.api = api

    async def patch(self, path: str, body: Any, media: str, code: int = 0) -> Any:
        return await self.api(f"PATCH {path}", body, code=code, content_type=media)

    async def apply(self, path: str, body: Any, manager: str = "a", code: int = 0, *, force: bool = False) -> Any:
        return await self.patch(f"{path}?fieldManager={manager}&force={'true' if force else 'false'}", body, APPLY, code)


@pytest.fixture
def write(api: Any) -> Writer:
    return Writer(api)


def entries(obj: dict[str, Any]) -> dict[tuple[str, str, str], Any]:
    """Entries by manager, operation and subresource."""
    found = obj["metadata"].get("managedFields", ())
    return {(entry["manager"], entry["operation"], entry.get("subresource", "")): entry["fieldsV1"] for entry in found}


def causes(answer: dict[str, Any]) -> list[tuple[str, str]]:
    return [(cause["reason"], cause["field"]) for cause in answer["details"]["causes"]]


# --- versions and writes that change nothing ---


async def test_a_write_that_changes_nothing_is_no_write(api: Any, write: Writer) -> None:
    await write.apply(f"{DEPLOYMENTS}/d", deployment(replicas=2))
    made = await api(f"GET {DEPLOYMENTS}/d")
    await api.clock.advance(5)
    assert await api(f"PUT {DEPLOYMENTS}/d", made) == made
    assert await api.merge(f"{DEPLOYMENTS}/d", {}) == made
    assert await api.merge(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 2}}) == made
    assert await write.patch(f"{DEPLOYMENTS}/d", {"spec": {"replicas": 2}}, STRATEGIC) == made
    assert await write.patch(f"{DEPLOYMENTS}/d", [{"op": "add", "path": "/spec/replicas", "value": 2}], JSON_PATCH) == made
    assert await write.apply(f"{DEPLOYMENTS}/d", deployment(replicas=2)) == made
    assert await api.merge(f"{DEPLOYMENTS}/d/status", {"status": {}}) == made


async def test_a_stale_version_is_a_conflict_for_every_kind_of_write(api: Any, write: Writer) -> None:
    old = await api(f"POST {CONFIGMAPS}", config_map())
    await api.merge(f"{CONFIGMAPS}/m", {"data": {"k": "v"}})
    stale = {"metadata": {"resourceVersion": old["metadata"]["resourceVersion"]}}
    assert (await api(f"PUT {CONFIGMAPS}/m", old, code=409))["reason"] == "Conflict"
    await api.merge(f"{CONFIGMAPS}/m", stale, code=409)
    await write.patch(f"{CONFIGMAPS}/m", stale, STRATEGIC, code=409)
    await write.apply(f"{CONFIGMAPS}/m", config_map({"k": "v"}, **stale["metadata"]), code=409)


async def test_generation_counts_what_a_controller_must_act_on(api: Any) -> None:
    async def generation(patch: Any, path: str = f"{DEPLOYMENTS}/d") -> int:
        found: int = (await api.merge(path, patch))["metadata"]["generation"]
        return found

    made = await api(f"POST {DEPLOYMENTS}", deployment() | {"metadata": {"name": "d", "generation": 99}})
    assert made["metadata"]["generation"] == 1
    assert await generation({"metadata": {"labels": {"l": "1"}}}) == 1
    assert await generation({"spec": {"replicas": 3}, "metadata": {"generation": 99}}) == 2
    assert await generation({"status": {"replicas": 3}}, f"{DEPLOYMENTS}/d/status") == 2
    assert await generation({"metadata": {"annotations": {"a": "1"}}}) == 3
    assert "generation" not in (await api(f"POST {CONFIGMAPS}", config_map({"k": "v"})))["metadata"]
    drivers = "/apis/storage.k8s.io/v1/csidrivers"  # begin to count with the first change
    assert "generation" not in (await api(f"POST {drivers}", {"metadata": {"name": "d"}, "spec": {}}))["metadata"]
    assert await generation({"spec": {"podInfoOnMount": True}}, f"{drivers}/d") == 1
    assert (await api(f"POST {drivers}", {"metadata": {"name": "e", "generation": 7}, "spec": {}}))["metadata"]["generation"] == 7
    assert "generation" not in (await api.merge(f"{CONFIGMAPS}/m", {"data": {"k": "w"}}))["metadata"]


async def test_status_is_written_at_its_own_endpoint_only(api: Any) -> None:
    made = await api(f"POST {DEPLOYMENTS}", deployment() | {"status": {"replicas": 7}})
    assert made["status"] == {}
    kept = await api.merge(f"{DEPLOYMENTS}/d", {"status": {"replicas": 7}})
    assert kept == made
    both = {"metadata": {"labels": {"q": "1"}}, "spec": {"replicas": 9}, "status": {"replicas": 7}}
    changed = await api.merge(f"{DEPLOYMENTS}/d/status", both)
    assert changed["status"] == {"replicas": 7}
    assert changed["spec"] == made["spec"]
    assert "labels" not in changed["metadata"]
    assert entries(changed)["test", "Update", "status"] == {"f:status": {"f:replicas": {}}}


async def test_a_taken_name_beside_a_generate_name_may_be_tried_again(api: Any) -> None:
    body = config_map(generateName="m-")
    await api(f"POST {CONFIGMAPS}", body)
    response = await api.respond(f"POST {CONFIGMAPS}", body)
    answer = orjson.loads(response.body)
    assert (response.status, answer["reason"], response.headers["Retry-After"]) == (409, "AlreadyExists", "1")
    assert answer["details"] == {"name": "m", "kind": "configmaps", "retryAfterSeconds": 1}
    expected = 'configmaps "m" already exists, the server was not able to generate a unique name for the object'
    assert answer["message"] == expected


# --- patches ---


async def test_each_patch_has_its_type(api: Any, write: Writer) -> None:
    await api(f"POST {CONFIGMAPS}", config_map(finalizers=["x.io/a", "x.io/b"]))
    for media in ("application/json", "application/apply-patch+cbor", "Application/merge-patch+json", "text/plain", ""):
        assert (await write.patch(f"{CONFIGMAPS}/m", {}, media, code=415))["reason"] == "UnsupportedMediaType"
    removal = {"metadata": {"$deleteFromPrimitiveList/finalizers": ["x.io/a"]}}
    assert (await write.patch(f"{CONFIGMAPS}/m", removal, STRATEGIC))["metadata"]["finalizers"] == ["x.io/b"]


async def test_retain_keys_drops_the_other_member_of_a_union(api: Any, write: Writer) -> None:
    volume = {"name": "v", "emptyDir": {}}
    made = deployment()
    made["spec"]["template"]["spec"]["volumes"] = [volume]
    await api(f"POST {DEPLOYMENTS}", made)
    recreate: dict[str, Any] = {"type": "Recreate"}
    await write.patch(f"{DEPLOYMENTS}/d", {"spec": {"strategy": recreate}}, STRATEGIC, code=422)
    recreate["$retainKeys"] = ["type"]
    changed = await write.patch(f"{DEPLOYMENTS}/d", {"spec": {"strategy": recreate}}, STRATEGIC)
    assert changed["spec"]["strategy"] == {"type": "Recreate"}
    other = {"name": "v", "$retainKeys": ["name", "configMap"], "configMap": {"name": "m"}}
    changed = await write.patch(f"{DEPLOYMENTS}/d", {"spec": {"template": {"spec": {"volumes": [other]}}}}, STRATEGIC)
    (kept,) = changed["spec"]["template"]["spec"]["volumes"]
    assert kept == {"name": "v", "configMap": {"name": "m", "defaultMode": 420}}


async def test_a_json_patch_applies_as_a_whole_or_not_at_all(api: Any, write: Writer) -> None:
    made = await api(f"POST {CONFIGMAPS}", config_map({"k": "v"}))

    async def patch(operations: Any, code: int, query: str = "") -> Any:
        return await write.patch(f"{CONFIGMAPS}/m{query}", operations, JSON_PATCH, code=code)

    replace = {"op": "replace", "path": "/data/k", "value": "x"}
    assert (await patch([replace, {"op": "test", "path": "/data/k", "value": "v"}], 422))["reason"] == "Invalid"
    assert await api(f"GET {CONFIGMAPS}/m") == made
    await patch([{"op": "remove", "path": "/metadata/labels/none"}], 422)
    await patch({}, 400)
    version = {"op": "test", "path": "/metadata/resourceVersion"}
    await patch([version | {"value": "0"}, replace], 422)
    await patch([version | {"value": made["metadata"]["resourceVersion"]}, replace], 200)
    unknown = [{"op": "add", "path": "/nosuch", "value": 1}]
    assert "nosuch" not in await patch(unknown, 200)
    await patch(unknown, 422, "?fieldValidation=Strict")
    await patch([version] * 10_001, 413)


async def test_a_patched_document_is_quoted_as_go_would_write_it(api: Any) -> None:
    await api(f"POST {CONFIGMAPS}", config_map({"k": "v"}, annotations={"b": "1", "a": "<2>"}))
    answer = await api.merge(f"{CONFIGMAPS}/m", {"data": {"k": 1}}, code=422)
    quoted = orjson.loads(answer["message"].partition("Invalid value: ")[2].partition(": json: cannot")[0])
    document = orjson.loads(quoted)
    assert list(document) == ["apiVersion", "data", "kind", "metadata"]
    names = ["name", "namespace", "uid", "resourceVersion", "creationTimestamp", "annotations", "managedFields"]
    assert list(document["metadata"]) == names
    assert "\\u003c2\\u003e" in quoted
    assert answer["message"].endswith("json: cannot unmarshal number into Go struct field ConfigMap.data of type string")
    touched = await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"annotations": [1]}}, code=422)
    quoted = orjson.loads(touched["message"].partition("Invalid value: ")[2].partition(": json: cannot")[0])
    assert list(orjson.loads(quoted)["metadata"]) == sorted(names)


# --- apply ---


async def test_apply_creates_and_refuses(api: Any, write: Writer) -> None:
    path = f"{CONFIGMAPS}/m"
    made = await write.apply(path, config_map({"k": "v"}), code=201)
    assert await write.apply(path, config_map({"k": "v"}), code=200) == made
    [listed] = (await api(f"GET {CONFIGMAPS}"))["items"]
    assert listed == {name: value for name, value in made.items() if name not in ("kind", "apiVersion")}
    assert causes(await write.patch(path, config_map(), APPLY, code=422)) == [("FieldValueRequired", "fieldManager")]
    await write.apply(f"{CONFIGMAPS}/n", config_map(uid="u") | {"metadata": {"name": "n", "uid": "u"}}, code=409)
    refused = await write.apply(path, config_map(managedFields=[]), code=400)
    assert refused["message"] == "metadata.managedFields must be nil"
    refused = await write.apply(path, config_map() | {"apiVersion": "v2"}, code=400)
    assert refused["message"] == "invalid object type: /v2, Kind=ConfigMap"
    refused = await write.apply(f"{DEPLOYMENTS}/d", deployment(nosuch=1), code=500)
    assert refused["message"].endswith(".spec.nosuch: field not declared in schema")
    await api(f"GET {DEPLOYMENTS}/d", code=404)
    assert "managedFields" not in (await api.merge(path, {"metadata": {"managedFields": [{}]}}))["metadata"]


async def test_who_conflicts_with_whom(api: Any, write: Writer) -> None:
    path = f"{CONFIGMAPS}/m"
    await api(f"POST {CONFIGMAPS}", config_map({"o": "o"}))
    await api.merge(f"{path}?fieldManager=tool", {"data": {"k": "v1"}})
    refused = await write.apply(path, config_map({"k": "v2"}), "tool", code=409)
    assert causes(refused) == [("FieldManagerConflict", ".data.k")]
    assert refused["message"] == 'Apply failed with 1 conflict: conflict with "tool" using v1: .data.k'
    shared = entries(await write.apply(path, config_map({"k": "v1"}), "tool"))
    assert shared["tool", "Apply", ""] == shared["tool", "Update", ""] == {"f:data": {"f:k": {}}}
    forced = entries(await write.apply(path, config_map({"k": "v2"}), "tool", force=True))
    assert ("tool", "Update", "") not in forced

    await write.apply(f"{DEPLOYMENTS}/d", deployment(replicas=1))
    await api.merge(f"{DEPLOYMENTS}/d/scale?fieldManager=hpa", {"spec": {"replicas": 2}})
    assert entries(await api(f"GET {DEPLOYMENTS}/d"))["hpa", "Update", "scale"] == {"f:spec": {"f:replicas": {}}}
    refused = await write.apply(f"{DEPLOYMENTS}/d", deployment(replicas=1), code=409)
    assert causes(refused) == [("FieldManagerConflict", ".spec.replicas")]
    assert 'conflict with "hpa" with subresource "scale" using apps/v1' in refused["message"]


def with_ports(*ports: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    obj = deployment()
    obj["spec"]["template"]["spec"]["containers"][0]["ports"] = list(ports)
    obj["metadata"] |= metadata
    return obj


async def test_items_are_removed_and_shared_by_their_keys(api: Any, write: Writer) -> None:
    path = f"{DEPLOYMENTS}/d"

    def ports(obj: dict[str, Any]) -> list[int]:
        return [port["containerPort"] for port in obj["spec"]["template"]["spec"]["containers"][0].get("ports", ())]

    await write.apply(path, with_ports({"containerPort": 80}), "a")
    assert ports(await write.apply(path, with_ports({"containerPort": 443}), "b")) == [80, 443]
    udp = await write.apply(path, with_ports({"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}), "a")
    assert sorted(ports(udp)) == [80, 80, 443]
    assert ports(await write.apply(path, with_ports(), "a")) == [443]

    await write.apply(path, with_ports({"containerPort": 443}, labels={"t": "1"}), "b")
    await write.apply(path, with_ports(labels={"t": "1"}), "a")
    left = await write.apply(path, with_ports(), "a")
    assert left["metadata"]["labels"] == {"t": "1"}
    assert entries(left)["b", "Apply", ""]["f:metadata"] == {"f:labels": {"f:t": {}}}

    twice = with_ports({"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"})
    refused = await write.apply(path, twice, "a", code=500)
    assert 'duplicate entries for key [containerPort=80,protocol="TCP"]' in refused["message"]
    assert ports(await api(f"POST {DEPLOYMENTS}", twice | {"metadata": {"name": "twice"}}, code=201)) == [80, 80]


async def test_an_empty_list_that_is_always_written_is_owned(api: Any) -> None:
    role = {"metadata": {"name": "r"}, "rules": []}
    made = await api(f"POST {ROLES}?fieldManager=a", role)
    assert made["rules"] is None
    assert entries(made) == {("a", "Update", ""): {"f:rules": {}}}
    assert "managedFields" not in (await api(f"POST {ROLES}", {"metadata": {"name": "s"}}))["metadata"]
    assert await api(f"PUT {ROLES}/r?fieldManager=a", made | {"rules": []}) == made
    taken = await api.merge(f"{ROLES}/r?fieldManager=b", {"rules": []})
    assert entries(taken) == {("b", "Update", ""): {"f:rules": {}}}


def sent(manager: str, version: str) -> dict[str, Any]:
    """An entry of managedFields as clients send them."""
    entry = {"manager": manager, "operation": "Update", "apiVersion": version, "fieldsType": "FieldsV1"}
    return entry | {"fieldsV1": {"f:spec": {"f:replicas": {}}}}


async def test_entries_of_versions_that_never_were_are_dropped(api: Any) -> None:
    await api(f"POST {DEPLOYMENTS}?fieldManager=a", deployment(replicas=1))
    entries_sent = [sent("former", "apps/v1beta1"), sent("never", "apps/v7"), sent("elsewhere", "v1")]
    kept = await api.merge(f"{DEPLOYMENTS}/d?fieldManager=b", {"metadata": {"managedFields": entries_sent}})
    assert [entry["manager"] for entry in kept["metadata"]["managedFields"]] == ["former"]


@pytest.mark.parametrize(
    ("entry", "field", "complaints"),
    [
        ({"manager": "a" * 129}, "manager", ["Too long: may not be more than 128 bytes"]),
        ({"subresource": "a" * 257}, "subresource", ["Too long: may not be more than 256 bytes"]),
        (
            {"manager": "é\ab\a"},
            "manager",
            [f'Invalid value: "é\\ab\\a": invalid character U+0007 (at position {place})' for place in (2, 4)],
        ),
    ],
    ids=["manager", "subresource", "letters"],
)
async def test_names_in_entries_that_are_sent_are_checked(
    api: Any, entry: dict[str, str], field: str, complaints: list[str]
) -> None:
    await api(f"POST {CONFIGMAPS}", config_map({"k": "v"}))
    sends = sent("m", "v1") | entry | {"fieldsV1": {"f:data": {"f:k": {}}}}
    refused = await api.merge(f"{CONFIGMAPS}/m", {"metadata": {"managedFields": [sends]}}, code=422)
    told = [cause for cause in refused["details"]["causes"] if cause["field"] == f"metadata.managedFields[0].{field}"]
    assert list(dict.fromkeys(cause["message"] for cause in told)) == complaints


async def test_every_letter_of_a_manager_that_cannot_be_printed_is_told(api: Any) -> None:
    refused = await api(f"POST {CONFIGMAPS}?fieldManager=%07%C3%A9%07", config_map(), code=422)
    assert [cause["message"][-15:] for cause in refused["details"]["causes"]] == ["(at position 0)", "(at position 3)"]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({"strategy": {"rollingUpdate": {"maxSurge": True}}}, "json: cannot unmarshal bool into Go value of type int32"),
        ({"strategy": {"rollingUpdate": {"maxSurge": 1.5}}}, "json: cannot unmarshal number 1.5 into Go value of type int32"),
        ({"strategy": {"rollingUpdate": {"maxSurge": 2**31}}}, f"number {2**31} into Go value of type int32"),
        ({"template": {"metadata": {"creationTimestamp": 5}}}, "json: cannot unmarshal number into Go value of type string"),
    ],
    ids=["bool", "float", "large", "time"],
)
async def test_types_that_read_themselves_do_not_know_where_they_stand(
    api: Any, write: Writer, spec: dict[str, Any], complaint: str
) -> None:
    await api(f"POST {DEPLOYMENTS}", deployment())
    refused = await write.patch(f"{DEPLOYMENTS}/d", {"spec": spec}, STRATEGIC, code=422)
    assert refused["message"].endswith(complaint)
    whole = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}
    refused = await write.apply(f"{DEPLOYMENTS}/d", whole, code=500, force=True)
    assert refused["message"].endswith(complaint)


async def test_what_is_made_of_maps_is_converted_as_go_converts_it(api: Any, write: Writer) -> None:
    path = f"{DEPLOYMENTS}/d"
    await api(f"POST {DEPLOYMENTS}", deployment())
    cut = await write.patch(path, {"spec": {"replicas": 2**32 + 3}}, STRATEGIC)
    assert cut["spec"]["replicas"] == 3
    applied = deployment(replicas=2**32 + 4)
    applied["spec"]["template"]["spec"]["containers"][0]["resources"] = {"limits": {"cpu": 1.5}}
    made = await write.apply(path, applied, force=True)
    assert made["spec"]["replicas"] == 4
    assert made["spec"]["template"]["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1500m"}}
    below = await write.apply(path, deployment(replicas=2**31), code=422)
    assert causes(below) == [("FieldValueInvalid", "spec.replicas")]


async def test_a_directive_that_is_no_text_is_shown_as_go_does(api: Any, write: Writer) -> None:
    await api(f"POST {CONFIGMAPS}", config_map())
    refused = await write.patch(f"{CONFIGMAPS}/m", {"metadata": {"$patch": 5}}, STRATEGIC, code=500)
    assert refused["message"] == "unknown patch type: %!s(int64=5) in map: map[$patch:5]"


# --- validation of fields ---


async def test_what_becomes_of_unknown_fields(api: Any) -> None:
    body = orjson.dumps(deployment(replicaz=2)).replace(b'"replicaz"', b'"paused":false,"paused":true,"replicaz"')
    for query, code, warned in (("", 201, 2), ("&fieldValidation=Ignore", 201, 0), ("&fieldValidation=Strict", 400, 0)):
        response = await api.respond(f"POST {DEPLOYMENTS}?dryRun=All{query}", body)
        assert (response.status, len(response.warnings)) == (code, warned)
        answer = orjson.loads(response.body)
        if code == 400:
            assert answer["message"].endswith('duplicate field "spec.paused", unknown field "spec.replicaz"')
        else:
            assert answer["spec"]["paused"] is True
            assert "replicaz" not in answer["spec"]


async def test_numbers_of_built_in_kinds(api: Any) -> None:
    body = orjson.dumps(deployment()).replace(b'"selector"', b'"replicas":1.0,"selector"')
    refused = await api(f"POST {DEPLOYMENTS}", body, code=400)
    assert refused["message"].endswith(
        "cannot unmarshal number 1.0 into Go struct field DeploymentSpec.spec.replicas of type int32"
    )
    service = {"metadata": {"name": "s"}, "spec": {"clusterIP": "None", "ports": [{"port": 1, "targetPort": True}]}}
    await api(f"POST {SERVICES}", service, code=400)


@pytest.mark.parametrize("kind", ["ConfigMapList", "DeleteOptions", "Status", "List"])
async def test_a_kind_that_is_registered_and_no_resource_cannot_be_converted(api: Any, kind: str) -> None:
    refused = await api("POST /api/v1/namespaces/d/configmaps", {"apiVersion": "v1", "kind": kind}, code=400)
    assert refused["message"].endswith(f"converting (v1.{kind}) to (core.ConfigMap): unknown conversion")


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"preconditions": {"uid": 5}}, 400, "cannot unmarshal number into Go struct field Preconditions.preconditions.uid"),
        ({"gracePeriodSeconds": 1.5}, 400, "cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds"),
        ({"kind": "Foo", "apiVersion": "v1"}, 400, 'no kind "Foo" is registered for version "v1"'),
        ({"propagationPolicy": "Foo"}, 422, 'supported values: "Foreground", "Background", "Orphan", "nil"'),
        ({"propagationPolicy": "Orphan", "orphanDependents": True}, 422, "cannot be both set"),
        ({"dryRun": ["Some"]}, 422, 'Unsupported value: ["Some"]: supported values: "All"'),
        ({"kind": "DeleteOptions", "apiVersion": "any/v1", "odd": 1, "dryRun": ["All"]}, 200, ""),
        ({"gracePeriodSeconds": -1, "dryRun": ["All"]}, 200, ""),
    ],
)
async def test_options_of_a_delete(api: Any, options: Any, code: int, message: str) -> None:
    await api(f"POST {CONFIGMAPS}", config_map())
    assert message in (await api(f"DELETE {CONFIGMAPS}/m", options, code=code)).get("message", "")
    await api(f"GET {CONFIGMAPS}/m")


async def test_metadata_of_a_limit_range_is_compared_once(api: Any) -> None:
    path = "/api/v1/namespaces/ns1/limitranges"
    await api(f"POST {path}", {"metadata": {"name": "l"}})
    changed = {"metadata": {"name": "l", "labels": {"a b": ""}, "deletionTimestamp": "2020-01-01T00:00:00Z"}}
    refused = await api(f"PUT {path}/l", changed, code=422)
    fields = [cause["field"] for cause in refused["details"]["causes"]]
    assert fields == ["metadata.labels", "metadata.deletionTimestamp", "metadata.labels", "metadata.labels"]


async def test_numbers_beyond_a_double_in_patches(api: Any, write: Writer) -> None:
    await api(f"POST {CONFIGMAPS}", config_map())
    for media, body in ((STRATEGIC, b'{"a":1e999}'), (JSON_PATCH, b'[{"op":"test","path":"","value":1e999}]')):
        refused = await write.patch(f"{CONFIGMAPS}/m", body, media, code=400)
        assert refused["message"].endswith("json: cannot unmarshal number 1e999 into Go value of type float64")


async def test_a_scale_is_patched_as_any_object_is(api: Any, write: Writer) -> None:
    await api(f"POST {DEPLOYMENTS}", deployment(replicas=2))
    scale = f"{DEPLOYMENTS}/d/scale"
    refused = await api.merge(scale, {"spec": {"replicas": "x"}}, code=422)
    assert causes(refused) == [("FieldValueInvalid", "patch")]
    body = orjson.dumps({"spec": {"replicas": 4, "odd": 1}})
    response = await api.respond(f"PATCH {scale}", body, content_type="application/merge-patch+json")
    assert (response.status, list(response.warnings)) == (200, ['unknown field "spec.odd"'])
    await api.merge(f"{scale}?fieldValidation=Strict", {"spec": {"replicas": 4, "odd": 1}}, code=422)
    changed = await write.patch(scale, [{"op": "replace", "path": "/spec/replicas", "value": 6}], JSON_PATCH)
    assert changed["spec"] == {"replicas": 6}
    assert (await api(f"GET {DEPLOYMENTS}/d"))["spec"]["replicas"] == 6
    wrong = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "d"}, "spec": {"replicas": "x"}}
    refused = await write.apply(scale, wrong, code=500)
    assert refused["message"].startswith("failed to create typed patch object (/d; autoscaling/v1, Kind=Scale): .spec.replicas: ")


async def test_what_another_owns_in_another_version_stays_when_a_manager_leaves_it_out(write: Writer) -> None:
    def scaler(version: str, **spec: Any) -> dict[str, Any]:
        return {
            "apiVersion": f"autoscaling/{version}",
            "kind": "HorizontalPodAutoscaler",
            "metadata": {"name": "h"},
            "spec": spec,
        }

    def path(version: str) -> str:
        return f"/apis/autoscaling/{version}/namespaces/default/horizontalpodautoscalers/h"

    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    await write.apply(path("v2"), scaler("v2", scaleTargetRef=target, maxReplicas=5), "a")
    await write.apply(path("v1"), scaler("v1", scaleTargetRef=target, maxReplicas=5), "b")
    left = await write.apply(path("v2"), scaler("v2", minReplicas=2), "a")
    assert left["spec"]["scaleTargetRef"] == target
    assert (left["spec"]["minReplicas"], left["spec"]["maxReplicas"]) == (2, 5)
