"""The report's charts as SVG: in the page's own colours, so that they follow light, dark and print styles.

Each is also written as a separate file, which contains the colours for print.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup, escape

from phiscan.language import lazy_gettext as _
from phiscan.metrics.ranking import minimum_aucpr, minimum_precision
from phiscan.report.data.estimates import Bar, Elusion, ScoreRanking
from phiscan.report.data.report import Characteristic, Coverage
from phiscan.report.words import count, plain, ratio, share

_SUMMARY_PLOTS_WIDTH = 380
_SUMMARY_PLOTS_ROW = 36
_LONGEST = 44  # characters of a name; the middle of a longer one is omitted, the table contains it whole
_LEAST = 3.0  # minimum width of a bar with files


def stacked(bars: Sequence[Bar], title: str) -> Markup:
    """Draw counts as one stacked bar; its legend names the colours."""
    total = sum(bar.n for bar in bars)
    alternative = ", ".join(f"{count(bar.n)} {bar.name}" for bar in bars) or _("none")
    drawn, start = Markup(), 0.0
    for bar in bars:
        width = 1000 * bar.n / total if total else 0.0
        shown = max(width, _LEAST) if bar.n else 0.0
        drawn += Markup('<rect class="c-{}" x="{}" width="{}" height="24"/>').format(
            bar.kind, f"{min(start, 1000 - shown):.2f}", f"{shown:.2f}"
        )
        start += width
    return Markup(
        '<svg class="stack" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img"'
        ' aria-label="{}: {}">{}</svg>'
    ).format(title, alternative, drawn)


def named_bars(bars: Sequence[Bar], title: str) -> Markup:
    """Draw each count as a bar under its name, with the number at the right."""
    largest = max((bar.n for bar in bars), default=1)
    alternative = ", ".join(f"{bar.name} {count(bar.n)}" for bar in bars) or _("none")
    drawn = Markup()
    for row, bar in enumerate(bars):
        y = row * _SUMMARY_PLOTS_ROW
        wide = max(_SUMMARY_PLOTS_WIDTH * bar.n / largest, _LEAST)
        drawn += Markup(
            '<text x="0" y="{text}">{}</text><text x="{all}" y="{text}" text-anchor="end">{}</text>'
            '<rect class="c-skipped" x="0" y="{y}" width="{all}" height="8"/>'
            '<rect class="c-{}" x="0" y="{y}" width="{:.1f}" height="8"/>'
        ).format(
            *(shortened(bar.name), count(bar.n), bar.kind, wide),
            text=y + 13,
            y=y + 19,
            all=_SUMMARY_PLOTS_WIDTH,
        )
    height = max(_SUMMARY_PLOTS_ROW * len(bars), _SUMMARY_PLOTS_ROW)
    return Markup('<svg class="bars" viewBox="0 0 {} {}" role="img" aria-label="{}: {}">{}</svg>').format(
        _SUMMARY_PLOTS_WIDTH, height, title, alternative, drawn
    )


def shortened(name: str) -> str:
    """Omit the middle of a long name.

    >>> len(shortened("a" * 200))
    44
    """
    if len(name) <= _LONGEST:
        return name
    end = _LONGEST // 2
    return f"{name[: _LONGEST - end - 1]}\N{HORIZONTAL ELLIPSIS}{name[-end:]}"


_LEFT, _TOP, _SIDE = 66, 12, 330
_HEIGHT = 394
_RECTANGLES = 110  # rectangles of the shaded region: the PDF draws no paths
_LEGEND = _LEFT + _SIDE + 30


def precision_recall_plot(ranked: ScoreRanking) -> Markup:
    """Draw the curve of a score over its unachievable region, with the skew in the legend.

    Source: Boyd (2014), recommendations of chapter 3.
    """
    skew = ranked.phi / (ranked.phi + ranked.not_phi)
    drawn = _region(skew) + _axes() + _line("frp", (0.0, skew), (1.0, skew), 1.2)
    for start, end in pairwise([(0.0, ranked.curve[0][1]), *ranked.curve]):
        drawn += _line("tdp", start, end, 2)
    area = next(e.value for e in ranked.estimates if e.name == "Average precision")
    drawn += _legend(
        (
            ("tdp", _("{label}: average precision {value}", label=ranked.label, value=ratio(area or 0.0))),
            ("frp", _("random order: precision {skew}", skew=ratio(skew))),
            ("c-skipped", _("unachievable: area {skew}", skew=ratio(minimum_aucpr(skew)))),
            (
                "",
                _(
                    "{phi} PHI, {not_phi} not PHI: skew {skew}",
                    phi=count(ranked.phi),
                    not_phi=count(ranked.not_phi),
                    skew=ratio(skew),
                ),
            ),
        )
    )
    title = _("Precision and recall of the decided files: {label}", label=ranked.label)
    return _plot(_HEIGHT, title, drawn)


def _plot(height: int, title: str, drawn: Markup) -> Markup:
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>'
    ).format(_WIDTH, height, title, title, drawn)


def _region(skew: float) -> Markup:
    drawn = Markup()
    width = _SIDE / _RECTANGLES
    for strip in range(_RECTANGLES):
        tall = _SIDE * minimum_precision((strip + 0.5) / _RECTANGLES, skew)
        # A little wider than a strip, so that no gap shows between strips.
        drawn += Markup(
            '<rect class="c-skipped" x="{:.2f}" y="{:.2f}" width="{:.2f}" height="{:.2f}"/>'
        ).format(
            _LEFT + strip * width, _TOP + _SIDE - tall, width + (0.3 if strip < _RECTANGLES - 1 else 0), tall
        )
    return drawn


def _axes() -> Markup:
    drawn = Markup()
    for step in range(6):
        value = step / 5
        x, y = _x_position(value, value)
        drawn += _line("axis", (value, 0.0), (value, 1.0), 1) + _line("axis", (0.0, value), (1.0, value), 1)
        drawn += _words(x, _TOP + _SIDE + 18, share(value), "middle")
        drawn += _words(_LEFT - 8, y + 4, share(value), "end")
    drawn += _words(_LEFT + _SIDE / 2, _TOP + _SIDE + 38, _("recall, of the decided PHI files"), "middle")
    return drawn + _words(_LEGEND, _TOP + 10, _("precision, of the files reviewed so far"), "start")


def _legend(entries: tuple[tuple[str, str], ...]) -> Markup:
    drawn = Markup()
    for row, (name, text) in enumerate(entries):
        y = _TOP + 44 + row * 26
        if name:
            drawn += Markup('<rect class="{}" x="{}" y="{}" width="14" height="8"/>').format(
                name, _LEGEND, y - 8
            )
        drawn += Markup('<text x="{}" y="{}">{}</text>').format(_LEGEND + (22 if name else 0), y, text)
    return drawn


def _x_position(recall: float, precision: float) -> tuple[float, float]:
    return _LEFT + _SIDE * recall, _TOP + _SIDE * (1 - precision)


def _line(name: str, start: tuple[float, float], end: tuple[float, float], thick: float) -> Markup:
    (x1, y1), (x2, y2) = _x_position(*start), _x_position(*end)
    return Markup(
        '<line class="{}" x1="{:.2f}" y1="{:.2f}" x2="{:.2f}" y2="{:.2f}" stroke-width="{}"/>'
    ).format(name, x1, y1, x2, y2, thick)


def _words(x: float, y: float, text: str, anchor: str) -> Markup:
    return Markup('<text class="muted" x="{:.1f}" y="{:.1f}" text-anchor="{}">{}</text>').format(
        x, y, anchor, text
    )


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
    skipped, failed = sum(coverage.skipped.values()), sum(coverage.failed.values())
    numbers = {"screened": coverage.screened, "unchanged": coverage.unchanged}
    numbers |= {"skipped": skipped, "failed": failed}
    return stacked([Bar(plain(name), name, n) for name, n in numbers.items()], _("Crawled files"))


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
            at, most, low, high = (_x(end, top) for end in (figure.value, final.high, *figure.ci95))
            drawn += Markup(
                '<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{y}" y2="{y}" stroke-width="6"/>'
                '<line class="{}" x1="{:.1f}" x2="{:.1f}" y1="{y}" y2="{y}" stroke-width="1.6"/>'
                '<circle class="{}" cx="{:.1f}" cy="{y}" r="3.4"/>'
            ).format(pale, at, most, name, low, high, name, at, y=y + dy)
    return _plot(height, title, drawn)


def _axis_end(shown: Sequence[Characteristic]) -> float:
    """Return a round end of the axis beyond all drawn values."""
    pairs = [one for c in shown for one in ((c.tdp, c.final_tdp), (c.frp, c.final_frp))]
    ends = [end for figure, final in pairs for end in (*(figure.ci95 or ()), final.high or 0.0)]
    round_ends = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.8, 1.0)
    return next(end for end in round_ends if max(ends, default=1.0) <= end or end == 1)


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
    """Draw the reviewed share of the random sample."""
    words = _(
        "{reviewed} of {drawn} drawn files reviewed",
        reviewed=count(elusion.reviewed),
        drawn=count(elusion.drawn),
    )
    done = 1000 * elusion.reviewed / elusion.drawn if elusion.drawn else 0
    return Markup(
        '<svg class="stack" viewBox="0 0 1000 24" preserveAspectRatio="none" role="img" aria-label="{}">'
        '<rect class="c-skipped" width="1000" height="24"/>'
        '<rect class="c-screened" width="{}" height="24"/></svg>'
    ).format(escape(words), f"{done:.1f}")
