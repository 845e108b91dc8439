"""How many watchers a write would wake, by resource and namespace."""

from __future__ import annotations

from collections.abc import AsyncIterator

from setpoint.apiserver.request import Request

#: watchers that ask for these are woken by few writes
_NARROW = ("metadata.name=", "spec.nodeName=")


class Watchers:
    """Watchers of one resource: of all namespaces (`""`), and of single ones. `total` is all of them."""

    __slots__ = ("_by_namespace", "total")

    def __init__(self) -> None:
        self.total = 0
        self._by_namespace: dict[str, int] = {}

    def of(self, namespace: str) -> int:
        """How many see a write in `namespace`."""
        everywhere = self._by_namespace.get("", 0)
        return everywhere + self._by_namespace.get(namespace, 0) if namespace else everywhere

    def add(self, namespace: str, number: int) -> None:
        self.total += number
        left = self._by_namespace.get(namespace, 0) + number
        if left:
            self._by_namespace[namespace] = left
        else:
            self._by_namespace.pop(namespace, None)


class Watching:
    """Watchers of all resources."""

    def __init__(self) -> None:
        self._resources: dict[tuple[str, str], Watchers] = {}

    def of(self, group: str, resource: str) -> Watchers:
        found = self._resources.get((group, resource))
        if found is None:
            found = self._resources[group, resource] = Watchers()
        return found

    def forget_unwatched(self) -> None:
        """Strangers may have asked for what is not there."""
        self._resources = {key: watchers for key, watchers in self._resources.items() if watchers.total}

    def add(self, group: str, resource: str, namespace: str, stream: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        """Count a watch until its stream is closed."""
        watchers = self.of(group, resource)
        watchers.add(namespace, 1)
        return _Counted(stream, watchers, namespace)


class _Counted:
    """A stream that is told of when it is closed; what iterates it gets the pieces of the stream itself."""

    __slots__ = ("_namespace", "_stream", "_watchers")

    def __init__(self, stream: AsyncIterator[bytes], watchers: Watchers, namespace: str) -> None:
        self._stream = stream
        self._watchers: Watchers | None = watchers
        self._namespace = namespace

    def __aiter__(self) -> AsyncIterator[bytes]:
        return aiter(self._stream)

    async def __anext__(self) -> bytes:
        return await anext(self._stream)

    async def aclose(self) -> None:
        watchers, self._watchers = self._watchers, None
        if watchers is not None:
            watchers.add(self._namespace, -1)
        if (close := getattr(self._stream, "aclose", None)) is not None:
            await close()


def asks_for_few(request: Request) -> bool:
    """Whether a watch is for one object, or for one node's."""
    return any(word in text for text in request.query.get("fieldSelector") or () for word in _NARROW)
