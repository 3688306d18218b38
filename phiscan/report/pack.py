"""Writing the audit pack into a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from phiscan.errors import InputError
from phiscan.report.charts import alone
from phiscan.report.export import files_csv, report_json, table_csv
from phiscan.report.gather import Report
from phiscan.report.html import plots, render
from phiscan.report.pdf import render_pdf
from phiscan.report.tables import tables

_PRIVATE = 0o600  # the pack names files of the share


def pack(report: Report) -> Mapping[str, str]:
    """Return the text of every file of the pack, all but the PDF, by its name in the folder."""
    data = report.data
    made = tables(data)
    return {
        "report.html": render(data),
        "report.json": report_json(data),
        "files.csv": files_csv(report.files),
        "elusion-sample.csv": table_csv(made["elusion_sample"]),
        **{f"tables/{name}.csv": table_csv(table) for name, table in made.items()},
        **{f"plots/{name}.svg": alone(svg) for name, svg in plots(data).items()},
    }


def _contents(report: Report) -> dict[str, bytes]:
    texts = pack(report)
    encoded = {name: text.encode("utf-8", "backslashreplace") for name, text in texts.items()}
    return {**encoded, "report.pdf": render_pdf(texts["report.html"])}


def write_pack(report: Report, folder: Path) -> tuple[Path, ...]:
    """Write the pack; a report that is there already is replaced, other files stay.

    Raises:
        InputError: the folder cannot be written.
        ConfigError: the fonts of the PDF are not installed.
    """
    written = []
    try:
        for name, content in _contents(report).items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            # Written beside and moved over, so that a reader never sees half a page.
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
