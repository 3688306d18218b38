"""Structured logs on standard error: one JSON object per line for machines, or plain lines for people."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

import structlog

FORMATS = ("console", "json")


def configure(log_format: str) -> None:
    """Configure the logs of this process; exceptions are logged by their type, without their message."""
    renderer: Any = (
        structlog.processors.JSONRenderer(ensure_ascii=True)  # no terminal control characters
        if log_format == "json"
        else structlog.dev.ConsoleRenderer(colors=False)
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _name_exception,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        # Standard error is looked up for each message, since the one at the start may be closed by then.
        logger_factory=lambda *_args: structlog.PrintLogger(sys.stderr),
        cache_logger_on_first_use=False,
    )


def _name_exception(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> Mapping[str, Any]:
    """Replace an exception by its type, since its message may quote a document."""
    if event.pop("exc_info", None):
        kind = sys.exc_info()[0]
        event["exception"] = kind.__name__ if kind else "unknown"
    return event
