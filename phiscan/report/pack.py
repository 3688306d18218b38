"""The audit pack: the report as JSON and CSV, numbers unrounded, and its writing into a folder."""

from __future__ import annotations

import csv
import io
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from phiscan.errors import ConfigError, InputError, origin
from phiscan.language import SOURCE, using
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure
from phiscan.report.gather import Report
from phiscan.report.rendering.charts import alone
from phiscan.report.rendering.html import plots, render
from phiscan.report.rendering.pdf import render_pdf
from phiscan.report.rendering.tables import Cell, Column, Table, tables
from phiscan.report.sections.counts import Names
from phiscan.review.worklist.model import FileRecord
from phiscan.visible import json_text, safe_cell, visible

_PRIVATE = 0o600  # the pack names files of the share
PDF = "report.pdf"


def pack(report: Report, *, language: str = SOURCE) -> Mapping[str, str]:
    """Return the text of every file of the pack except the PDF, by its name in the folder.

    Pages and pictures are in the language; JSON and CSV are English, for programs.
    """
    data = report.data
    with using(language):
        pages = {
            "report.html": render(data),
            **{f"plots/{name}.svg": alone(svg) for name, svg in plots(data).items()},
        }
    with using(SOURCE):
        return {
            **pages,
            "report.json": report_json(data),
            "files.csv": files_csv(report.files, report.names),
            **{f"tables/{name}.csv": table_csv(table) for name, table in tables(data).items()},
        }


def _contents(texts: Mapping[str, str], page: str) -> dict[str, bytes]:
    contents = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    try:
        contents[PDF] = render_pdf(page)
    except ConfigError as error:
        _warn_no_pdf(str(error))
    except Exception as error:  # noqa: BLE001 (the PDF is a copy of the page; nothing else may be lost with it)
        _warn_no_pdf(origin(error))
    return contents


def _warn_no_pdf(why: str) -> None:
    sys.stderr.write(f"{PDF} cannot be made, everything else is: {why}\n")


def write_pack(report: Report, folder: Path, *, language: str = SOURCE) -> tuple[Path, ...]:
    """Write the pack; an existing report is replaced, other files remain.

    If the PDF cannot be made, this is reported on standard error and an earlier PDF is removed.

    Raises:
        InputError: the folder cannot be written.
    """
    return write_files(pack(report, language=language), folder, language=language)


def write_files(texts: Mapping[str, str], folder: Path, *, language: str = SOURCE) -> tuple[Path, ...]:
    """Write texts by their name into a folder, and ``report.html`` also as PDF.

    Raises:
        InputError: the folder cannot be written.
    """
    written = []
    with using(language):
        contents = _contents(texts, texts["report.html"])
    try:
        if PDF not in contents:
            (folder / PDF).unlink(missing_ok=True)
        for name, content in contents.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # Written to a temporary file and renamed, so that a reader never sees an incomplete page.
            draft = path.with_name(f".{path.name}.new")
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
            with os.fdopen(descriptor, "wb") as stream:
                stream.write(content)
            draft.replace(path)
            written.append(path)
    except OSError as error:
        raise InputError(folder, f"the report cannot be written: {error.strerror}") from None
    return tuple(written)


FILE_COLUMNS: Mapping[str, Callable[[FileRecord, Names], Any]] = {
    "file": lambda one, _: one.file_id,
    "root": lambda one, names: names.root(one.root),
    "path": lambda one, names: names.file(one),
    "folder": lambda one, names: names.folder(one),
    "media_type": lambda one, _: visible(one.media_type),
    "outcome": lambda one, _: one.outcome,
    "reason": lambda one, _: one.reason,
    "decision": lambda one, _: one.referral,
    "second_look": lambda one, _: one.second_look,
    "bits": lambda one, _: " ".join(one.vector.names),
    "hamming": lambda one, _: one.hamming,
    "health_score": lambda one, _: one.health_score,
    "people": lambda one, _: one.n_people,
    "findings": lambda one, _: one.n_findings,
    "detectors": lambda one, _: " ".join(name for name, is_phi in one.detectors if is_phi),
    "unread_parts": lambda one, _: sum(not part.is_sampled for part in one.unread),
    "labels": lambda one, _: "; ".join(visible(name or number) for number, name in one.labels),
    "verdict": lambda one, _: one.verdict,
    "reviewer": lambda one, _: visible(one.reviewer),
}
"""The columns of files.csv."""


def as_json(value: Any) -> Any:
    """Convert a value to JSON types: dataclasses to objects, tuples to lists, times to UTC ISO 8601.

    >>> as_json(Figure(0.5, (0.25, 0.75)))
    {'value': 0.5, 'ci95': [0.25, 0.75], 'reason': None}
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: as_json(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): as_json(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(item) for item in value]
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return str(value) if isinstance(value, str) else value


def report_json(data: object) -> str:
    """Return report.json, in the shape of the schema that docs/make_schema.py writes, or a private one.

    Raises:
        ValueError: a number is NaN or infinite.
    """
    return json_text(as_json(data), indent=1) + "\n"


def table_csv(table: Table) -> str:
    """Return a table with all its rows; an estimate takes three columns: value, low, high."""
    header: list[str] = []
    for column in table.columns:
        header += _names(column)
    rows = [
        [text for column, cell in zip(table.columns, row, strict=True) for text in _texts(column, cell)]
        for row in table.rows
    ]
    return _write(header, rows)


def files_csv(files: Sequence[FileRecord], names: Names) -> str:
    """Return every crawled file, one row each."""
    rows = [[_plain(value(one, names)) for value in FILE_COLUMNS.values()] for one in files]
    return _write(list(FILE_COLUMNS), rows)


def _names(column: Column) -> list[str]:
    if column.kind in {"figure", "ratio", "total"}:
        return [column.key, f"{column.key}_low", f"{column.key}_high"]
    return [f"{column.key}_low", f"{column.key}_high"] if column.kind == "share" else [column.key]


def _texts(column: Column, cell: Cell) -> list[str]:
    if isinstance(cell, Figure):
        return [_plain(cell.value), *map(_plain, cell.ci95 or (None, None))]
    if isinstance(cell, Total):
        return [_plain(cell.total), *map(_plain, cell.ci95 or (None, None))]
    if isinstance(cell, tuple):
        return [_plain(end) for end in cell]
    return [_plain(cell)] * len(_names(column))


def _plain(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    return repr(value) if isinstance(value, float) else str(value)


def _write(header: list[str], rows: list[list[str]]) -> str:
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([[safe_cell(cell) for cell in row] for row in rows])
    return stream.getvalue()
