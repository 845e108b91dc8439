"""A container's environment: services, envFrom, env — in that order, later ones win.

Source: kubelet's makeEnvironmentVariables and client-go's expansion of `$(NAME)`.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from msgspec import Struct, field

from setpoint.api.types.core_v1 import ConfigMap, Container, EnvFromSource, EnvVarSource, Pod, Secret, Service
from setpoint.node import downward
from setpoint.node.downward import Surroundings
from setpoint.node.runtime import ContainerError

_NAME = re.compile(r"^[ -<>-~]+$")  # printable ASCII but `=` (relaxed validation of variable names)
_REFERENCE = re.compile(r"\$(?:\$|\(([^()]*)\))")


class Lookup(Protocol):
    """ConfigMaps and Secrets of the pod's namespace; None for one that does not exist."""

    async def config_map(self, name: str) -> ConfigMap | None: ...
    async def secret(self, name: str) -> Secret | None: ...


class Environment(Struct, frozen=True):
    """`invalid` are (source, keys) that are no names of variables and were left out."""

    values: Mapping[str, str]
    invalid: Sequence[str] = field(default_factory=tuple)


def expand(text: str, values: Mapping[str, str]) -> str:
    """Replace `$(NAME)`; `$$` is a dollar sign, an unknown name stays as it is written."""
    if "$" not in text:
        return text

    def replace(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        return values.get(match[1], match[0])

    return _REFERENCE.sub(replace, text)


def config_error(message: str) -> ContainerError:
    return ContainerError("CreateContainerConfigError", message)


async def environment_of(
    pod: Pod, container: Container, lookup: Lookup, around: Surroundings, services: Mapping[str, str]
) -> Environment:
    """Everything resolved; raises ContainerError when a source that is not optional is missing."""
    values: dict[str, str] = {}
    invalid: list[str] = []
    for source in container.env_from:
        await _from(source, lookup, values, invalid, pod.metadata.namespace)
    for variable in container.env:
        if variable.value_from is not None:
            found = await _reference(pod, container, variable.value_from, lookup, around)
            if found is not None:
                values[variable.name] = found
        else:
            values[variable.name] = expand(variable.value, {**services, **values})
    return Environment({**services, **values}, tuple(invalid))


async def _from(source: EnvFromSource, lookup: Lookup, values: dict[str, str], invalid: list[str], namespace: str) -> None:
    items: Mapping[str, str]
    if source.config_map_ref is not None:
        reference, kind = source.config_map_ref, "configmap"
        config_map = await lookup.config_map(reference.name)
        items = config_map.data if config_map is not None else {}
        missing, optional, name = config_map is None, bool(reference.optional), reference.name
    elif source.secret_ref is not None:
        secret_reference, kind = source.secret_ref, "secret"
        secret = await lookup.secret(secret_reference.name)
        items = {key: _text(value) for key, value in secret.data.items()} if secret is not None else {}
        missing, optional, name = secret is None, bool(secret_reference.optional), secret_reference.name
    else:
        return
    if missing and not optional:
        raise config_error(f'{kind} "{name}" not found')
    bad = []
    for key, value in items.items():
        if _NAME.match(source.prefix + key):
            values[source.prefix + key] = value
        else:
            bad.append(key)
    if bad:
        listed = ", ".join(sorted(bad))
        what = f"{'ConfigMap' if kind == 'configmap' else 'Secret'} {namespace}/{name}"
        invalid.append(
            f"Keys [{listed}] from the EnvFrom {what} were skipped since they are considered invalid environment variable names."
        )


async def _reference(pod: Pod, container: Container, source: EnvVarSource, lookup: Lookup, around: Surroundings) -> str | None:
    """The value that a variable takes from elsewhere; None when an optional source has none."""
    if source.field_ref is not None:
        return _field(pod, source.field_ref.field_path, around)
    if source.resource_field_ref is not None:
        try:
            return downward.resource(pod, container, source.resource_field_ref, around)
        except downward.FieldError as error:
            raise config_error(str(error)) from error
    if source.config_map_key_ref is not None:
        wanted = source.config_map_key_ref
        config_map = await lookup.config_map(wanted.name)
        data = config_map.data if config_map is not None else None
        return _key("ConfigMap", pod.metadata.namespace, wanted.name, wanted.key, data, optional=bool(wanted.optional))
    if source.secret_key_ref is not None:
        key = source.secret_key_ref
        secret = await lookup.secret(key.name)
        plain = {name: _text(value) for name, value in secret.data.items()} if secret is not None else None
        return _key("Secret", pod.metadata.namespace, key.name, key.key, plain, optional=bool(key.optional))
    return ""


def _field(pod: Pod, path: str, around: Surroundings) -> str:
    try:
        return downward.field(pod, path, around)
    except downward.FieldError as error:
        raise config_error(str(error)) from error


def _key(kind: str, namespace: str, name: str, key: str, data: Mapping[str, str] | None, *, optional: bool) -> str | None:
    if data is not None and key in data:
        return data[key]
    if optional:
        return None
    if data is None:
        raise config_error(f'{kind.lower()} "{name}" not found')
    raise config_error(f"couldn't find key {key} in {kind} {namespace}/{name}")


def _text(encoded: str) -> str:
    return base64.b64decode(encoded).decode(errors="surrogateescape")


# -- service links


def service_environment(services: Iterable[Service], namespace: str, *, links: bool) -> dict[str, str]:
    """Docker-style variables of the services that a pod sees: its namespace's, and `kubernetes` of default always."""
    chosen: dict[str, Service] = {}
    for service in services:
        meta = service.metadata
        if service.spec.cluster_ip in ("", "None"):
            continue
        if meta.namespace == "default" and meta.name == "kubernetes":
            chosen.setdefault(meta.name, service)
        elif links and meta.namespace == namespace:
            chosen[meta.name] = service
    out: dict[str, str] = {}
    for name in sorted(chosen):
        out |= _service(name, chosen[name])
    return out


def _service(name: str, service: Service) -> dict[str, str]:
    prefix = name.upper().replace("-", "_")
    address, ports = service.spec.cluster_ip, service.spec.ports
    if not ports:
        return {}
    out = {f"{prefix}_SERVICE_HOST": address, f"{prefix}_SERVICE_PORT": str(ports[0].port)}
    for port in ports:
        if port.name:
            out[f"{prefix}_SERVICE_PORT_{port.name.upper().replace('-', '_')}"] = str(port.port)
    for number, port in enumerate(ports):
        protocol = (port.protocol or "TCP").lower()
        host = f"[{address}]" if ":" in address else address
        url = f"{protocol}://{host}:{port.port}"
        if number == 0:
            out[f"{prefix}_PORT"] = url
        place = f"{prefix}_PORT_{port.port}_{protocol.upper()}"
        out |= {place: url, f"{place}_PROTO": protocol, f"{place}_PORT": str(port.port), f"{place}_ADDR": address}
    return out


def api_server_environment(host: str, port: int) -> dict[str, str]:
    """Where the API server really is: until services carry traffic, its address stands in for the `kubernetes` service's."""
    return {
        "KUBERNETES_SERVICE_HOST": host,
        "KUBERNETES_SERVICE_PORT": str(port),
        "KUBERNETES_SERVICE_PORT_HTTPS": str(port),
    }
