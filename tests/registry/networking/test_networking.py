"""Networking: rules that the recordings do not reach."""

from __future__ import annotations

from typing import Any

import pytest
from tests.registry.builders import complaints, context, created

from setpoint.registry import formats
from setpoint.registry.discovery.endpoint_slice import EndpointSliceStrategy
from setpoint.registry.networking.ingress import IngressStrategy, ingress_status
from setpoint.registry.networking.ingress_class import IngressClassStrategy
from setpoint.registry.networking.ip_address import IPAddressStrategy
from setpoint.registry.networking.network_policy import NetworkPolicyStrategy
from setpoint.registry.networking.service_cidr import ServiceCIDRStrategy

Json = dict[str, Any]
BACKEND = {"service": {"name": "s", "port": {"number": 80}}}


def ingress(path: str, kind: str = "Prefix", host: str = "a.example") -> Json:
    rule = {"host": host, "http": {"paths": [{"path": path, "pathType": kind, "backend": BACKEND}]}}
    return {"metadata": {"name": "i"}, "spec": {"rules": [rule]}}


@pytest.mark.parametrize(("path", "wrong"), [("/a", 0), ("/a/..", 1), ("/a%2Fb", 1), ("/./a", 1), ("a", 1), ("", 1)])
def test_paths_stay_where_they_are(path: str, wrong: int) -> None:
    assert len(complaints(IngressStrategy(), ingress(path))) == wrong


def test_what_only_an_implementation_understands_is_checked_little() -> None:
    assert complaints(IngressStrategy(), ingress("/a/../b", "ImplementationSpecific")) == []


def test_an_old_wildcard_rule_may_stay_as_wrong_as_it_was() -> None:
    old = ingress("a", host="*.example")
    assert complaints(IngressStrategy(), ingress("b", host="*.example"), old) == []
    assert complaints(IngressStrategy(), ingress("b", host="*.example"), ingress("/a", host="*.example"))


def test_a_changed_policy_is_checked_twice_the_second_time_but_for_the_networks_that_it_had() -> None:
    def policy(cidr: str, key: str = "a") -> Json:
        spec = {"podSelector": {"matchLabels": {key: "x"}}, "ingress": [{"from": [{"ipBlock": {"cidr": cidr}}]}]}
        return {"metadata": {"name": "p"}, "spec": spec}

    good, wrong = "10.0.0.0/8", "10.0.0.1/8"
    network, label = "spec.ingress[0].from[0].ipBlock.cidr", "spec.podSelector.matchLabels"

    def fields(new: Json, old: Json) -> list[str]:
        return [text.partition(":")[0] for text in complaints(NetworkPolicyStrategy(), new, old)]

    assert fields(policy(good), policy(wrong)) == []
    assert fields(policy(wrong), policy(good)) == [network, network]
    assert fields(policy(wrong), policy(wrong)) == [network]
    assert fields(policy(good, "a b"), policy(good)) == [label, label]
    assert fields(policy(wrong, "a b"), policy(wrong)) == [label, network, label]


def test_a_scope_that_is_null_gets_its_default() -> None:
    parameters = {"kind": "K", "name": "n", "scope": None}
    obj = created(
        IngressClassStrategy(), {"metadata": {"name": "c"}, "spec": {"controller": "a.example/b", "parameters": parameters}}
    )
    assert obj["spec"]["parameters"]["scope"] == "Cluster"


def test_a_range_of_the_other_family_may_be_added_and_no_other() -> None:
    def cidrs(*values: str) -> Json:
        return {"metadata": {"name": "c"}, "spec": {"cidrs": list(values)}}

    old = cidrs("10.0.0.0/24")
    assert complaints(ServiceCIDRStrategy(), cidrs("10.0.0.0/24", "fd00::/64"), old) == []
    assert complaints(ServiceCIDRStrategy(), cidrs("fd00::/64", "10.0.0.0/24"), old)


def test_names_of_hosts_have_a_domain() -> None:
    def endpoints(address: str) -> Json:
        return {"metadata": {"name": "e"}, "addressType": "FQDN", "endpoints": [{"addresses": [address]}]}

    assert complaints(EndpointSliceStrategy(), endpoints("a.example.")) == []
    assert complaints(EndpointSliceStrategy(), endpoints("localhost"))


def test_of_loopback_only_what_pods_have_may_be_an_endpoint() -> None:
    assert formats.endpoint_ip("127.64.3.7") == formats.endpoint_ip("10.244.0.5") == []
    for address in ("127.0.0.1", "127.63.255.255", "127.128.0.1", "::1"):
        assert formats.endpoint_ip(address) == ["may not be in the loopback range (127.0.0.0/8, ::1/128)"]
    assert formats.special_ip("127.64.3.7")  # an address outside of the cluster is none of a pod


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("10.0.0.1", []),
        ("::ffff:1.2.3.4", ["must not be an IPv4-mapped IPv6 address"]),
        ("fe80::1%eth0", [formats.IP_ADDRESS]),
        ("FD00::1", ['must be in canonical form ("fd00::1")']),
    ],
)
def test_one_form_of_an_address(value: str, message: list[str]) -> None:
    assert formats.canonical_ip(value) == message


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("fd00::/64", []),
        ("010.0.0.0/8", ["must not have leading 0s in IP or prefix length"]),
        ("10.0.0.0/08", ["must not have leading 0s in IP or prefix length"]),
        ("10.0.0.1/8", ["must not have bits set beyond the prefix length"]),
        ("::ffff:1.2.3.0/120", ["must not have an IPv4-mapped IPv6 address"]),
        ("fd00:0::/64", ['must be in canonical form ("fd00::/64")']),
    ],
)
def test_one_form_of_a_network(value: str, message: list[str]) -> None:
    assert formats.canonical_cidr(value) == message


def test_addresses_and_networks_that_will_not_do_in_future_are_warned_about() -> None:
    ask = context()
    peer = {"ipBlock": {"cidr": "10.0.0.1/8", "except": ["10.1.0.5/16"]}}
    policy = {"metadata": {"name": "p"}, "spec": {"egress": [{"to": [peer]}]}}
    assert [text.partition(" ")[0] for text in NetworkPolicyStrategy().warnings_on_create(ask, policy)] == [
        "spec.egress[0].to[0].ipBlock.cidr:",
        "spec.egress[0].to[0].ipBlock.except[0]:",
    ]
    endpoints = [{"addresses": ["2001:db8:0::1"]}]
    slice_ = {"metadata": {"name": "s"}, "addressType": "IPv6", "endpoints": endpoints}
    assert [text.partition(": ")[0] for text in EndpointSliceStrategy().warnings_on_update(ask, slice_, slice_)] == [
        "endpoints[0].addresses[0]"
    ]
    names = {"metadata": {"name": "s"}, "addressType": "FQDN", "endpoints": [{"addresses": ["a.example"]}]}
    assert EndpointSliceStrategy().warnings_on_create(ask, names) == ["spec.addressType: FQDN endpoints are deprecated"]
    trusted = {**slice_, "metadata": {"labels": {"endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"}}}
    assert EndpointSliceStrategy().warnings_on_create(ask, trusted) == []


def test_addresses_of_load_balancers_are_warned_about() -> None:
    status = {"loadBalancer": {"ingress": [{"ip": "10.0.0.1"}, {"ip": "FD00::1"}, {"hostname": "a"}]}}
    [warning] = ingress_status().warnings_on_update(context(), {"status": status}, {})
    assert warning.startswith('status.loadBalancer.ingress[1]: IPv6 address "FD00::1" should be in RFC 5952')


def test_a_generated_address_is_the_base_alone() -> None:
    assert IPAddressStrategy().generate_name("192.0.2.7") == "192.0.2.7"
