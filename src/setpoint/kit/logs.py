"""Structured logging: one line per event, to standard error, as text for people or as JSON for machines.

`get_logger(name)` gives a logger whose methods take the event and its facts: `log.warning("a part died", part="node-1")`.
structlog writes the lines, but is imported only when the first line is written: a quiet start does not pay for it.
"""

from __future__ import annotations

import logging
import sys
from typing import Any

from msgspec import Struct


class _Settings(Struct):
    level: int = logging.WARNING
    json: bool = False
    ready: bool = False


_settings = _Settings()


def configure(level: str = "info", *, json: bool = False) -> None:
    """Choose what this process logs. `level` is debug, info, warning or error; raises KeyError for another word."""
    _settings.level = logging.getLevelNamesMapping()[level.upper()]
    _settings.json = json
    _settings.ready = False


class Logger:
    """Writes events of one part of the system; below the chosen level a call costs one comparison."""

    __slots__ = ("_name",)

    def __init__(self, name: str) -> None:
        self._name = name

    def debug(self, event: str, **facts: Any) -> None:
        self._write(logging.DEBUG, event, facts)

    def info(self, event: str, **facts: Any) -> None:
        self._write(logging.INFO, event, facts)

    def warning(self, event: str, **facts: Any) -> None:
        self._write(logging.WARNING, event, facts)

    def error(self, event: str, **facts: Any) -> None:
        self._write(logging.ERROR, event, facts)

    def exception(self, event: str, **facts: Any) -> None:
        """An error with the traceback of the exception that is being handled."""
        self._write(logging.ERROR, event, {"exc_info": True, **facts})

    def _write(self, level: int, event: str, facts: dict[str, Any]) -> None:
        if level >= _settings.level:
            _structlog(self._name).log(level, event, **facts)


def get_logger(name: str) -> Logger:
    """The logger of a part: `apiserver.http`."""
    return Logger(name)


def _structlog(name: str) -> Any:
    import structlog

    if not _settings.ready:
        renderer: Any = structlog.processors.JSONRenderer() if _settings.json else _for_people(structlog)
        structlog.configure(
            processors=[
                structlog.processors.add_log_level,
                structlog.processors.TimeStamper(fmt="iso", utc=True),
                structlog.processors.format_exc_info,
                renderer,
            ],
            wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG),
            logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        )
        _settings.ready = True
    return structlog.get_logger().bind(part=name)


def _for_people(structlog: Any) -> Any:
    return structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
