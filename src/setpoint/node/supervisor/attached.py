"""Those who are attached to one container and get copies of its output.

Nothing of it is lost to a slow client: what its pipe does not take at once is held, and until that is gone the container's stream
is not read on, so that at last the container waits (as under containerd). A client that went away is forgotten.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Protocol


class Loop(Protocol):
    """The supervisor's selector. Each descriptor is watched for one thing at a time."""

    def watch(self, descriptor: int, reader: Callable[[int], object], *, writing: bool = False) -> None: ...
    def unwatch(self, descriptor: int) -> None: ...


class _Copy:
    """One stream of one client. `held` is what did not go into its pipe yet."""

    def __init__(self, client: Mapping[str, int], name: str, descriptor: int) -> None:
        self.client = client
        self.name = name
        self.descriptor = descriptor
        self.held = b""
        self.last = False  # the stream has ended: closed as soon as nothing is held


class Attached:
    """`pause(name)` and `resume(name)` stop and go on reading one of the container's streams."""

    def __init__(self, loop: Loop, pause: Callable[[str], None], resume: Callable[[str], None]) -> None:
        self._loop = loop
        self._pause = pause
        self._resume = resume
        self._copies: list[_Copy] = []

    def add(self, client: Mapping[str, int]) -> None:
        """Copy to these descriptors, by the stream's name, from now on; they are closed at the streams' ends."""
        for name, descriptor in client.items():
            copy = _Copy(client, name, descriptor)
            self._copies.append(copy)
            self._await_end(copy)

    def feed(self, name: str, data: bytes) -> None:
        for copy in [copy for copy in self._copies if copy.name == name]:
            if copy.held:  # only at the container's end, when all that is left is read at once
                copy.held += data
            else:
                self._write(copy, data)

    def end(self, name: str) -> None:
        """A stream has ended."""
        for copy in [copy for copy in self._copies if copy.name == name]:
            copy.last = True
            if not copy.held:
                self._forget(copy)

    def _await_end(self, copy: _Copy) -> None:
        # a pipe's writing end is "readable" when its reader went away
        self._loop.watch(copy.descriptor, lambda _: self._gone(copy.client))

    def _write(self, copy: _Copy, data: bytes) -> None:
        try:
            sent = os.write(copy.descriptor, data)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._gone(copy.client)
            return
        waited, copy.held = bool(copy.held), data[sent:]
        if copy.held and not waited:
            self._loop.unwatch(copy.descriptor)
            self._loop.watch(copy.descriptor, lambda _: self._write(copy, copy.held), writing=True)
            self._pause(copy.name)
        elif waited and not copy.held:
            self._caught_up(copy)

    def _caught_up(self, copy: _Copy) -> None:
        if copy.last:
            self._forget(copy)
            return
        self._loop.unwatch(copy.descriptor)
        self._await_end(copy)
        self._go_on(copy.name)

    def _gone(self, client: Mapping[str, int]) -> None:
        for copy in [copy for copy in self._copies if copy.client is client]:
            self._forget(copy)
            self._go_on(copy.name)

    def _go_on(self, name: str) -> None:
        if not any(copy.held for copy in self._copies if copy.name == name):
            self._resume(name)

    def _forget(self, copy: _Copy) -> None:
        self._copies.remove(copy)
        self._loop.unwatch(copy.descriptor)
        os.close(copy.descriptor)
