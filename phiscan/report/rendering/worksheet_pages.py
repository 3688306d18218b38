"""The breach worksheets as self-contained pages to print, and their index."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from phiscan.language import current, install
from phiscan.report import words
from phiscan.report.data.report import ReportData

FOLDER = "worksheets"
INDEX = f"{FOLDER}/index.html"
PAGE = re.compile(r"file-[0-9]{1,19}\.html")


def day(value: datetime) -> str:
    """Format a day in UTC.

    >>> day(datetime(2026, 3, 1, 9, 5, tzinfo=UTC))
    '2026-03-01'
    """
    return f"{value.astimezone(UTC):%Y-%m-%d}"


def _format_name(media_type: str) -> str:
    return words.FORMATS.get(media_type, media_type)


def worksheet_pages(data: ReportData) -> Mapping[str, str]:
    """Return the page of each worksheet and the index, by name in the pack."""
    loader = PackageLoader("phiscan.report", "templates")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined)
    install(environment)
    environment.filters.update(
        moment=words.moment, day=day, size=words.size, format_name=_format_name, plain=words.plain
    )
    css = Markup(loader.get_source(environment, "worksheet.css")[0])  # noqa: S704 (our own style sheet)
    page = environment.get_template("worksheet.html.j2")
    index = environment.get_template("worksheets.html.j2")
    return {
        INDEX: index.render(
            language=current(), s=data.scope, sheets=data.worksheets, affected=data.affected, css=css
        ),
        **{
            sheet.page: page.render(language=current(), s=data.scope, w=sheet, duties=data.duties, css=css)
            for sheet in data.worksheets
        },
    }
