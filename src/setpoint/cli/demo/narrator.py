"""What a spectator reads: numbered steps, and lines with the seconds since the start."""

from __future__ import annotations

import time

from rich.console import Console
from rich.text import Text


class Narrator:
    """Prints; knows nothing of what it tells."""

    def __init__(self) -> None:
        self._console = Console(highlight=False, soft_wrap=True)
        self._start = time.monotonic()
        self._step = 0

    def step(self, title: str) -> None:
        self._step += 1
        self._console.print()
        self._console.print(Text(f"{self._step}. {title}", style="bold"))

    def say(self, line: str, style: str = "") -> None:
        stamp = f"{time.monotonic() - self._start:6.2f} s  "
        self._console.print(Text.assemble((stamp, "dim"), (line, style)))

    def good(self, line: str) -> None:
        self.say(f"✓ {line}", "green")

    def command(self, line: str) -> None:
        """A command that the reader could type to the same effect."""
        self.say(f"$ {line}", "cyan")
