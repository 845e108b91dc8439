"""resourceVersion as reads use it."""

from __future__ import annotations

from setpoint.api.machinery.status import StatusError, bad_request
from setpoint.storage.protocol import Store

#: seconds that a read waits for a version that has not happened yet, as kube-apiserver's cache does
_PATIENCE = 3.0
_DIGITS = 1000  # leading zeros are no fault; more than anybody writes, and Python would not read them


def parse(text: str) -> int:
    """The resourceVersion of a get or watch as a number, 0 for none. One that is no number is an internal error (500)."""
    try:
        return unsigned(text)
    except ValueError as error:
        raise StatusError(500, "", f'resourceVersion: Invalid value: "{text}": {error}') from None


def parse_for_list(text: str) -> int:
    """The resourceVersion of a list, where one that is no number is the client's fault (400)."""
    try:
        return parse(text)
    except StatusError as error:
        raise bad_request(f"invalid resource version: {error.message}") from None


def unsigned(text: str) -> int:
    """A uint64, 0 for an empty text; raises ValueError with what strconv.ParseUint says."""
    if not text:
        return 0
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f'strconv.ParseUint: parsing "{text}": invalid syntax')
    if len(text) > _DIGITS or int(text) >= 1 << 64:
        raise ValueError(f'strconv.ParseUint: parsing "{text}": value out of range')
    return int(text)


async def catch_up(store: Store, revision: int) -> None:
    """Wait until `revision` is there; 504 when it is not after a few seconds."""
    if revision <= store.revision:
        return
    if not await store.wait_for(revision, _PATIENCE):
        raise too_large(revision, store.revision)


def too_large(revision: int, current: int) -> StatusError:
    return StatusError(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {revision}, current: {current}",
        {
            "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
            "retryAfterSeconds": 1,
        },
    )
