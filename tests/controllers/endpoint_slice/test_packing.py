from __future__ import annotations

from collections.abc import Sequence

import msgspec

from setpoint.api.types import discovery_v1
from setpoint.controllers.endpoint_slice.packing import MOST, Endpoint, Packed, Slice, pack, with_placeholder
from setpoint.testing.objects import metadata

PORTS = (discovery_v1.EndpointPort(name="", port=80, protocol="TCP"),)


def endpoints(first: int, last: int) -> list[Endpoint]:
    return [discovery_v1.Endpoint(addresses=(f"10.0.{number // 250}.{number % 250}",)) for number in range(first, last)]


def slice_of(name: str, held: Sequence[Endpoint]) -> Slice:
    empty = msgspec.convert({"metadata": metadata(name), "addressType": "IPv4"}, discovery_v1.EndpointSlice)
    return msgspec.structs.replace(empty, endpoints=tuple(held), ports=PORTS if held else ())


def packed(desired: Sequence[Endpoint], *existing: Slice, outdated: Sequence[str] = ()) -> Packed:
    return pack("IPv4", {PORTS: desired} if desired else {}, existing, frozenset(outdated))


def sizes(result: Packed) -> list[tuple[str, int]]:
    return [(each.former.metadata.name if each.former else "new", len(each.endpoints)) for each in result.write]


def test_new_slices_hold_a_hundred_each() -> None:
    assert sizes(packed(endpoints(0, 2 * MOST + 1))) == [("new", 100), ("new", 100), ("new", 1)]


def test_what_is_as_it_should_be_is_not_written() -> None:
    held = endpoints(0, 5)
    result = packed(held, slice_of("a", held))
    assert (result.write, result.delete, len(result.kept)) == ((), (), 1)


def test_a_slice_that_changes_anyway_is_filled_first() -> None:
    result = packed(endpoints(5, 20), slice_of("a", endpoints(0, 10)), slice_of("b", []))
    assert sizes(result) == [("a", 15)]
    assert [each.metadata.name for each in result.delete] == ["b"]


def test_few_more_go_into_the_fullest_slice_with_room() -> None:
    low, high = slice_of("low", endpoints(0, 10)), slice_of("high", endpoints(10, 100))
    assert sizes(packed(endpoints(0, 105), low, high)) == [("high", 95)]


def test_what_would_be_deleted_is_used_again() -> None:
    assert sizes(packed(endpoints(50, 52), slice_of("a", endpoints(0, 2)))) == [("a", 2)]


def test_an_address_in_two_slices_stays_in_one() -> None:
    held = endpoints(0, 3)
    result = packed(held, slice_of("a", held), slice_of("b", held))
    assert ([each.metadata.name for each in result.kept], [each.metadata.name for each in result.delete]) == (["a"], ["b"])


def test_other_labels_have_to_be_written() -> None:
    held = endpoints(0, 3)
    assert sizes(packed(held, slice_of("a", held), outdated=["a"])) == [("a", 3)]


def test_without_endpoints_there_is_one_empty_slice() -> None:
    result = with_placeholder(packed([]), "IPv4", outdated=frozenset())
    assert sizes(result) == [("new", 0)]
    result = with_placeholder(packed([], slice_of("a", endpoints(0, 3))), "IPv4", outdated=frozenset())
    assert (sizes(result), result.delete) == ([("a", 0)], ())
    result = with_placeholder(packed([], slice_of("a", [])), "IPv4", outdated=frozenset())
    assert (result.write, result.delete) == ((), ())
