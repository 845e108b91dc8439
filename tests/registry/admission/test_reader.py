"""What admission reads is what the store shows, however often it asks."""

from __future__ import annotations

from collections.abc import Sequence

from setpoint.kit.clock import VirtualClock
from setpoint.registry.admission.reader import StoreReader
from setpoint.storage.backends.memory import memory_store
from setpoint.storage.protocol import Encode, Encoded


async def test_lists_follow_every_write() -> None:
    store = memory_store(VirtualClock())
    await store.open()
    reader = StoreReader(store)

    async def names() -> Sequence[str]:
        return [quota["name"] for quota in await reader.list("resourcequotas", "a")]

    assert await names() == []
    await store.create("resourcequotas/b/other", _named("other"))
    assert await names() == []
    for number in range(40):  # few are kept, many are not
        await store.create(f"resourcequotas/a/{number:02}", _named(str(number)))
        assert await names() == [str(each) for each in range(number + 1)]
    await store.update("resourcequotas/a/00", _named("new"))
    for number in range(39, 0, -1):
        await store.delete(f"resourcequotas/a/{number:02}")
        assert await names() == ["new", *(str(each) for each in range(1, number))]
    await store.close()


def _named(name: str) -> Encode:
    return lambda _: Encoded(b'{"name":"%b"}' % name.encode())
