"""Writing of the audit pack into a folder."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from phiscan.errors import ConfigError, InputError, origin
from phiscan.language import SOURCE, using
from phiscan.report.export import files_csv, report_json, table_csv
from phiscan.report.gather import Report
from phiscan.report.rendering.charts import alone
from phiscan.report.rendering.html import plots, render
from phiscan.report.rendering.pdf import render_pdf
from phiscan.report.rendering.tables import tables

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
        return {**pages, **_data_files(report)}


def _data_files(report: Report) -> dict[str, str]:
    data = report.data
    made = tables(data)
    return {
        "report.json": report_json(data),
        "files.csv": files_csv(report.files, report.names),
        **{f"tables/{name}.csv": table_csv(table) for name, table in made.items()},
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
        message = f"{folder}: the report cannot be written: {error.strerror}"
        raise InputError(message) from None
    return tuple(written)
