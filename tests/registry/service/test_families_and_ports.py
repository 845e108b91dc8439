"""Address families when they change, and node ports that several ports name."""

from __future__ import annotations

import pytest
from tests.apiserver.conftest import Api
from tests.registry.builders import Json

PATH = "/api/v1/namespaces/default/services"


def service(**spec: object) -> Json:
    return {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "s"}, "spec": {"ports": [{"port": 80}], **spec}}


async def refused(api: Api, **spec: object) -> str:
    answer = await api(f"POST {PATH}", service(**spec), code=422)
    return str(answer["message"]).removeprefix('Service "s" is invalid: ')


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        (
            {"ipFamilies": ["IPv4", "IPv6"]},
            (
                'spec.ipFamilyPolicy: Invalid value: "SingleStack": must be'
                " 'RequireDualStack' or 'PreferDualStack' when multiple IP families are specified"
            ),
        ),
        (
            {"clusterIP": "fd00::1"},
            'spec.clusterIPs[0]: Invalid value: ["fd00::1"]: IPv6 is not configured on this cluster',
        ),
        (
            {"type": "NodePort", "ports": [{"name": n, "port": 80, "nodePort": 30123} for n in ("a", "b")]},
            (
                '[spec.ports[1].nodePort: Duplicate value: 30123, spec.ports[1]: Duplicate value: {"Name":"","Protocol":"TCP",'
                '"AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}]'
            ),
        ),
        (
            {
                "type": "NodePort",
                "ports": [
                    {"name": "a", "port": 53, "nodePort": 30123},
                    {"name": "b", "port": 54, "protocol": "UDP", "nodePort": 30123},
                ],
            },
            "spec.ports[1].nodePort: Invalid value: 30123: provided port is already allocated",
        ),
    ],
)
async def test_refusals(api: Api, spec: Json, wanted: str) -> None:
    assert await refused(api, **spec) == wanted


async def test_a_replace_keeps_the_policy_and_headless_services_change_families(api: Api) -> None:
    made = await api(f"POST {PATH}", service(clusterIP="None"))
    assert (made["spec"]["ipFamilyPolicy"], made["spec"]["ipFamilies"]) == ("RequireDualStack", ["IPv4", "IPv6"])
    put = await api(f"PUT {PATH}/s", service(clusterIP="None", ipFamilies=["IPv6", "IPv4"]))
    assert (put["spec"]["ipFamilyPolicy"], put["spec"]["ipFamilies"]) == ("RequireDualStack", ["IPv6", "IPv4"])
    single = await api(f"PUT {PATH}/s", service(clusterIP="None", ipFamilyPolicy="SingleStack", ipFamilies=["IPv6", "IPv4"]))
    assert single["spec"]["ipFamilies"] == ["IPv6"]


async def test_ports_of_one_number_share_a_node_port_when_made_only(api: Api) -> None:
    ports = [{"name": "a", "port": 53}, {"name": "b", "port": 53, "protocol": "UDP"}]
    made = await api(f"POST {PATH}", service(type="NodePort", ports=ports))
    first, second = (port["nodePort"] for port in made["spec"]["ports"])
    assert first == second
    more = [*made["spec"]["ports"], {"name": "c", "port": 53, "protocol": "SCTP"}]
    changed = await api.merge(f"{PATH}/s", {"spec": {"ports": more}})
    assert changed["spec"]["ports"][2]["nodePort"] != first
    more[2] = {"name": "c", "port": 54, "nodePort": first}
    answer = await api.merge(f"{PATH}/s", {"spec": {"ports": more}}, code=500)
    assert answer["message"] == f"duplicate nodePort: {{TCP {first}}}"


async def test_a_health_check_port_out_of_range_is_an_internal_error(api: Api) -> None:
    spec = {"type": "LoadBalancer", "externalTrafficPolicy": "Local", "healthCheckNodePort": 80}
    answer = await api(f"POST {PATH}", service(**spec), code=500)
    assert answer["message"] == (
        "Internal error occurred: failed to allocate requested HealthCheck NodePort 80: provided port is not in the valid range."
        " The range of valid ports is 30000-32767"
    )
