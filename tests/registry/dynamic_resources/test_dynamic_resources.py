"""Devices and claims: rules that the recordings do not reach."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from tests.registry.builders import complaints, context, created

from setpoint.api.machinery.status import StatusError
from setpoint.registry.admission.device_admin import DeviceAdmin
from setpoint.registry.admission.request import AdmissionRequest
from setpoint.registry.dynamic_resources import words
from setpoint.registry.dynamic_resources.binding_conditions import validate_binding_conditions
from setpoint.registry.dynamic_resources.capacity import validate_policy
from setpoint.registry.dynamic_resources.claim import ResourceClaimStrategy, resource_claim_status
from setpoint.registry.dynamic_resources.device import validate_counters, validate_device
from setpoint.registry.dynamic_resources.device_class import DeviceClassStrategy
from setpoint.registry.dynamic_resources.device_status import validate_devices
from setpoint.registry.dynamic_resources.resource_slice import ResourceSliceStrategy
from setpoint.registry.dynamic_resources.selectors import validate_expression
from setpoint.registry.table import resource as table

Json = dict[str, Any]
CLAIMS = next(row for row in table.RESOURCES if row.kind == "ResourceClaim")


def claim(*requests: Json, **status: Any) -> Json:
    return {"metadata": {"name": "c"}, "spec": {"devices": {"requests": list(requests)}}, "status": status}


def test_tolerations_and_counts_are_defaulted_in_alternatives_too() -> None:
    wanted = {"name": "x", "deviceClassName": "c", "tolerations": [{"key": "k", "value": "v"}]}
    obj = created(ResourceClaimStrategy(), claim({"name": "r", "firstAvailable": [wanted]}))
    [alternative] = obj["spec"]["devices"]["requests"][0]["firstAvailable"]
    assert (alternative["count"], alternative["allocationMode"], alternative["tolerations"][0]["operator"]) == (
        1,
        "ExactCount",
        "Equal",
    )


def test_an_allocation_is_for_life() -> None:
    request = {"name": "r", "exactly": {"deviceClassName": "c"}}
    result = {"request": "r", "driver": "d.example", "pool": "p", "device": "v"}
    one, other = ({"devices": {"results": [{**result, "device": device}]}} for device in ("v", "w"))
    assert complaints(resource_claim_status(), claim(request, allocation=one), claim(request)) == []
    assert complaints(resource_claim_status(), claim(request, allocation=other), claim(request, allocation=one))


def test_a_claim_that_goes_takes_no_new_consumers() -> None:
    going = claim(reservedFor=[{"resource": "pods", "name": "p", "uid": "u"}], allocation={})
    going["metadata"]["deletionTimestamp"] = "2024-01-01T00:00:00Z"
    assert complaints(resource_claim_status(), going, claim(allocation={}))


@pytest.mark.parametrize(("name", "wrong"), [("a", 0), ("d.example/a", 0), ("/a", 1), ("d.example/", 1), ("a/b/c", 1), ("1a", 1)])
def test_names_of_attributes(name: str, wrong: int) -> None:
    assert len(words.qualified_name("n", name)) == wrong


@pytest.mark.parametrize(
    ("device", "per_device", "wrong"),
    [
        ({"nodeName": "n"}, True, 0),
        ({"nodeName": "n"}, False, 1),
        ({}, True, 1),
        ({"nodeName": "n", "allNodes": True}, True, 1),
        ({"capacity": {"a": {"value": "1", "requestPolicy": {}}}}, False, 1),
        ({"attributes": {"a": {}}}, False, 1),
        ({"taints": [{"key": "k", "effect": "Odd"}]}, False, 1),
        ({"consumesCounters": [{"counterSet": "s"}]}, False, 1),
    ],
)
def test_devices(device: Json, per_device: bool, wrong: int) -> None:
    assert len(validate_device("d", {"name": "d", **device}, per_device=per_device)) == wrong


def test_slices_are_found_by_driver_and_node() -> None:
    fields = ResourceSliceStrategy().fields({"spec": {"driver": "d.example"}})
    assert fields == {"spec.driver": "d.example", "spec.nodeName": ""}


@pytest.mark.parametrize(("name", "wrong"), [("x.example/r", 0), ("kubernetes.io/r", 1), ("cpu", 1)])
def test_extended_resources_of_classes(name: str, wrong: int) -> None:
    assert len(complaints(DeviceClassStrategy(), {"metadata": {"name": "c"}, "spec": {"extendedResourceName": name}})) == wrong


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("device.attributes['a.example'].kind == 'x' && device.capacity['a.example'].m.compareTo(quantity('1Gi')) >= 0", ""),
        ("device.attributes['a.example'].flag", ""),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        ("device.nosuch", "undefined field 'nosuch'"),
        ("", "<input>:1:0: Syntax error"),
        (
            "device.attributes.all(a, device.attributes.all(b, device.attributes.all(c, device.attributes.all(d, a == d))))",
            "cost",
        ),
    ],
)
def test_selectors_are_expressions_about_devices(text: str, complaint: str) -> None:
    assert [complaint in str(error) for error in validate_expression("p", text)] == ([True] if complaint else [])


@pytest.mark.parametrize(
    ("policy", "complaint"),
    [
        ({}, ""),
        ({"default": "1Gi", "validValues": ["1Gi", "2Gi"]}, ""),
        ({"validValues": ["1Gi"]}, "default: Required value: required when validValues is defined"),
        ({"default": "3Gi", "validValues": ["1Gi"]}, "default value is not valid according to the requestPolicy"),
        ({"default": "1Gi", "validValues": ["1Gi", "99Gi"]}, "option is larger than capacity value: 10Gi"),
        ({"default": "2Gi", "validRange": {"min": "1Gi", "max": "4Gi", "step": "1Gi"}}, ""),
        ({"default": "1Gi", "validRange": {}}, "min: Required value: required when validRange is defined"),
        ({"default": "1Gi", "validRange": {"min": "2Gi"}}, "default is less than min: 2Gi"),
        ({"default": "1536Mi", "validRange": {"min": "1Gi", "step": "1Gi"}}, "value is not a multiple of a given step (1Gi)"),
        ({"validValues": ["1Gi"], "validRange": {"min": "1Gi"}}, "exactly one policy can be specified"),
    ],
)
def test_shares_of_a_capacity(policy: Json, complaint: str) -> None:
    assert [complaint in str(error) for error in validate_policy("p", "10Gi", policy)] == ([True] if complaint else [])


def test_binding_conditions_come_in_pairs_and_once() -> None:
    both = {"bindingConditions": ["a"], "bindingFailureConditions": ["b"]}
    assert validate_binding_conditions("d", {}) == validate_binding_conditions("d", both) == []
    for change, field in (
        ({"bindingConditions": []}, "d.bindingConditions"),
        ({"bindingFailureConditions": []}, "d.bindingFailureConditions"),
        ({"bindingConditions": ["a", "a"]}, "d.bindingConditions[1]"),
        ({"bindingFailureConditions": ["a"]}, "d.bindingFailureConditions[0]"),
    ):
        assert [error.field for error in validate_binding_conditions("d", {**both, **change})] == [field]


@pytest.mark.parametrize(
    ("device", "complaint"),
    [
        ({}, ""),
        ({"device": "other"}, "must be an allocated device in the claim"),
        ({"data": [1]}, "must be a valid JSON object"),
        ({"networkData": {"ips": ["10.0.0.1/24"], "interfaceName": "e"}}, ""),
        ({"networkData": {"ips": ["10.0.0.1"]}}, "must be a valid address in CIDR form"),
        ({"networkData": {"ips": ["2001:DB8::1/64"]}}, 'must be in canonical form ("2001:db8::1/64")'),
        ({"networkData": {"ips": ["010.009.008.000/24"]}}, 'must be in canonical form ("10.9.8.0/24")'),
        ({"networkData": {"interfaceName": "x" * 257}}, "Too long"),
    ],
)
def test_reports_of_allocated_devices(device: Json, complaint: str) -> None:
    allocated = {"driver": "d.example", "pool": "p", "device": "one"}
    found = validate_devices("s", [{**allocated, **device}], {"devices": {"results": [allocated]}})
    assert [complaint in str(error) for error in found] == ([True] if complaint else [])


@pytest.mark.parametrize(
    ("uid", "why"),
    [
        ("9c1b6f7e-8f0a-4f5e-9f57-0123456789ab", ""),
        ("9C1B6F7E-8F0A-4F5E-9F57-0123456789AB", "must be in RFC 4122 normalized form"),
        ("x" * 36, "error validating uid: invalid UUID format"),
        ("x", "error validating uid: invalid UUID length: 1"),
    ],
)
def test_shares_have_uids(uid: str, why: str) -> None:
    told = [str(error) for error in words.share_id("s", uid)]
    assert [why in text for text in told] == ([True] if why else [])


def test_reports_go_with_their_allocation() -> None:
    def reported(*devices: str) -> Json:
        named = [{"driver": "d.example", "pool": "p", "device": name} for name in devices]
        results = [{"request": "r", **each} for each in named]
        return {"metadata": {}, "spec": {}, "status": {"allocation": {"devices": {"results": results}}, "devices": named}}

    strategy, new = resource_claim_status(), reported("a", "b")
    new["status"]["allocation"] = {"devices": {"results": new["status"]["allocation"]["devices"]["results"][1:]}}
    strategy.prepare_for_update(context(), new, reported("a", "b"))
    assert [each["device"] for each in new["status"]["devices"]] == ["b"]
    del new["status"]["allocation"]
    strategy.prepare_for_update(context(), new, reported("b"))
    assert new["status"] == {}


def test_a_report_goes_with_its_own_share_of_a_device() -> None:
    shares = [{"driver": "d.example", "pool": "p", "device": "a", "shareID": share} for share in ("one", "two")]

    def sharing(*results: Json) -> Json:
        allocation = {"devices": {"results": [{"request": "r", **each} for each in results]}}
        return {"metadata": {}, "spec": {}, "status": {"allocation": allocation, "devices": list(shares)}}

    strategy, new = resource_claim_status(), sharing(shares[1])
    strategy.prepare_for_update(context(), new, sharing(*shares))
    assert new["status"]["devices"] == shares[1:]


def test_counters_have_names_and_a_limit() -> None:
    assert [error.field for error in validate_counters("c", {})] == ["c"]
    assert [str(error) for error in validate_counters("c", dict.fromkeys(map(str, range(33))))] == [
        "c: Too many: 33: must have at most 32 items"
    ]
    assert [error.value for error in validate_counters("c", {"good": {}, "Bad": {}})] == ["Bad"]


def test_drivers_in_capital_letters_are_warned_of() -> None:
    [warning] = ResourceSliceStrategy().warnings_on_create(context(), {"spec": {"driver": "D.example"}})
    assert warning == 'spec.driver: driver names should be lowercase; "D.example" contains uppercase characters'


class _Namespaces:
    """Knows one namespace."""

    def __init__(self, labels: Json) -> None:
        self._labels = labels

    async def get(self, group_resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        return {"metadata": {"labels": self._labels}}

    async def list(self, group_resource: str, namespace: str = "") -> Sequence[Mapping[str, Any]]:
        return []


GRANTED = {"status": {"allocation": {"devices": {"results": [{"adminAccess": True}]}}}}


@pytest.mark.parametrize(
    ("subresource", "obj", "old", "path"),
    [
        ("", {"spec": {"devices": {"requests": [{"exactly": {}}, {"exactly": {"adminAccess": True}}]}}}, None, "requests[1]"),
        ("", {"spec": {"devices": {"requests": [{"firstAvailable": []}]}}}, None, ""),
        ("status", GRANTED, {}, "results[0]"),
        ("status", GRANTED, GRANTED, ""),
    ],
)
async def test_access_for_administration(subresource: str, obj: Json, old: Json | None, path: str) -> None:
    request = AdmissionRequest("UPDATE", CLAIMS, "v1", context(), "n", "c", subresource, obj, old)
    for labels in ({}, {"resource.kubernetes.io/admin-access": "true"}):
        step = DeviceAdmin(_Namespaces(labels))
        if path and not labels:
            with pytest.raises(StatusError, match=re.escape(f"{path}.adminAccess: Forbidden: admin access to devices requires")):
                await step.validate(request)
        else:
            await step.validate(request)
