"""Lines for the person who started us, on standard output."""

from __future__ import annotations

import sys


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
