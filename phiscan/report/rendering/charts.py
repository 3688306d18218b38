"""The report's charts as SVG: in the page's own colours, so that they follow light, dark and print styles.

Each is also written as a separate file, which contains the colours for print.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from markupsafe import Markup

from phiscan.language import lazy_gettext as _
from phiscan.metrics.ranking import minimum_aucpr, minimum_precision
from phiscan.report.sections.counts import Coverage
from phiscan.report.sections.screened import Characteristic, Elusion, ScoreRanking
from phiscan.report.summary import Bar
from phiscan.report.words import count, plain, ratio, share

_SUMMARY_PLOTS_WIDTH = 380
_SUMMARY_PLOTS_ROW = 36
_LONGEST = 44  # characters of a name; the middle of a longer one is omitted, the table contains it whole
_LEAST = 3.0  # minimum width of a bar with files


def _tag(name: str, content: str = "", /, **attributes: object) -> Markup:
    """Return an element; a final underscore of an attribute is left out, another one is a hyphen."""
    drawn = Markup().join(
        Markup(' {}="{}"').format(one.rstrip("_").replace("_", "-"), value)
        for one, value in attributes.items()
    )
    if not content and name != "svg":
        return Markup("<{}{}/>").format(name, drawn)
    return Markup("<{}{}>{}</{}>").format(name, drawn, content, name)


def _picture(kind: str, size: tuple[int, int], label: str, drawn: Markup, **more: str) -> Markup:
    width, height = size
    box = {"class_": kind, "viewBox": f"0 0 {width} {height}", **more}
    return _tag("svg", drawn, **box, role="img", aria_label=label)


def stacked(bars: Sequence[Bar], title: str) -> Markup:
    """Draw counts as one stacked bar; its legend names the colours."""
    total = sum(bar.n for bar in bars)
    alternative = ", ".join(f"{count(bar.n)} {bar.name}" for bar in bars) or _("none")
    drawn, start = Markup(), 0.0
    for bar in bars:
        width = 1000 * bar.n / total if total else 0.0
        shown = max(width, _LEAST) if bar.n else 0.0
        x = f"{min(start, 1000 - shown):.2f}"
        drawn += _tag("rect", class_=f"c-{bar.kind}", x=x, width=f"{shown:.2f}", height=24)
        start += width
    return _stack(f"{title}: {alternative}", drawn)


def _stack(label: str, drawn: Markup) -> Markup:
    return _picture("stack", (1000, 24), label, drawn, preserveAspectRatio="none")


def named_bars(bars: Sequence[Bar], title: str) -> Markup:
    """Draw each count as a bar under its name, with the number at the right."""
    largest = max((bar.n for bar in bars), default=1)
    alternative = ", ".join(f"{bar.name} {count(bar.n)}" for bar in bars) or _("none")
    drawn, whole = Markup(), _SUMMARY_PLOTS_WIDTH
    for row, bar in enumerate(bars):
        y = row * _SUMMARY_PLOTS_ROW
        drawn += _tag("text", shortened(bar.name), x=0, y=y + 13)
        drawn += _tag("text", count(bar.n), x=whole, y=y + 13, text_anchor="end")
        wide = f"{max(whole * bar.n / largest, _LEAST):.1f}"
        for kind, width in (("skipped", whole), (bar.kind, wide)):
            drawn += _tag("rect", class_=f"c-{kind}", x=0, y=y + 19, width=width, height=8)
    height = max(_SUMMARY_PLOTS_ROW * len(bars), _SUMMARY_PLOTS_ROW)
    return _picture("bars", (whole, height), f"{title}: {alternative}", drawn)


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
    share_phi = ranked.phi / (ranked.phi + ranked.not_phi)
    skew = ratio(share_phi)
    drawn = _region(share_phi) + _axes() + _line("frp", (0.0, share_phi), (1.0, share_phi), 1.2)
    for start, end in pairwise([(0.0, ranked.curve[0][1]), *ranked.curve]):
        drawn += _line("tdp", start, end, 2)
    area = next(e.value for e in ranked.estimates if e.name == "Average precision")
    counts = {"phi": count(ranked.phi), "not_phi": count(ranked.not_phi)}
    for row, (name, text) in enumerate(
        (
            ("tdp", _("{label}: average precision {value}", label=ranked.label, value=ratio(area or 0.0))),
            ("frp", _("random order: precision {skew}", skew=skew)),
            ("c-skipped", _("unachievable: area {skew}", skew=ratio(minimum_aucpr(share_phi)))),
            ("", _("{phi} PHI, {not_phi} not PHI: skew {skew}", **counts, skew=skew)),
        )
    ):
        y = _TOP + 44 + row * 26
        if name:
            drawn += _tag("rect", class_=name, x=_LEGEND, y=y - 8, width=14, height=8)
        drawn += _tag("text", text, x=_LEGEND + (22 if name else 0), y=y)
    title = _("Precision and recall of the decided files: {label}", label=ranked.label)
    return _plot(_HEIGHT, title, drawn)


def _plot(height: int, title: str, drawn: Markup) -> Markup:
    return _picture("plot", (_WIDTH, height), title, _tag("title", title) + drawn)


def _region(skew: float) -> Markup:
    drawn, width = Markup(), _SIDE / _RECTANGLES
    for strip in range(_RECTANGLES):
        tall = _SIDE * minimum_precision((strip + 0.5) / _RECTANGLES, skew)
        # A little wider than a strip, so that no gap shows between strips.
        wide = width + (0.3 if strip < _RECTANGLES - 1 else 0)
        places = {"x": _LEFT + strip * width, "y": _TOP + _SIDE - tall, "width": wide, "height": tall}
        drawn += _tag("rect", class_="c-skipped", **{name: f"{at:.2f}" for name, at in places.items()})
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


def _x_position(recall: float, precision: float) -> tuple[float, float]:
    return _LEFT + _SIDE * recall, _TOP + _SIDE * (1 - precision)


def _line(name: str, start: tuple[float, float], end: tuple[float, float], thick: float) -> Markup:
    ends = zip(("x1", "y1", "x2", "y2"), (*_x_position(*start), *_x_position(*end)), strict=True)
    return _tag("line", class_=name, **{name: f"{at:.2f}" for name, at in ends}, stroke_width=thick)


def _words(x: float, y: float, text: str, anchor: str) -> Markup:
    return _tag("text", text, class_="muted", x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor)


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
    drawn = _tag("rect", width=f"{100 * value / largest if largest else 0:.2f}", height=8)
    box = {"class_": "bar", "viewBox": "0 0 100 8", "preserveAspectRatio": "none"}
    return _tag("svg", drawn, **box, aria_hidden="true")


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
        drawn += _tag("text", entry.label, x=_LABEL - 10, y=y + 4, text_anchor="end")
        for figure, final, name, pale, dy in (
            (entry.tdp, entry.final_tdp, "tdp", "open", -5),
            (entry.frp, entry.final_frp, "frp", "openf", 6),
        ):
            if figure.value is None or figure.ci95 is None or final.high is None:
                continue
            ends = (figure.value, final.high, *figure.ci95)
            at, most, low, high = (f"{_x(end, top):.1f}" for end in ends)
            level = {"y1": y + dy, "y2": y + dy}
            drawn += _tag("line", class_=pale, x1=at, x2=most, **level, stroke_width=6)
            drawn += _tag("line", class_=name, x1=low, x2=high, **level, stroke_width=1.6)
            drawn += _tag("circle", class_=name, cx=at, cy=y + dy, r=3.4)
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
        x = f"{_x(value, top):.1f}"
        drawn += _tag("line", class_="axis", x1=x, x2=x, y1=4, y2=height - 24)
        drawn += _tag("text", share(value), class_="muted", x=x, y=height - 8, text_anchor="middle")
    return drawn


def sample_bar(elusion: Elusion) -> Markup:
    """Draw the reviewed share of the random sample."""
    counts = {"reviewed": count(elusion.reviewed), "drawn": count(elusion.drawn)}
    done = 1000 * elusion.reviewed / elusion.drawn if elusion.drawn else 0
    drawn = _tag("rect", class_="c-skipped", width=1000, height=24)
    drawn += _tag("rect", class_="c-screened", width=f"{done:.1f}", height=24)
    return _stack(_("{reviewed} of {drawn} drawn files reviewed", **counts), drawn)
