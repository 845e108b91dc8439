"""When the garbage collector works: not while a process starts, and seldom afterwards."""

from __future__ import annotations

import gc


def settle() -> None:
    """A start is over: what it made lives for ever and is kept out of collections, which are rarer than the default's."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()
