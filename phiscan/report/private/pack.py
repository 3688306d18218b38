"""The pack of a report with differential privacy: page, PDF, JSON and CSV of the noisy figures alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined

from phiscan.errors import InputError
from phiscan.language import SOURCE, current, install, using
from phiscan.language import lazy_gettext as _
from phiscan.report.export import private_json, table_csv
from phiscan.report.pack import PDF, write_files
from phiscan.report.private.release import PrivateData
from phiscan.report.rendering.html import count, moment, number
from phiscan.report.rendering.table import Column, Table

_TABLE = "tables/private.csv"
_NAMES = frozenset({"report.html", "report.json", PDF, "tables", _TABLE})


def private_pack(data: PrivateData) -> Mapping[str, str]:
    """Return the text of every file of the pack except the PDF, by its name in the folder."""
    return {
        "report.html": render_private(data),
        "report.json": private_json(data),
        _TABLE: table_csv(_figures(data)),
    }


def render_private(data: PrivateData) -> str:
    """Return the page; every number is in a ``data`` element with its unrounded value."""
    environment = Environment(
        loader=PackageLoader("phiscan.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    install(environment)
    environment.filters.update(count=count, number=number, moment=moment)
    return environment.get_template("private.html.j2").render(language=current(), r=data)


def check_folder(folder: Path) -> None:
    """Refuse a folder with anything but an earlier private pack, whose files will all be replaced.

    Call it before the release: a full report next to the noisy figures would defeat them.

    Raises:
        InputError: the folder contains other files, or cannot be read.
    """
    try:
        found = {path.relative_to(folder).as_posix() for path in folder.rglob("*")}
        earlier = folder / "report.json"
        if earlier.is_file() and '"spent_epsilon"' not in earlier.read_text("utf-8", "replace"):
            found.add("a full report")
    except OSError as error:
        message = f"{folder}: cannot be read: {error.strerror}"
        raise InputError(message) from None
    if found - _NAMES:
        message = f"{folder}: expected a new or empty folder; what lies there would be published too"
        raise InputError(message)


def write_private_pack(data: PrivateData, folder: Path, *, language: str = SOURCE) -> tuple[Path, ...]:
    """Write the pack.

    Raises:
        InputError: the folder cannot be written.
    """
    texts = private_pack(data)
    with using(language):
        texts = {**texts, "report.html": render_private(data)}
    return write_files(texts, folder, language=language)


def _figures(data: PrivateData) -> Table:
    columns = (
        Column("name", _("Figure")),
        Column("value", _("Released"), "number"),
        Column("noise95", _("Noise, 95% within"), "number"),
        Column("mechanism", _("Noise")),
        Column("epsilon", _("Epsilon"), "number"),
        Column("delta", _("Delta"), "number"),
        Column("warning", _("Warning")),
        Column("reason", _("Remark")),
    )
    rows = [
        (f.name, f.value, f.noise95, f.mechanism, f.epsilon, f.delta, f.warning, f.reason)
        for f in data.figures
    ]
    return Table("private", _("Figures released with differential privacy"), columns, tuple(rows))
