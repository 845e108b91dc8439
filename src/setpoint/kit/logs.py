"""Structured logging: one line per event, to standard error, as text for people or as JSON for machines."""

from __future__ import annotations

import logging
import sys
from typing import Any

import structlog


def configure(level: str = "info", *, json: bool = False) -> None:
    """Set up structlog for this process. `level` is debug, info, warning or error."""
    renderer: Any = structlog.processors.JSONRenderer() if json else structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
