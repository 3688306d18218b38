"""The charts of the first page: a stacked bar of all files, and bars with their names above them."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from phiscan.language import lazy_gettext as _
from phiscan.report.data.summary import Bar
from phiscan.report.words import count

_WIDTH = 380
_ROW = 36
_LONGEST = 44  # characters of a name; the middle of a longer one is omitted, the table contains it whole
_LEAST = 3.0  # minimum width of a bar with files


def stacked(bars: Sequence[Bar], title: str) -> Markup:
    """Draw counts as one stacked bar; its legend names the colours."""
    total = sum(bar.n for bar in bars)
    alternative = ", ".join(f"{count(bar.n)} {bar.name}" for bar in bars) or _("none")
    drawn, start = Markup(), 0.0
    for bar in bars:
        width = 1000 * bar.n / total
        shown = max(width, _LEAST)
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
        y = row * _ROW
        drawn += Markup(
            '<text x="0" y="{}">{}</text><text x="{}" y="{}" text-anchor="end">{}</text>'
            '<rect class="c-skipped" x="0" y="{}" width="{}" height="8"/>'
            '<rect class="c-{}" x="0" y="{}" width="{}" height="8"/>'
        ).format(
            y + 13,
            shortened(bar.name),
            _WIDTH,
            y + 13,
            count(bar.n),
            y + 19,
            _WIDTH,
            bar.kind,
            y + 19,
            f"{max(_WIDTH * bar.n / largest, _LEAST):.1f}",
        )
    height = max(_ROW * len(bars), _ROW)
    return Markup('<svg class="bars" viewBox="0 0 {} {}" role="img" aria-label="{}: {}">{}</svg>').format(
        _WIDTH, height, title, alternative, drawn
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
