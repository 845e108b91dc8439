"""Fitting endpoints into slices: as few writes as possible, a hundred endpoints in a slice at the most. Pure.

As `k8s.io/endpointslice`'s `reconcileByPortMapping`: slices that have to change anyway are filled first; what is left goes into a
slice with room for all of it, else into new ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
from msgspec import Struct

from setpoint.api.types import discovery_v1

MOST = 100
Ports = tuple[discovery_v1.EndpointPort, ...]
Slice = discovery_v1.EndpointSlice
Endpoint = discovery_v1.Endpoint


class Draft(Struct, frozen=True):
    """A slice to write: new, or `former` with other contents."""

    address_type: str
    ports: Ports
    endpoints: tuple[Endpoint, ...]
    former: Slice | None = None


class Packed(Struct, frozen=True):
    """What is to be written; `kept` slices stay as they are."""

    write: tuple[Draft, ...] = ()
    delete: tuple[Slice, ...] = ()
    kept: tuple[Slice, ...] = ()


def identity(endpoint: Endpoint) -> tuple[object, ...]:
    """What tells endpoints apart: the address, and whose it is."""
    ref = endpoint.target_ref
    return tuple(endpoint.addresses or ()), (ref.kind, ref.namespace, ref.name, ref.uid) if ref is not None else None


def pack(
    address_type: str,
    desired: Mapping[Ports, Sequence[Endpoint]],
    existing: Sequence[Slice],
    outdated: frozenset[str],
    most: int = MOST,
) -> Packed:
    """`outdated` are names of slices whose labels have to change in any case; `most` endpoints fit into one."""
    by_ports: dict[Ports, list[Slice]] = {}
    for each in existing:
        by_ports.setdefault(tuple(each.ports or ()), []).append(each)
    write: list[Draft] = []
    kept: list[Slice] = []
    delete: list[Slice] = []
    for ports, slices in by_ports.items():
        if ports not in desired:
            delete += slices
    for ports, endpoints in desired.items():
        packed = _one(address_type, ports, endpoints, by_ports.get(ports, []), outdated, most)
        write += packed.write
        kept += packed.kept
        delete += packed.delete
    return _recycled(Packed(tuple(write), tuple(delete), tuple(kept)))


def _one(
    address_type: str,
    ports: Ports,
    endpoints: Sequence[Endpoint],
    slices: Sequence[Slice],
    outdated: frozenset[str],
    most: int,
) -> Packed:
    """The slices of one set of ports."""
    left = {identity(each): each for each in endpoints}
    changed: list[tuple[Slice, list[Endpoint]]] = []
    kept: list[Slice] = []
    delete: list[Slice] = []
    for each in slices:
        present = [left.pop(identity(one), None) for one in each.endpoints or ()]
        stay = [one for one in present if one is not None]
        if not stay:
            delete.append(each)
        elif tuple(stay) != tuple(each.endpoints or ()) or each.metadata.name in outdated:
            changed.append((each, stay))
        else:
            kept.append(each)
    rest = [*left.values()]
    for _, stay in sorted(changed, key=lambda pair: -len(pair[1])):
        take = max(0, most - len(stay))
        stay.extend(rest[:take])
        rest = rest[take:]
    if rest and (room := _with_room(kept, len(rest) % most, most)) is not None:
        kept.remove(room)
        count = len(rest) % most
        changed.append((room, [*(room.endpoints or ()), *rest[len(rest) - count :]]))
        rest = rest[: len(rest) - count]
    write = [Draft(address_type, ports, tuple(stay), former) for former, stay in changed]
    write += [Draft(address_type, ports, tuple(rest[at : at + most])) for at in range(0, len(rest), most)]
    return Packed(tuple(write), tuple(delete), tuple(kept))


def _with_room(slices: Sequence[Slice], count: int, most: int) -> Slice | None:
    """The fullest slice that takes `count` more."""
    fitting = [each for each in slices if count and len(each.endpoints or ()) + count <= most]
    return max(fitting, key=lambda each: len(each.endpoints or ()), default=None)


def _recycled(packed: Packed) -> Packed:
    """What would be deleted becomes what would be made."""
    spare = [*packed.delete]
    write = []
    for draft in packed.write:
        if draft.former is None and spare:
            write.append(msgspec.structs.replace(draft, former=spare.pop(0)))
        else:
            write.append(draft)
    return Packed(tuple(write), tuple(spare), packed.kept)


def with_placeholder(packed: Packed, address_type: str, *, outdated: frozenset[str]) -> Packed:
    """A Service without endpoints has one empty slice of each address type."""
    if packed.write or packed.kept:
        return packed
    for each in packed.delete:
        if not each.endpoints and not each.ports and each.metadata.name not in outdated:
            others = tuple(one for one in packed.delete if one is not each)
            return Packed((), others, (each,))
    former = packed.delete[0] if packed.delete else None
    return Packed((Draft(address_type, (), (), former),), packed.delete[1:])
