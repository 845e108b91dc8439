"""Whether a pattern is one of Go's regular expressions, and Go's words if it is not. Source: Go `regexp/syntax`.

RE2's C++ library reads the same language and finds the same faults, in words of its own.
"""

from __future__ import annotations

import functools

_WORDS = {
    "missing ]": "missing closing ]",
    "missing )": "missing closing )",
    "no argument for repetition operator": "missing argument to repetition operator",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid repetition size": "invalid repeat count",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
}


@functools.lru_cache(maxsize=4096)
def complaint(pattern: str) -> str:
    """Go's complaint; nothing if the pattern is good."""
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(pattern, options)
    except re2.error as error:
        first = error.args[0] if error.args else ""
        return f"error parsing regexp: {_go(first.decode() if isinstance(first, bytes) else str(first), pattern)}"
    return ""


def _go(text: str, pattern: str) -> str:
    word, _, shown = text.partition(": ")
    if word == "trailing \\":
        return "trailing backslash at end of expression: ``"
    if shown.startswith(("(?<=", "(?<!")):  # to Go, that begins a group's name
        return f"invalid named capture: `{pattern[pattern.index(shown) :]}`"
    return f"{_WORDS.get(word, word)}: `{shown}`"
