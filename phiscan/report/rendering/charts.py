"""The report's charts as SVG: in the page's own colours, so that they follow light, dark and print styles.

Each is also written as a separate file, which contains the colours for print.
"""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from phiscan.language import lazy_gettext as _
from phiscan.report.data.missed import Elusion
from phiscan.report.data.report import Characteristic, Coverage
from phiscan.report.words import count, plain, share

_STYLE = (
    "<style>text{font:13px system-ui,sans-serif;fill:#1c2024}.muted{fill:#59616b}.axis{stroke:#c9ced6}"
    ".tdp{stroke:#a3262a;fill:#a3262a}.frp{stroke:#5b6b7d;fill:#5b6b7d}.open{stroke:#a3262a;opacity:.3}"
    ".openf{stroke:#5b6b7d;opacity:.3}.c-screened{fill:#0b6e6e}.c-unchanged{fill:#7db3b0}"
    ".c-skipped{fill:#c9ced6}.c-failed{fill:#b4540a}.c-phi{fill:#a3262a}.c-unread{fill:#5b6b7d}</style>"
)

MAX_DRAWN = 16  # screens in one chart; the table below it lists all
_WIDTH = 760
_LABEL = 210
_ROW = 30


def alone(svg: Markup) -> str:
    """Return a chart as a separate file: with namespace and colours."""
    start, _, rest = str(svg).partition(">")
    return f'{start} xmlns="http://www.w3.org/2000/svg">{_STYLE}{rest}\n'


def bar(value: int, largest: int) -> Markup:
    """Draw a count as a bar in a table cell; it repeats the number and is hidden from screen readers."""
    width = 100 * value / largest if largest else 0
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">'
        '<rect width="{}" height="8"/></svg>'
    ).format(f"{width:.2f}")


def coverage_bar(coverage: Coverage) -> Markup:
    """Draw the outcomes of the crawled files as one stacked bar."""
    parts = (
        ("screened", coverage.screened),
        ("unchanged", coverage.unchanged),
        ("skipped", sum(coverage.skipped.values())),
        ("failed", sum(coverage.failed.values())),
    )
    words = ", ".join(f"{count(n)} {plain(name)}" for name, n in parts)
    drawn, x = Markup(), 0.0
    for name, n in parts:
        width = 1000 * n / coverage.crawled if coverage.crawled else 0.0
        # A category with files remains visible, however small its share.
        shown = max(width, 3.0) if n else 0.0
        drawn += Markup('<rect class="c-{}" x="{}" width="{}" height="24"/>').format(
            name, f"{min(x, 1000 - shown):.2f}", f"{shown:.2f}"
        )
        x += width
    return Markup(
        '<svg class="stack" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img"'
        ' aria-label="{}">{}</svg>'
    ).format(_("Crawled files: {counts}", counts=words), drawn)


def interval_plot(found: Sequence[Characteristic], title: str) -> Markup:
    """Draw TDP and FRP of several screens with their 95% intervals.

    A pale line shows the range of the figure while files are not verified.
    """
    shown = [c for c in found if c.tdp.value is not None][:MAX_DRAWN]
    top = _axis_end(shown)
    height = _ROW * len(shown) + 34
    drawn = _axis(top, height)
    for row, entry in enumerate(shown):
        y = row * _ROW + 18
        drawn += Markup('<text x="{}" y="{}" text-anchor="end">{}</text>').format(
            _LABEL - 10, y + 4, entry.label
        )
        for figure, final, name, pale, dy in (
            (entry.tdp, entry.final_tdp, "tdp", "open", -5),
            (entry.frp, entry.final_frp, "frp", "openf", 6),
        ):
            if figure.value is None or figure.ci95 is None or final.high is None:
                continue
            low, high = (_x(end, top) for end in figure.ci95)
            drawn += Markup(
                '<line class="{}" x1="{}" x2="{}" y1="{y}" y2="{y}" stroke-width="6"/>'
                '<line class="{}" x1="{}" x2="{}" y1="{y}" y2="{y}" stroke-width="1.6"/>'
                '<circle class="{}" cx="{}" cy="{y}" r="3.4"/>'
            ).format(
                pale,
                f"{_x(figure.value, top):.1f}",
                f"{_x(final.high, top):.1f}",
                name,
                f"{low:.1f}",
                f"{high:.1f}",
                name,
                f"{_x(figure.value, top):.1f}",
                y=y + dy,
            )
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>'
    ).format(_WIDTH, height, title, title, drawn)


def _axis_end(shown: Sequence[Characteristic]) -> float:
    """Return a round end of the axis beyond all drawn values."""
    ends = [
        end
        for entry in shown
        for figure, final in ((entry.tdp, entry.final_tdp), (entry.frp, entry.final_frp))
        for end in (*(figure.ci95 or ()), final.high or 0.0)
    ]
    largest = max(ends, default=1.0)
    return next(
        end
        for end in (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
        if largest <= end or end == 1
    )


def _x(value: float, top: float) -> float:
    return _LABEL + (_WIDTH - _LABEL - 30) * min(value, top) / top


def _axis(top: float, height: int) -> Markup:
    drawn = Markup()
    for step in range(6):
        value = top * step / 5
        drawn += Markup(
            '<line class="axis" x1="{x}" x2="{x}" y1="4" y2="{}"/>'
            '<text class="muted" x="{x}" y="{}" text-anchor="middle">{}</text>'
        ).format(height - 24, height - 8, share(value), x=f"{_x(value, top):.1f}")
    return drawn


def sample_bar(elusion: Elusion) -> Markup:
    """Draw the reviewed share of the planned random sample."""
    reviewed = elusion.sample - elusion.open
    words = _(
        "{reviewed} of {planned} planned files reviewed",
        reviewed=count(reviewed),
        planned=count(elusion.planned),
    )
    done = 1000 * min(reviewed, elusion.planned) / elusion.planned if elusion.planned else 0
    return Markup(
        '<svg class="stack" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="c-skipped" width="1000" height="24"/>'
        '<rect class="c-screened" width="{}" height="24"/></svg>'
    ).format(escape(words), f"{done:.1f}")
