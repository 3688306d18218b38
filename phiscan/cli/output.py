"""Results on standard output, messages on standard error."""

from __future__ import annotations

import getpass
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import wraps
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import IO, Any

import click

from phiscan.config import Config, load_config
from phiscan.errors import ConfigError, InputError
from phiscan.patients.manifest import read_manifest
from phiscan.patients.settings import PatientSettings
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


def answers_alone(command: Callable[..., Answer]) -> Callable[..., None]:
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


def answers(command: Callable[..., Answer]) -> Callable[..., None]:
    """Do the same with a command whose first argument is the path of --config."""
    return answers_alone(click.pass_obj(command))


def lines_of(value: Mapping[str, Any], indent: str = "") -> list[str]:
    """Return one line per figure of an object; a group of figures that fits on a line is one line.

    >>> lines_of({"n": 3, "rates": {"precision": 0.5, "recall": None}, "ci95": [0.25, 12.3456]})
    ['n: 3', 'rates: precision 0.5, recall -', 'ci95: 0.25 to 12.35']
    """
    out = []
    for name, item in value.items():
        for part in item if _is_nested(item) and not isinstance(item, Mapping) else [item]:
            if not isinstance(part, Mapping):
                out.append(f"{indent}{name}: {_short(part)}")
            elif any(map(_is_nested, part.values())):
                out += [f"{indent}{name}:", *lines_of(part, indent + "  ")]
            else:
                inside = ", ".join(f"{key} {_short(inner)}" for key, inner in part.items())
                out.append(f"{indent}{name}: {inside}")
    return out


def _is_nested(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list | tuple) and any(map(_is_nested, value)))


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}" if abs(value) <= 1 else f"{value:.2f}"
    if isinstance(value, list | tuple):
        return " to ".join(map(_short, value)) if len(value) == 2 else str(len(value))  # noqa: PLR2004 (an interval)
    return "-" if value is None else str(value)


@contextmanager
def file_errors(name: str | Path, done: str = "read") -> Iterator[None]:
    """Raise the errors of a file that is read or written as one line that names it.

    Raises:
        InputError: it cannot be read or written, or is not UTF-8.
    """
    try:
        yield
    except OSError as error:
        raise InputError(name, f"cannot be {done}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise InputError(name, "expected UTF-8") from None


def read_lines(file: str) -> Iterator[tuple[str, str]]:
    """Yield the lines of a UTF-8 file that are not blank, each with its place; "-" = standard input.

    Raises:
        InputError: names the file and the line; never quotes it.
    """
    shown = "standard input" if file == "-" else file
    with file_errors(shown):
        stream: IO[bytes] = sys.stdin.buffer if file == "-" else Path(file).open("rb")  # noqa: SIM115 (closed below)
    with nullcontext(stream) if file == "-" else stream as lines:
        for number, raw in enumerate(lines, start=1):
            where = f"{shown}: line {number}"
            try:
                line = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise InputError(where, "expected UTF-8") from None
            if line.strip():
                yield where, line


def config_of(path: str | None) -> Config:
    """Read the configuration at the path of ``--config``; without one, where it is searched for."""
    return load_config(Path(path) if path else None)


def cluster_module(name: str) -> ModuleType:
    """Import a module of the cluster, whose extra may not be installed.

    Raises:
        ConfigError: it is not; the message says how to install it.
    """
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        message = f"a cluster needs its extra (pip install 'phiscan[cluster]'): no module {error.name}"
        raise ConfigError(message) from None


by_option = click.option("--by", default="", help="Who does this; default: the system's name of the user.")
unblind_option = click.option(
    "--unblind",
    metavar="NAME",
    help="Also show first verdicts that await a blind second one; NAME is recorded in the audit log."
    " Show it to nobody who reviews.",
)


def actor_of(by: str) -> str:
    """Return who acts: anyone who can run a command has access to the database anyway."""
    try:
        return by.strip() or f"{getpass.getuser()} (command line)"
    except (OSError, KeyError):  # a user id without a name
        return "command line"


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read.

    Raises:
        InputError: it cannot be written.
    """
    with file_errors(path, "written"):
        path.write_text(text, encoding="utf-8")
        path.chmod(0o600)


def warn_of_age(settings: PatientSettings) -> None:
    """Warn on standard error that a patient index is older than its limit."""
    if settings.is_built and (age := read_manifest(settings.folder).age_days) > settings.max_age_days:
        print_message(
            f"the patient index is {age} days old (limit {settings.max_age_days}); `phiscan patients update`",
            level="warning",
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
