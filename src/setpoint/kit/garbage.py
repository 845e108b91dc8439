"""When the garbage collector works: not while a process starts, and seldom afterwards."""

from __future__ import annotations

import gc


def settle() -> None:
    """A start is over: what it made lives for ever and is kept out of collections, which are rarer than the default's.

    A collection now would find next to nothing and hold the loop for a tenth of a second.
    """
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)
    gc.enable()
