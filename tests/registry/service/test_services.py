"""Services: types, families, and the addresses and ports that are handed out."""

from __future__ import annotations

from copy import deepcopy
from ipaddress import ip_address, ip_network

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json, complaints, context, created

from setpoint.registry.service.strategy import ServiceStatusStrategy, ServiceStrategy

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


@pytest.mark.parametrize("query", ["", "?dryRun=All"])
async def test_the_ends_of_the_range_are_no_addresses(api: Api, query: str) -> None:
    for address in ("10.96.0.0", "10.96.255.255"):
        refused = await api(f"POST {SERVICES}{query}", service({"clusterIP": address}), code=422)
        assert refused["details"]["causes"][0]["message"] == (
            f'Invalid value: ["{address}"]: failed to allocate IP {address}: the provided IP ({address}) is not in the valid'
            " range. The range of valid IPs is 10.96.0.0/16"
        )


async def test_a_dry_run_imagines_addresses_and_ports(api: Api) -> None:
    made = await api(f"POST {SERVICES}", service({"type": "NodePort", "clusterIP": "10.96.7.7"}, "taken"))
    taken = made["spec"]["ports"][0]["nodePort"]
    ports = [{"name": "a", "port": 1}, {"name": "b", "port": 2}, {"name": "c", "port": 3, "nodePort": 80}]
    shown = await api(f"POST {SERVICES}?dryRun=All", service({"type": "NodePort", "ports": ports}))
    assert shown["spec"]["clusterIPs"] == [shown["spec"]["clusterIP"]] == ["10.96.0.0"]
    assert [port["nodePort"] for port in shown["spec"]["ports"]] == [32769, 32770, 80]
    await api(f"POST {SERVICES}?dryRun=All", service({"clusterIP": "10.96.7.7"}))
    for numbers in ([taken], [81, 81]):
        ports = [{"name": f"p{i}", "port": i + 1, "nodePort": number} for i, number in enumerate(numbers)]
        refused = await api(f"POST {SERVICES}?dryRun=All", service({"type": "NodePort", "ports": ports}), code=422)
        assert "provided port is already allocated" in refused["message"]
    outside = await api(f"POST {SERVICES}?dryRun=All", service({"clusterIP": "192.0.2.1"}), code=422)
    assert "the provided IP (192.0.2.1) is not in the valid range. The range of valid IPs is 10.96.0.0/16" in outside["message"]


@pytest.mark.parametrize(
    "ports",
    [
        [{"name": "a", "port": 80, "nodePort": 30081}, {"name": "c", "port": 82}],
        [{"name": "a", "port": 80}],
        [{"name": "b", "port": 81, "nodePort": 30082}, {"name": "a", "port": 80, "nodePort": 30081}],
    ],
)
async def test_node_ports_go_with_the_type_however_the_ports_change(api: Api, ports: list[Json]) -> None:
    both = [{"name": "a", "port": 80, "nodePort": 30081}, {"name": "b", "port": 81, "nodePort": 30082}]
    await api(f"POST {SERVICES}", service({"type": "NodePort", "ports": both}))
    plain = await api.merge(f"{SERVICES}/s", {"spec": {"type": "ClusterIP", "ports": ports}})
    assert not any("nodePort" in port for port in plain["spec"]["ports"])


async def test_a_new_node_port_does_not_go_with_the_type(api: Api) -> None:
    await api(f"POST {SERVICES}", service({"type": "NodePort"}))
    changed = {"spec": {"type": "ClusterIP", "ports": [{"port": 80, "nodePort": 30099}]}}
    refused = await api.merge(f"{SERVICES}/s", changed, code=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["spec.ports[0].nodePort"]


async def test_what_a_load_balancer_reported_goes_with_it(api: Api) -> None:
    await api(f"POST {SERVICES}", service({"type": "LoadBalancer"}))
    await api.merge(f"{SERVICES}/s/status", {"status": {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}})
    kept = await api.merge(f"{SERVICES}/s", {"spec": {"selector": {"a": "b"}}})
    assert kept["status"]["loadBalancer"]["ingress"]
    plain = await api.merge(f"{SERVICES}/s", {"spec": {"type": "NodePort"}})
    assert plain["status"] == {"loadBalancer": {}}


async def test_an_unknown_type_is_all_that_is_wrong_with_it(api: Api) -> None:
    await api(f"POST {SERVICES}", service())
    refused = await api.merge(f"{SERVICES}/s", {"spec": {"type": "Odd"}}, code=422)
    assert [cause["field"] for cause in refused["details"]["causes"]] == ["spec.type"]


def test_what_a_load_balancer_reports_is_warned_about() -> None:
    obj = created(STRATEGY, service({"type": "LoadBalancer"}))
    obj["status"] = {"loadBalancer": {"ingress": [{"hostname": "a.example"}, {"ip": "2001:db8:0::1"}]}}
    assert ServiceStatusStrategy().warnings_on_update(context(), obj, obj) == [
        'status.loadBalancer.ingress[1]: IPv6 address "2001:db8:0::1" should be in RFC 5952 canonical format ("2001:db8::1")'
    ]
