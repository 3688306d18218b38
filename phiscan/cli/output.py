"""Results on standard output, messages on standard error."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import click

from phiscan.config import Config, load_config
from phiscan.stopping import say_as_json
from phiscan.visible import json_text, visible


def print_json(value: Any) -> None:
    """Print one JSON object on one line; numbers unrounded.

    Raises:
        ValueError: a number is NaN or infinite; the caller must give null and a reason instead.
    """
    click.echo(json_text(value))


Answer = tuple[Any, Iterable[str]] | tuple[Any, Iterable[str], int]
"""An object for --json, the lines for people, and the exit status if it may be another than 0."""


def answers(command: Callable[..., Answer]) -> Callable[..., None]:
    """Add --json to a command that returns an object and its lines for people, and print one of the two."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
    @wraps(command)
    def run(*args: Any, as_json: bool, **given: Any) -> None:
        answer, lines, *status = command(*args, **given)
        if as_json:
            print_json(answer)
        else:
            for line in lines:
                click.echo(line)
        click.get_current_context().exit(*status)

    return run


def config_of(path: str | None) -> Config:
    """Read the configuration at the path of ``--config``; without one, where it is searched for."""
    return load_config(Path(path) if path else None)


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
