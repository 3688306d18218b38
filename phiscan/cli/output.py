"""Results on standard output, messages on standard error."""

from __future__ import annotations

import json
from typing import Any

import click

from phiscan.cli.visible import visible


def print_json(value: Any) -> None:
    """Print one JSON object on one line; numbers unrounded.

    Raises:
        ValueError: a number is NaN or infinite; the caller must give null and a reason instead.
    """
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False))


def say(message: str) -> None:
    """Print a message for people on standard error: one line, whatever a file name in it holds."""
    click.echo(visible(message), err=True)
