"""Warnings about files of a volume that lie on, above or below one another.

Source: `pkg/api/pod/warnings.go` (warningsForOverlappingVirtualPaths).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from setpoint.api.machinery.status import go_value

#: a path, and what it comes from where that is not the volume as a whole
_Place = tuple[str, str]


def path_warnings(volumes: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for volume in volumes:
        name = go_value(volume.get("name", ""))
        for described, items in _plain(volume):
            yield from _overlaps(f"volume {name} ({described})", _items(items, ""))
        projected = volume.get("projected")
        if projected is not None:
            sources = projected.get("sources") or ()
            yield from [f"volume {name} (Projected) has no sources provided" for source in sources if not source]
            places = (place for source in sources for place in _projection(source))
            yield from _overlaps(f"volume {name} (Projected)", places)


def _plain(volume: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Volumes of one source: how it is called, and its files."""
    for field, kind, name in (("configMap", "ConfigMap", "name"), ("secret", "Secret", "secretName")):
        if volume.get(field) is not None:
            yield f"{kind} {go_value(volume[field].get(name, ''))}", volume[field].get("items")
    if volume.get("downwardAPI") is not None:
        yield "DownwardAPI", volume["downwardAPI"].get("items")


def _items(items: Iterable[Mapping[str, Any]] | None, source: str) -> list[_Place]:
    return [(item.get("path", ""), source) for item in items or ()]


def _projection(source: Mapping[str, Any]) -> list[_Place]:
    for field, kind in (("configMap", "ConfigMap"), ("secret", "Secret")):
        if (source.get(field) or {}).get("items"):
            return _items(source[field]["items"], f"{kind} {go_value(source[field].get('name', ''))}")
    if (source.get("downwardAPI") or {}).get("items"):
        return _items(source["downwardAPI"]["items"], "DownwardAPI")
    token = source.get("serviceAccountToken")
    return [] if token is None else [(token.get("path", ""), "ServiceAccountToken")]


def _overlaps(where: str, places: Iterable[_Place]) -> Iterator[str]:
    before: list[_Place] = []
    for path, source in places:
        place = (path.rstrip("/"), source)
        yield from [
            f"{where}: overlapping paths: {_shown(place)} with {_shown(other)}" for other in before if _clash(place, other)
        ]
        before.append(place)


def _clash(one: _Place, other: _Place) -> bool:
    a, b = f"{one[0]}/", f"{other[0]}/"
    return bool(one[0] and other[0]) and (a.startswith(b) or b.startswith(a))


def _shown(place: _Place) -> str:
    path, source = place
    return f"{go_value(path)} ({source})" if source else go_value(path)
