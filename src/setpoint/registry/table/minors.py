"""What the other minors of Kubernetes serve: which resources, in which versions.

The table of resources is that of `DEFAULT`. Here stands how other minors differ from it: what came later than 1.25, which older
versions were served until when, and (`newer.py`) what came after. Only what a server offers without being asked counts: versions
and subresources of features that are off by default are not served. Rules, defaults and messages are those of `DEFAULT` whatever
the minor; objects of an older version are stored in the form that `DEFAULT` stores, so a data directory can change its minor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from msgspec import Struct, structs

from setpoint.registry.autoscaling.conversion import convert_autoscaler
from setpoint.registry.flowcontrol.conversion import convert_priority_level
from setpoint.registry.resource import ServedResource
from setpoint.registry.table import GROUPS, RESOURCES
from setpoint.registry.table.rows import definitions

DEFAULT = "1.36"
MINORS = tuple(f"1.{small}" for small in range(25, 38))

Span = tuple[int, int]
_FLOW = "flowcontrol.apiserver.k8s.io"

#: resource or subresource → the first minor in which the version of the table is served
_SINCE: Mapping[str, int] = {
    "mutatingadmissionpolicies.admissionregistration.k8s.io": 36,
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": 36,
    "validatingadmissionpolicies.admissionregistration.k8s.io": 30,
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": 30,
    "selfsubjectreviews.authentication.k8s.io": 28,
    f"flowschemas.{_FLOW}": 29,
    f"prioritylevelconfigurations.{_FLOW}": 29,
    "ipaddresses.networking.k8s.io": 33,
    "servicecidrs.networking.k8s.io": 33,
    "deviceclasses.resource.k8s.io": 34,
    "resourceclaims.resource.k8s.io": 34,
    "resourceclaimtemplates.resource.k8s.io": 34,
    "resourceslices.resource.k8s.io": 34,
    "volumeattributesclasses.storage.k8s.io": 34,
    "pods/resize": 33,
}

#: resource → older versions, the preferred one first, and the first and last minor that serves each
_OLDER: Mapping[str, Mapping[str, Span]] = {
    "horizontalpodautoscalers.autoscaling": {"v2beta2": (25, 25)},
    f"flowschemas.{_FLOW}": {"v1beta3": (26, 31), "v1beta2": (25, 28), "v1beta1": (25, 25)},
    f"prioritylevelconfigurations.{_FLOW}": {"v1beta3": (26, 31), "v1beta2": (25, 28), "v1beta1": (25, 25)},
    "csistoragecapacities.storage.k8s.io": {"v1beta1": (25, 26)},
}
#: the packages of the older versions' definitions, and what converts them
_PACKAGES = {"autoscaling": "autoscaling", _FLOW: "flowcontrol", "storage.k8s.io": "storage"}
_CONVERT = {
    "horizontalpodautoscalers.autoscaling": convert_autoscaler,
    f"prioritylevelconfigurations.{_FLOW}": convert_priority_level,
}
#: older version → since when it is deprecated, when it goes, and the version to use instead
_DEPRECATED: Mapping[tuple[str, str], tuple[int, int, str]] = {
    ("autoscaling", "v2beta2"): (23, 26, "v2"),
    ("storage.k8s.io", "v1beta1"): (24, 27, "v1"),
    (_FLOW, "v1beta1"): (23, 26, "v1beta2"),
    (_FLOW, "v1beta2"): (26, 29, "v1beta3"),
    (_FLOW, "v1beta3"): (29, 32, "v1"),
}
#: since when the core group's Endpoints are deprecated
_ENDPOINTS = 33


class Minor(Struct, frozen=True):
    """What one minor serves: `groups` and `resources` as in `registry.table`."""

    name: str
    groups: tuple[tuple[str, tuple[str, ...]], ...]
    resources: tuple[ServedResource, ...]

    def find(self, group: str, plural: str) -> ServedResource | None:
        return next((row for row in self.resources if (row.group, row.plural) == (group, plural)), None)


@cache
def of_minor(name: str) -> Minor:
    """What Kubernetes `name` ("1.31") serves. ValueError if it is none of MINORS."""
    if name not in MINORS:
        raise ValueError(f"Kubernetes {name} is not known; choose one of {', '.join(MINORS)}")
    if name == DEFAULT:
        return Minor(name, GROUPS, RESOURCES)
    small = int(name.partition(".")[2])
    rows, groups = list(RESOURCES), list(GROUPS)
    if small > int(DEFAULT.partition(".")[2]):
        from setpoint.registry.table import newer

        rows += newer.RESOURCES
        groups += newer.GROUPS
    resources = tuple(row for row in (_row(row, small) for row in rows) if row is not None)
    return Minor(name, tuple(_groups(groups, resources)), resources)


def _row(row: ServedResource, small: int) -> ServedResource | None:
    """The row as a minor has it; None where it has no such resource."""
    name, stored = row.group_resource, row.storage_version
    present = row.versions if small >= _SINCE.get(name, 0) else ()
    older = tuple(version for version, (first, last) in _OLDER.get(name, {}).items() if first <= small <= last)
    versions = (*present, *older)
    if not versions:
        return None
    if name == "endpoints" and small < _ENDPOINTS:
        return structs.replace(row, deprecations={})
    kept = tuple(sub for sub in row.subresources if small >= _SINCE.get(f"{row.plural}/{sub.name}", 0))
    if not older and kept == row.subresources:
        return row
    named = {**row.definitions, **definitions(_PACKAGES[row.group], row.kind, *older)} if older else row.definitions
    return structs.replace(
        row,
        versions=versions,
        definitions=named,
        subresources=kept,
        storage=stored,
        deprecations={version: _deprecation(row, version, small) for version in older},
        convert=_CONVERT.get(name, row.convert),
    )


def _deprecation(row: ServedResource, version: str, small: int) -> str:
    """What every answer about an older version warns of, nothing where it was not deprecated yet."""
    since, until, instead = _DEPRECATED[row.group, version]
    if small < since:
        return ""
    old, new = (f"{row.group}/{each} {row.kind}" for each in (version, instead))
    return f"{old} is deprecated in v1.{since}+, unavailable in v1.{until}+; use {new}"


def _groups(
    groups: Sequence[tuple[str, tuple[str, ...]]], resources: Sequence[ServedResource]
) -> list[tuple[str, tuple[str, ...]]]:
    """The groups that still hold something, each with its versions in order of preference."""
    found = []
    for name, known in groups:
        served = {version for row in resources if row.group == name for version in row.versions}
        older = sorted(served.difference(known), reverse=True)
        versions = (*(version for version in known if version in served), *older)
        if versions:
            found.append((name, versions))
    return found
