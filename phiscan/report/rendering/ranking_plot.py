"""The precision-recall curve of the report, with the unachievable region shaded."""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from phiscan.language import lazy_gettext as _
from phiscan.metrics.ranking.unachievable import minimum_aucpr, minimum_precision
from phiscan.report.data.estimates import ScoreRanking
from phiscan.report.words import count, ratio, share

_LEFT, _TOP, _SIDE = 66, 12, 330
_WIDTH, _HEIGHT = 760, 394
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
    return Markup(
        '<svg class="plot" viewBox="0 0 {} {}" role="img" aria-label="{}"><title>{}</title>{}</svg>'
    ).format(_WIDTH, _HEIGHT, title, title, drawn)


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
