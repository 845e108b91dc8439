from __future__ import annotations

from typing import Any

import orjson
import pytest
from msgspec import structs

from setpoint.api.machinery.schema.node import Node
from setpoint.api.machinery.status import StatusError
from setpoint.apiserver.discovery import AGGREGATED, Discovery
from setpoint.apiserver.request import Request
from setpoint.registry.resource import CustomKind
from setpoint.registry.table import GROUPS, RESOURCES


@pytest.fixture
def discovery() -> Discovery:
    return Discovery(lambda: GROUPS, lambda: RESOURCES, lambda: "127.0.0.1:6443")


async def ask(discovery: Discovery, path: str, accept: str = "", **headers: str) -> Any:
    return await discovery.handle(Request("GET", path, headers={"accept": accept, **headers}))


async def test_versions_of_the_core_group(discovery: Discovery) -> None:
    document = orjson.loads((await ask(discovery, "/api")).body)
    assert document["versions"] == ["v1"]
    assert document["serverAddressByClientCIDRs"] == [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:6443"}]


async def test_resources_stand_with_their_subresources(discovery: Discovery) -> None:
    document = orjson.loads((await ask(discovery, "/apis/apps/v1")).body)
    names = [row["name"] for row in document["resources"]]
    assert names[names.index("deployments") :][:3] == ["deployments", "deployments/scale", "deployments/status"]
    scale = next(row for row in document["resources"] if row["name"] == "deployments/scale")
    assert (scale["group"], scale["version"], scale["kind"]) == ("autoscaling", "v1", "Scale")


async def test_the_preferred_version_comes_first(discovery: Discovery) -> None:
    document = orjson.loads((await ask(discovery, "/apis/autoscaling")).body)
    assert document["preferredVersion"]["version"] == "v2"
    assert [version["version"] for version in document["versions"]] == ["v2", "v1"]


async def test_the_aggregated_form_is_chosen_wherever_it_stands_in_accept_and_has_an_etag(discovery: Discovery) -> None:
    response = await ask(discovery, "/apis", f"application/json, {AGGREGATED}")
    assert response.headers["Content-Type"] == AGGREGATED
    again = await ask(discovery, "/apis", AGGREGATED, **{"if-none-match": response.headers["ETag"]})
    assert (again.status, again.body) == (304, b"")


@pytest.mark.parametrize("accept", ["", "text/html", "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"])
async def test_what_is_not_there_is_a_plain_404(discovery: Discovery, accept: str) -> None:
    response = await ask(discovery, "/apis/none.example.com", accept)
    assert (response.status, response.body) == (404, b"404 page not found\n")


@pytest.mark.parametrize("accept", ["text/html", "application/json;as=Table;v=v1;g=meta.k8s.io"])
async def test_forms_that_discovery_does_not_have_are_406(discovery: Discovery, accept: str) -> None:
    with pytest.raises(StatusError) as refusal:
        await ask(discovery, "/apis/apps", accept)
    assert refusal.value.code == 406


@pytest.mark.parametrize("path", ["/apis/apps/v9", "/api/v2"])
async def test_unknown_versions_of_known_groups_are_a_status(discovery: Discovery, path: str) -> None:
    with pytest.raises(StatusError) as refusal:
        await ask(discovery, path)
    assert (refusal.value.code, refusal.value.reason) == (404, "NotFound")


@pytest.mark.parametrize(
    ("method", "path", "code"), [("POST", "/api", 405), ("PUT", "/apis/apps/v1", 405), ("HEAD", "/api/v1", 405)]
)
async def test_other_methods_are_refused(discovery: Discovery, method: str, path: str, code: int) -> None:
    with pytest.raises(StatusError) as refusal:
        await discovery.handle(Request(method, path))
    assert refusal.value.code == code


@pytest.mark.parametrize(("method", "path"), [("POST", "/apis"), ("DELETE", "/apis/apps")])
async def test_groups_answer_to_every_method(discovery: Discovery, method: str, path: str) -> None:
    assert (await discovery.handle(Request(method, path))).status == 200


async def test_yaml_repeats_rather_than_refers(discovery: Discovery) -> None:
    response = await ask(discovery, "/apis/apps", "application/yaml")
    assert b"&" not in response.body
    assert b"preferredVersion:\n  groupVersion: apps/v1" in response.body


async def test_the_core_list_has_no_version_of_its_own(discovery: Discovery) -> None:
    document = orjson.loads((await ask(discovery, "/api/v1")).body)
    assert "apiVersion" not in document


async def test_custom_kinds_are_listed_as_their_own_server_does() -> None:
    row = next(row for row in RESOURCES if row.plural == "deployments")
    node = Node("object")
    kind = CustomKind(lambda _: node, {}, node, lambda _: [], lambda obj, _: obj, lambda *_: None)
    custom = structs.replace(row, group="demo.test", custom=kind)
    discovery = Discovery(lambda: [("demo.test", ("v1",))], lambda: [custom], lambda: "127.0.0.1:6443")
    document = orjson.loads((await ask(discovery, "/apis/demo.test/v1")).body)
    assert [entry["name"] for entry in document["resources"]] == ["deployments", "deployments/status", "deployments/scale"]
    verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"]
    assert document["resources"][0]["verbs"] == verbs
    (entry,) = orjson.loads((await ask(discovery, "/apis", AGGREGATED)).body)["items"][0]["versions"][0]["resources"]
    kinds = [entry["responseKind"], *(sub["responseKind"] for sub in entry["subresources"])]
    own = {"group": "demo.test", "version": "v1", "kind": "Deployment"}
    assert kinds == [own, own, {"group": "autoscaling", "version": "v1", "kind": "Scale"}]
    assert (await ask(discovery, "/apis/demo.test/v2")).body == b"404 page not found\n"
    with pytest.raises(StatusError):
        await ask(Discovery(lambda: GROUPS, lambda: RESOURCES, lambda: ""), "/apis/apps/v2")


async def test_an_aggregated_answer_may_be_kept_and_asked_for_again(discovery: Discovery) -> None:
    first = await ask(discovery, "/apis", AGGREGATED)
    assert (first.headers["Cache-Control"], first.headers["Vary"]) == ("public", "Accept")
    again = await ask(discovery, "/apis", AGGREGATED, **{"if-none-match": first.headers["ETag"]})
    assert (again.status, again.body, again.headers["ETag"]) == (304, b"", first.headers["ETag"])
