"""Results on standard output, messages on standard error."""

from __future__ import annotations

from typing import Any

import click

from phiscan.stopping import say_as_json
from phiscan.visible import json_text, visible


def print_json(value: Any) -> None:
    """Print one JSON object on one line; numbers unrounded.

    Raises:
        ValueError: a number is NaN or infinite; the caller must give null and a reason instead.
    """
    click.echo(json_text(value))


unblind_option = click.option(
    "--unblind",
    metavar="NAME",
    help="Also show first verdicts that await a blind second one; NAME is recorded in the audit log."
    " Show it to nobody who reviews.",
)


class _Log:
    """The output format of messages."""

    form = "console"


def set_log_format(form: str) -> None:
    """Print messages as lines for users (``console``), or as JSON objects (``json``) through structlog."""
    _Log.form = form
    if form == "json":
        from phiscan.monitoring import logs  # noqa: PLC0415 (few commands pay for loading it)

        logs.configure(form)
        say_as_json()


def print_message(message: str, *, level: str = "info") -> None:
    """Print a message on standard error: one line, with control characters of file names escaped."""
    if _Log.form == "json":
        _record(message, level)
    else:
        click.echo(visible(message), err=True)


def log(message: str, **fields: Any) -> None:
    """Write a message for machines only: into the JSON log, otherwise nowhere."""
    if _Log.form == "json":
        _record(message, "info", **fields)


def _record(message: str, level: str, **fields: Any) -> None:
    import structlog  # noqa: PLC0415 (few commands pay for loading it)

    getattr(structlog.get_logger("phiscan"), level)(visible(message), **fields)
