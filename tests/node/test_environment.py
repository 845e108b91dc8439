from __future__ import annotations

from typing import Any

import pytest
from tests.node.pods import container, pod

from setpoint.api.types.base import convert
from setpoint.api.types.core_v1 import ConfigMap, Secret, Service
from setpoint.node.downward import Surroundings, lines
from setpoint.node.environment import environment_of, expand, service_environment
from setpoint.node.runtime import ContainerError


class Lookup:
    def __init__(self, **objects: dict[str, Any]) -> None:
        self._objects = objects

    async def config_map(self, name: str) -> ConfigMap | None:
        found = self._objects.get(name)
        return convert(found, ConfigMap) if found is not None else None

    async def secret(self, name: str) -> Secret | None:
        found = self._objects.get(name)
        return convert(found, Secret) if found is not None else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(A)", "1"),
        ("x$(A)y$(A)", "x1y1"),
        ("$$(A)", "$(A)"),
        ("$(B)", "$(B)"),
        ("$A", "$A"),
        ("$", "$"),
        ("$$", "$"),
        ("$(A", "$(A"),
    ],
)
def test_expansion(text: str, expected: str) -> None:
    assert expand(text, {"A": "1"}) == expected


async def test_later_sources_win_and_see_earlier_ones() -> None:
    spec = container(
        envFrom=[{"configMapRef": {"name": "one"}}, {"configMapRef": {"name": "two"}, "prefix": "P_"}],
        env=[{"name": "A", "value": "own"}, {"name": "B", "value": "$(A)/$(P_A)/$(S)"}],
    )
    lookup = Lookup(one={"data": {"A": "first", "not a name!": "ok", "bad=": "x"}}, two={"data": {"A": "second"}})
    wanted = pod(spec)
    found = await environment_of(wanted, wanted.spec.containers[0], lookup, Surroundings(), {"S": "svc", "A": "svc"})
    assert found.values["A"] == "own"
    assert found.values["B"] == "own/second/svc"
    assert "bad=" not in found.values
    assert found.invalid == (
        (
            "Keys [bad=] from the EnvFrom ConfigMap ns/one were skipped "
            "since they are considered invalid environment variable names."
        ),
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"configMapKeyRef": {"name": "none", "key": "k"}}, 'configmap "none" not found'),
        ({"configMapKeyRef": {"name": "one", "key": "k"}}, "couldn't find key k in ConfigMap ns/one"),
        ({"secretKeyRef": {"name": "none", "key": "k"}}, 'secret "none" not found'),
        ({"secretKeyRef": {"name": "one", "key": "k"}}, "couldn't find key k in Secret ns/one"),
    ],
)
async def test_what_is_missing_is_a_configuration_error(source: dict[str, Any], message: str) -> None:
    wanted = pod(container(env=[{"name": "A", "valueFrom": source}]))
    with pytest.raises(ContainerError) as caught:
        await environment_of(wanted, wanted.spec.containers[0], Lookup(one={"data": {}}), Surroundings(), {})
    assert (caught.value.reason, caught.value.message) == ("CreateContainerConfigError", message)


async def test_resources_without_a_limit_are_the_nodes() -> None:
    spec = container(
        env=[
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "MEM", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Gi"}}},
            {"name": "ASK", "valueFrom": {"resourceFieldRef": {"resource": "requests.cpu"}}},
        ],
        resources={"requests": {"cpu": "1500m"}},
    )
    wanted = pod(spec)
    around = Surroundings(allocatable={"cpu": "4", "memory": "3000Mi"})
    values = (await environment_of(wanted, wanted.spec.containers[0], Lookup(), around, {})).values
    assert (values["CPU"], values["MEM"], values["ASK"]) == ("4", "3", "2")


def test_service_links() -> None:
    def service(name: str, namespace: str, address: str, *ports: dict[str, Any]) -> Service:
        return convert(
            {"metadata": {"name": name, "namespace": namespace}, "spec": {"clusterIP": address, "ports": list(ports)}}, Service
        )

    services = [
        service("kubernetes", "default", "10.96.0.1", {"port": 443, "name": "https", "protocol": "TCP"}),
        service("my-db", "ns", "10.96.0.9", {"port": 5432, "protocol": "TCP"}),
        service("other", "elsewhere", "10.96.0.8", {"port": 1}),
        service("headless", "ns", "None", {"port": 1}),
    ]
    found = service_environment(services, "ns", links=True)
    assert found["KUBERNETES_SERVICE_HOST"] == "10.96.0.1"
    assert found["KUBERNETES_SERVICE_PORT_HTTPS"] == "443"
    assert found["MY_DB_SERVICE_HOST"] == "10.96.0.9"
    assert found["MY_DB_PORT"] == "tcp://10.96.0.9:5432"
    assert found["MY_DB_PORT_5432_TCP_ADDR"] == "10.96.0.9"
    assert not [name for name in found if name.startswith(("OTHER", "HEADLESS"))]
    assert not [name for name in service_environment(services, "ns", links=False) if name.startswith("MY_DB")]


def test_maps_as_files() -> None:
    assert lines({"b": 'say "x"\n', "a": "1"}) == 'a="1"\nb="say \\"x\\"\\n"'
