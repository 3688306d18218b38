"""``phiscan extract``: the text of files, as the screener sees it."""

from __future__ import annotations

import os
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import config_of, print_json, print_message
from phiscan.config import Config, Limits
from phiscan.errors import ExtractError, InputError
from phiscan.extract import extract as read_document
from phiscan.extract.archives.segments import PART
from phiscan.extract.core.opening import segment_of
from phiscan.model import Document, FailReason, Outcome, SkipReason, SourceFile
from phiscan.pipeline.passwords import read_passwords
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.sandbox.answers import Fault
from phiscan.sandbox.delivered_files import ask_at
from phiscan.sandbox.pool import Sandbox
from phiscan.sandbox.service import program_service
from phiscan.visible import visible

EXIT_UNREAD = 3


class _Worker:
    """The state of a worker process; set by its initializer."""

    limits = Limits()
    passwords: tuple[str, ...] = ()


@click.command(epilog="Example: phiscan extract referral.pdf mail.eml --json")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per file.")
@click.pass_context
def extract(ctx: click.Context, files: tuple[str, ...], as_json: bool) -> None:
    """Print the text of FILES, read in confined worker processes.

    The text goes to standard output and nowhere else. Exit status 3: some file could not be read.
    """
    config = config_of(ctx.obj)
    sources = [source_file(name) for name in files]
    n_failed = 0
    with reading_workers(config, sources) as sandbox:
        for (name, _), answer in sandbox.run(_work, zip(files, sources, strict=True)):
            line = _line(name, answer)
            n_failed += line["outcome"] == Outcome.FAILED
            if as_json:
                print_json(line)
            else:
                _print_text(line)
    ctx.exit(EXIT_UNREAD if n_failed else 0)


@contextmanager
def reading_workers(config: Config, sources: Sequence[SourceFile]) -> Iterator[Sandbox]:
    """Yield workers that are given these files, and in which ``read`` reads them."""
    with FileHandoff([program_service(config.limits)]) as handoff:
        for source in sources:
            handoff.put_local(source)
        start = (config.limits, read_passwords(config), handoff.address)
        n_workers = min(config.n_workers, len(sources))
        with Sandbox(n_workers, config.limits, _start_worker, start) as sandbox:
            yield sandbox


def source_file(name: str) -> SourceFile:
    """Return the metadata of ``name``, symbolic links not followed.

    Raises:
        InputError: there is no such file.
    """
    raw = os.path.abspath(os.fsencode(name))  # noqa: PTH100 (names are bytes)
    try:
        status = os.lstat(raw)
    except OSError as error:
        raise InputError(name, f"expected a file: {error.strerror}") from None
    folder, _, base = raw.rpartition(b"/")
    # With its type, which a crawl has already determined.
    return replace(SourceFile.of(folder or b"/", base, status), mode=status.st_mode)


def _start_worker(limits: Limits, passwords: tuple[str, ...], handoff: str) -> None:
    ask_at(handoff)
    _Worker.limits, _Worker.passwords = limits, passwords


def _work(job: tuple[str, SourceFile]) -> tuple[Document | SkipReason | Fault, float]:
    started = time.perf_counter()
    _, source = job
    skip = _skip_reason(source)
    if skip:
        return skip, time.perf_counter() - started
    return read(source), time.perf_counter() - started


def read(source: SourceFile) -> Document | Fault:
    """Read a file within one of the ``reading_workers``."""
    try:
        return read_document(source, _Worker.limits, _Worker.passwords)
    except ExtractError as error:
        return Fault(FailReason(error.reason), error.detail)


def _skip_reason(source: SourceFile) -> SkipReason | None:
    if stat.S_ISLNK(source.mode):
        return SkipReason.SYMLINK
    if not stat.S_ISREG(source.mode):
        return SkipReason.NOT_REGULAR
    return SkipReason.EMPTY if source.size == 0 else None


def _line(name: str, answer: tuple[Document | SkipReason | Fault, float] | Fault) -> dict[str, Any]:
    """Return the JSON object of the contract for one file."""
    result, seconds = (answer, None) if isinstance(answer, Fault) else answer
    path = os.fsencode(name).decode("utf-8", "backslashreplace")
    line: dict[str, Any] = {"path": path, "media_type": "", "outcome": Outcome.SCREENED, "reason": ""}
    line |= {"detail": "", "text": "", "segments": [], "unread": [], "declared_type": "", "seconds": seconds}
    if isinstance(result, Document):
        line |= {name: getattr(result, name) for name in ("media_type", "text", "declared_type")}
        line["segments"] = [
            {"locator": part.locator, "start": part.start, "end": part.end} for part in result.segments
        ]
        line["unread"] = [
            {"locator": part.locator, "reason": part.reason, "detail": part.detail} for part in result.unread
        ]
        if result.media_type == PART and (segment := segment_of(os.fsencode(name).rpartition(b"/")[2])):
            first = segment.first.decode("utf-8", "backslashreplace")
            line["detail"] = f"a later segment; its text is part of {first}: extract that file"
    elif isinstance(result, SkipReason):
        line.update(outcome=Outcome.SKIPPED, reason=result)
        if result is SkipReason.NOT_REGULAR and Path(name).is_dir():
            line["detail"] = "a folder; `phiscan scan` reads folders"
    else:
        line.update(outcome=Outcome.FAILED, reason=result.reason, detail=result.detail)
    return line


def _for_terminal(text: str) -> str:
    """Return a document's text without terminal escape sequences; for a file or a pipe unchanged."""
    return "\n".join("\t".join(map(visible, row.split("\t"))) for row in text.split("\n"))


def _print_text(line: dict[str, Any]) -> None:
    if line["reason"]:
        detail = f" ({line['detail']})" if line["detail"] else ""
        print_message(f"{line['path']}: {line['outcome']}: {line['reason']}{detail}")
    elif line["detail"]:
        print_message(f"{line['path']}: {line['detail']}")
    elif not line["text"] and not line["unread"]:
        print_message(f"{line['path']}: {line['media_type']}, without any text")
    if line["declared_type"]:
        print_message(f"{line['path']}: is {line['media_type']}, the name promises {line['declared_type']}")
    click.echo(_for_terminal(line["text"]) if sys.stdout.isatty() else line["text"], nl=False)
    for part in line["unread"]:
        detail = f" ({part['detail']})" if part["detail"] else ""
        print_message(f"{line['path']}: {part['locator']}: {part['reason']}{detail}")
