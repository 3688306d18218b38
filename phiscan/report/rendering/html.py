"""The report as one self-contained HTML page: styles and charts inline, no script, nothing loaded."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from importlib import resources
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from phiscan.language import current, install, lazy_pgettext
from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure
from phiscan.metrics.remaining import ASSUMPTION
from phiscan.report import words
from phiscan.report.gather import ReportData
from phiscan.report.rendering import charts
from phiscan.report.rendering.charts import named_bars, precision_recall_plot, stacked
from phiscan.report.rendering.tables import Cell, Column, Table, tables
from phiscan.report.sections.missed import meaning
from phiscan.report.sections.screened import Estimate

PARTS = (
    ("summary", _("At a glance")),
    ("found", _("What was found")),
    ("top", _("Referred files")),
    ("change", lazy_pgettext("noun", "Change")),
    ("incidents", _("Incidents")),
    ("coverage", _("Coverage")),
    ("funnel", _("From share to PHI")),
    ("open", _("Not yet reviewed")),
    ("decisions", _("Decisions")),
    ("oversight", _("Reveals and log")),
    ("limits", _("Limits")),
    ("proof", _("Versions and proof")),
    ("appendix", _("Appendix: statistics")),
    ("missed", _("How much was missed")),
    ("screened", _("How good the screen is")),
    ("detectors", _("By detector")),
    ("ranking", _("How well the order works")),
    ("agreement", _("Agreement")),
    ("spans", _("Spans and topics")),
)
"""The parts of the page in their order: anchor and heading, for the table of contents."""
_MAIN_BEGINS, _MAIN_ENDS = '<main id="main">', "</main>"
# Class names that a page around the report may style differently.
_IN_ANOTHER_PAGE = """
.bar { position: static; display: block; padding: 0; border: 0; background: none; box-shadow: none; }
.bar { min-height: 0; } .head, h2 { display: block; } .stack { gap: 0; }
.scroll { margin: 1.1rem 0 1.3rem; padding: 0; }
"""
_NONE = Markup('<span class="none" title="{}">&ndash;</span>')
VERDICTS = {"phi": _("PHI"), "not_phi": _("not PHI"), "unsure": _("unsure")}


def render(data: ReportData) -> str:
    """Return the page.

    Every number is in a ``data`` element with its unrounded value; the same value is in report.json.
    """
    return rendered(
        "report.html.j2",
        r=data,
        parts=PARTS,
        tables=tables(data),
        plots=plots(data),
        charts=charts,
        largest=largest,
        meaning=meaning,
        assumption=ASSUMPTION,
        reasons=words.REASONS,
        detector_labels=words.DETECTORS,
        waiting_for_ocr=words.waiting_for_ocr,
    )


def rendered(template: str, **shown: Any) -> str:
    """Return a page of a template in the current language, with the filters of reports."""
    environment = Environment(
        loader=PackageLoader("phiscan.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    install(environment)
    environment.filters.update(
        count=count,
        share=share,
        number=number,
        moment=moment,
        cell=cell,
        figure=figure,
        ratio_figure=ratio_figure,
        estimated=estimated,
        formula=words.formula,
        size=words.size,
        duration=words.duration,
        plain=words.plain,
        as_share=words.share,
    )
    return environment.get_template(template).render(language=current(), **shown)


def render_main(data: ReportData) -> str:
    """Return the content of the page without head, title and contents, to embed in another page."""
    _, _, rest = render(data).partition(_MAIN_BEGINS)
    content, _, _ = rest.rpartition(_MAIN_ENDS)
    return content


def report_css() -> str:
    """Return the styles of the report for the content inside an element of the class ``report``."""
    css = resources.files("phiscan.report").joinpath("templates", "report.css").read_text(encoding="utf-8")
    return f".report {{\n{css.replace(':root', '&')}\n{_IN_ANOTHER_PAGE}}}\n"


def plots(data: ReportData) -> Mapping[str, Markup]:
    """Return the pictures that are also written as files, by name."""
    first = data.summary
    return {
        "outcomes": stacked(first.outcomes, _("What became of the files")),
        "exposures": named_bars(first.exposures, _("Who can read what is PHI or undecided")),
        "places": named_bars(
            first.places,
            _("PHI or undecided by folder")
            if first.places_are == "folder"
            else _("PHI or undecided by format"),
        ),
        "coverage": charts.coverage_bar(data.coverage),
        "characteristics": charts.interval_plot(
            (data.overall, *data.characteristics), _("TDP and FRP of each characteristic, 95% intervals")
        ),
        "detectors": charts.interval_plot(data.detectors, _("TDP and FRP of each detector, 95% intervals")),
        **{
            f"precision_recall_{ranked.score}": precision_recall_plot(ranked)
            for ranked in data.rankings
            if ranked.curve
        },
    }


def largest(table: Table) -> int:
    """Return the largest number in the column that a table draws as bars."""
    index = [column.key for column in table.columns].index(table.bar)
    numbers = (row[index] for row in table.rows)
    return max((value for value in numbers if isinstance(value, int)), default=0)


def _unknown(reason: str | None) -> Markup:
    return Markup('<span class="none">{}</span>').format(_("not known: {reason}", reason=reason or ""))


def _data(value: Any, write: Callable[[Any], str]) -> Markup:
    if value is None:
        return _NONE.format(_("does not exist"))
    return Markup('<data value="{!r}">{}</data>').format(value, write(value))


# A count, a share in [0, 1] as a percentage, an estimated number, a ratio: each as an element with its value.
count = partial(_data, write=words.count)
share = partial(_data, write=words.share)
number = partial(_data, write=words.number)
ratio = partial(_data, write=words.ratio)


def estimated(value: Estimate) -> Markup:
    """Format an estimate with its interval, or the reason why it does not exist."""
    if value.value is None:
        return _unknown(value.reason)
    write = {"share": share, "number": number, "ratio": ratio}[value.unit]
    shown = write(value.value) + _interval(value.ci95, write)
    why = Markup(' <span class="ci">({})</span>').format(_("no interval: {reason}", reason=value.reason))
    return shown + why if value.reason else shown


def moment(value: datetime) -> Markup:
    """Format a time in UTC."""
    return Markup('<time datetime="{}">{}</time>').format(value.isoformat(), words.moment(value))


def figure(value: Figure) -> Markup:
    """Format a share with its interval, or the reason why it does not exist."""
    if value.value is None:
        return _NONE.format(value.reason or "")
    return share(value.value) + _interval(value.ci95, share)


def ratio_figure(value: Figure) -> Markup:
    """Format a ratio with its interval, or the reason why it does not exist."""
    if value.value is None:
        return _unknown(value.reason)
    return ratio(value.value) + _interval(value.ci95, ratio)


def cell(value: Cell, column: Column) -> Markup:  # noqa: PLR0911 (one line per kind)
    """Format one cell of a table."""
    if value is None:
        is_open = column.kind == "verdict"
        return Markup('<span class="none">{}</span>').format(_("open")) if is_open else number(None)
    if isinstance(value, Figure):
        if column.kind == "figure" or value.value is None:
            return figure(value)
        return number(value.value) + _interval(value.ci95, number)
    if isinstance(value, Total):
        return number(value.total) + _interval(value.ci95, number)
    if isinstance(value, tuple):
        low, high = value
        return share(low) if low == high else Markup("{} {} {}").format(share(low), _("to"), share(high))
    if isinstance(value, datetime):
        return moment(value)
    if isinstance(value, str):
        if column.kind == "verdict":
            return Markup('<span class="v v-{}">{}</span>').format(value, VERDICTS[value])
        if column.kind == "flag":
            return Markup('<span class="flag-{}">{}</span>').format(str.__str__(value), words.plain(value))
        return Markup('<span class="{}">{}</span>').format(column.kind, value)
    return count(value) if isinstance(value, int) else number(value)


def _interval(ends: tuple[float, float] | None, write: Callable[[float], Markup]) -> Markup:
    if ends is None:
        return Markup("")
    low, high = (write(end) for end in ends)
    return Markup(' <span class="ci">{}&ndash;{}</span>').format(low, high)
