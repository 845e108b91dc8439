"""How cells are written: ages, labels, selectors, containers; and the columns that most kinds have.

Source: apimachinery `util/duration`, `labels.FormatLabels`; Kubernetes `pkg/printers/internalversion`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import Any

from setpoint.api.machinery import selectors
from setpoint.registry.resource import Table
from setpoint.registry.strategy import Column, Object

NONE = "<none>"
UNSET = "<unset>"
UNKNOWN = "<unknown>"

_META = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def column(name: str, documents: str = "", *, type: str = "string", text: str = "", wide: bool = False) -> Column:
    """A column; `documents` is a field of `io.k8s.api` whose documentation describes it, `text` a description of its own."""
    reference = f"io.k8s.api.{documents}" if documents else ""
    return Column(name, type, text, priority=1 if wide else 0, documents=reference)


NAME = Column("Name", "string", format="name", documents=f"{_META}.name")
AGE = Column("Age", "string", documents=f"{_META}.creationTimestamp")
CONTAINERS = column("Containers", text="Names of each container in the template.", wide=True)
IMAGES = column("Images", text="Images referenced by each container in the template.", wide=True)


def simple(*columns: Column, cells: Callable[[Object], list[Any]]) -> Table:
    """A table with the name first and the age last, `cells` giving what stands between."""
    return Table((NAME, *columns, AGE), lambda obj, now: [name(obj), *cells(obj), age(obj, now)])


def name(obj: Object) -> str:
    return str(obj["metadata"].get("name", ""))


def age(obj: Object, now: float) -> str:
    return since(obj["metadata"].get("creationTimestamp"), now)


def since(time: str | None, now: float) -> str:
    """How long ago an RFC 3339 time was."""
    return duration(now - seconds(time)) if time else UNKNOWN


def seconds(time: str) -> float:
    """An RFC 3339 time in seconds since the epoch."""
    return datetime.fromisoformat(time).timestamp()


def duration(length: float) -> str:
    """Seconds as `5d3h`: two units at most, the second where the first is small."""
    whole = int(length)
    if whole < -1:
        return "<invalid>"
    if whole < 0:
        return "0s"
    minutes, hours = whole // 60, whole // 3600
    if whole < 120:
        return f"{whole}s"
    if minutes < 10:
        return _two(minutes, "m", whole % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    return _days(hours)


def _days(hours: int) -> str:
    days = hours // 24
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two(days // 365, "y", days % 365, "d") if days < 365 * 8 else f"{days // 365}y"


def _two(first: int, unit: str, second: int, other: str) -> str:
    return f"{first}{unit}{second}{other}" if second else f"{first}{unit}"


def labels(values: Mapping[str, str] | None) -> str:
    """`a=1,b=2`, sorted."""
    return ",".join(f"{key}={value}" for key, value in sorted(values.items())) if values else NONE


def selector(value: Mapping[str, Any] | None, everything: str = NONE) -> str:
    """A `metav1.LabelSelector` as text, and what stands for one that selects everything."""
    try:
        return selectors.to_string(value) or everything
    except selectors.SelectorError:
        return "<error>"


def containers(template: Mapping[str, Any] | None) -> list[str]:
    """Names and images of a pod template's containers."""
    found = ((template or {}).get("spec") or {}).get("containers") or ()
    return [",".join(one.get("name", "") for one in found), ",".join(one.get("image", "") for one in found)]


def boolean(value: bool | None) -> str:
    return UNSET if value is None else str(value)


def listed(items: Iterable[str], limit: int = 3, empty: str = UNSET) -> str:
    """The first few of many: `a,b,c + 2 more...`."""
    every = list(items)
    text = ",".join(every[:limit])
    if len(every) > limit:
        return f"{text} + {len(every) - limit} more..."
    return text or empty


def condition(obj: Object, type: str) -> Mapping[str, Any] | None:
    """The condition of a type in the object's status."""
    found = (obj.get("status") or {}).get("conditions") or ()
    return next((one for one in found if one.get("type") == type), None)


def holds(obj: Object, type: str) -> bool:
    one = condition(obj, type)
    return one is not None and one.get("status") == "True"
