"""Which secrets a pod may name where its account is strict: those that the account lists.

Source: `plugin/pkg/admission/serviceaccount/admission.go` (limitSecretReferences).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]
#: takes a pod's spec and its account; says what is not allowed, nothing where all is
Check = Callable[[Json, Json], str]


def pod_references(spec: Json, account: Json) -> str:
    """The first reference of a new pod that its account does not have."""
    name, allowed = account["metadata"]["name"], _names(account.get("secrets"))
    volumes = ((volume.get("secret") or {}).get("secretName") for volume in spec.get("volumes") or () if volume.get("secret"))
    found = [f'volume with secret.secretName="{secret or ""}"' for secret in volumes if secret not in allowed]
    for field, title in (("initContainers", "init container"), ("containers", "container")):
        found += _of_containers(spec.get(field) or (), title, allowed)
    if found:
        return _refusal(found[0], name)
    pulled = _names(account.get("imagePullSecrets"))
    for index, reference in enumerate(spec.get("imagePullSecrets") or ()):
        if (secret := reference.get("name", "")) not in pulled:
            why = f"service account {name} does not reference that imagePullSecret"
            return f'imagePullSecrets[{index}].name="{secret}" is not allowed because {why}'
    return ""


def ephemeral_references(spec: Json, account: Json) -> str:
    """The first reference of the ephemeral containers that the pod's account does not have."""
    containers = spec.get("ephemeralContainers") or ()
    found = next(_of_containers(containers, "ephemeral container", _names(account.get("secrets"))), "")
    return _refusal(found, account["metadata"]["name"]) if found else ""


def _refusal(what: str, account: str) -> str:
    return f"{what} is not allowed because service account {account} does not reference that secret"


def _of_containers(containers: Any, title: str, allowed: frozenset[str]) -> Iterator[str]:
    for container in containers:
        who = f"{title} {container.get('name', '')}"
        for variable in container.get("env") or ():
            reference = (variable.get("valueFrom") or {}).get("secretKeyRef")
            if reference is not None and (secret := reference.get("name", "")) not in allowed:
                yield f'{who} with envVar {variable.get("name", "")} referencing secret.secretName="{secret}"'
        for source in container.get("envFrom") or ():
            reference = source.get("secretRef")
            if reference is not None and (secret := reference.get("name", "")) not in allowed:
                yield f'{who} with envFrom referencing secret.secretName="{secret}"'


def _names(references: Any) -> frozenset[str]:
    return frozenset(reference.get("name", "") for reference in references or ())
