"""Services: types, families, and the addresses and ports that are handed out."""

from __future__ import annotations

from copy import deepcopy
from ipaddress import ip_address, ip_network

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json, complaints, created

from setpoint.registry.service.strategy import ServiceStrategy

STRATEGY = ServiceStrategy()
SERVICES = "/api/v1/namespaces/default/services"


def service(spec: Json | None = None, /, name: str = "s") -> Json:
    return {"kind": "Service", "metadata": {"name": name}, "spec": {"ports": [{"port": 80}], **(spec or {})}}


def test_defaults() -> None:
    assert created(STRATEGY, service())["spec"] == {
        "ports": [{"port": 80, "protocol": "TCP", "targetPort": 80}],
        "sessionAffinity": "None",
        "type": "ClusterIP",
        "internalTrafficPolicy": "Cluster",
    }


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({"ports": []}, ["spec.ports: Required value"]),
        (
            {"ports": [{"port": 0, "targetPort": 1}]},
            ["spec.ports[0].port: Invalid value: 0: must be between 1 and 65535, inclusive"],
        ),
        (
            {"ports": [{"port": 80}, {"port": 81}]},
            ["spec.ports[0].name: Required value", "spec.ports[1].name: Required value"],
        ),
        (
            {"ports": [{"port": 80, "nodePort": 30000}]},
            ["spec.ports[0].nodePort: Forbidden: may not be used when `type` is 'ClusterIP'"],
        ),
        ({"sessionAffinity": "Odd"}, ['spec.sessionAffinity: Unsupported value: "Odd": supported values: "ClientIP", "None"']),
        ({"externalName": "a.b"}, []),
        ({"type": "ExternalName", "ports": []}, ["spec.externalName: Required value"]),
    ],
)
def test_specs_are_checked(spec: Json, wanted: list[str]) -> None:
    assert complaints(STRATEGY, service(spec)) == wanted


def test_a_class_of_load_balancers_is_checked_twice_on_update() -> None:
    old = created(STRATEGY, service())
    new = deepcopy(old)
    new["spec"]["loadBalancerClass"] = "a/b"
    assert (
        complaints(STRATEGY, new, old)
        == ["spec.loadBalancerClass: Forbidden: may only be used when `type` is 'LoadBalancer'"] * 2
    )


def test_the_address_stays() -> None:
    old = created(STRATEGY, service({"clusterIP": "10.96.0.9", "clusterIPs": ["10.96.0.9"], "ipFamilies": ["IPv4"]}))
    new = deepcopy(old)
    new["spec"]["clusterIP"], new["spec"]["clusterIPs"] = "10.96.0.8", ["10.96.0.8"]
    assert complaints(STRATEGY, new, old) == [
        'spec.clusterIPs[0]: Invalid value: ["10.96.0.8"]: may not change once set',
    ]


async def test_addresses_are_handed_out_and_come_back(api: Api) -> None:
    made = await api(f"POST {SERVICES}", service(name="a"))
    address = made["spec"]["clusterIP"]
    assert ip_address(address) in ip_network("10.96.0.0/16")
    assert made["spec"]["clusterIPs"] == [address]
    assert (made["spec"]["ipFamilies"], made["spec"]["ipFamilyPolicy"]) == (["IPv4"], "SingleStack")
    refused = await api(f"POST {SERVICES}", service({"clusterIP": address}, name="b"), code=422)
    assert "provided IP is already allocated" in refused["message"]
    await api(f"DELETE {SERVICES}/a")
    again = await api(f"POST {SERVICES}", service({"clusterIP": address}, name="b"))
    assert again["spec"]["clusterIP"] == address


async def test_node_ports(api: Api) -> None:
    made = await api(f"POST {SERVICES}", service({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}))
    assert made["spec"]["ports"][0]["nodePort"] == 30080
    taken = await api(
        f"POST {SERVICES}", service({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}, "b"), code=422
    )
    assert "provided port is already allocated" in taken["message"]
    outside = await api(f"POST {SERVICES}", service({"type": "NodePort", "ports": [{"port": 80, "nodePort": 99}]}, "b"), code=422)
    assert "The range of valid ports is 30000-32767" in outside["message"]
    wrong = service({"type": "NodePort", "ports": [{"port": 0, "nodePort": 99}]}, "Bad_name")
    alone = await api(f"POST {SERVICES}", wrong, code=422)  # ports are allocated before anything is validated
    assert [cause["field"] for cause in alone["details"]["causes"]] == ["spec.ports[0].nodePort"]
    changed = {"metadata": {"labels": {"a b": ""}}, "spec": {"ports": [{"port": 0, "nodePort": 99}]}}
    alone = await api.merge(f"{SERVICES}/s", changed, code=422)
    assert [cause["field"] for cause in alone["details"]["causes"]] == ["spec.ports[0].nodePort"]
    plain = await api.merge(f"{SERVICES}/s", {"spec": {"type": "ClusterIP"}})
    assert "nodePort" not in plain["spec"]["ports"][0]
    await api(f"POST {SERVICES}", service({"type": "NodePort", "ports": [{"port": 80, "nodePort": 30080}]}, "b"))


async def test_a_refused_create_gives_back_what_it_held(api: Api) -> None:
    spec = {"clusterIP": "10.96.7.7", "type": "NodePort", "ports": [{"port": 80, "nodePort": 1}]}
    await api(f"POST {SERVICES}", service(spec), code=422)
    await api(f"POST {SERVICES}", service({"clusterIP": "10.96.7.7"}))


async def test_a_dry_run_holds_nothing(api: Api) -> None:
    shown = await api(f"POST {SERVICES}?dryRun=All", service({"clusterIP": "10.96.7.7"}))
    assert shown["spec"]["clusterIP"] == "10.96.7.7"
    await api(f"POST {SERVICES}", service({"clusterIP": "10.96.7.7"}))


async def test_headless_and_external_services_have_no_address(api: Api) -> None:
    headless = await api(f"POST {SERVICES}", service({"clusterIP": "None"}, "a"))
    assert headless["spec"]["clusterIPs"] == ["None"]
    external = await api(f"POST {SERVICES}", service({"type": "ExternalName", "externalName": "a.example", "ports": []}, "b"))
    assert "clusterIP" not in external["spec"]
