"""What each overload does, by its id (the ids are those of `declarations`).

An implementation gets values of the declared types and gives back a value; what cannot be done is a CelError with cel-go's
message.
Operators whose arguments are not all evaluated (`&&`, `||`, `?:`) are the compiler's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

Implementation = Callable[..., Any]


@cache
def implementations() -> dict[str, Implementation]:
    """Every overload's implementation."""
    from setpoint.api.machinery.cel.functions import (
        authorization,
        collections,
        conversions,
        formats,
        lists,
        network,
        numbers,
        operators,
        strings,
        times,
        versions,
    )

    modules = (operators, conversions, times, strings, collections, lists, network, numbers, versions, formats, authorization)
    return {overload: function for module in modules for overload, function in module.OVERLOADS.items()}
