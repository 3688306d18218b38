"""Days that a scanner ran together or misread at their edge: 31juillet, Mar4, O6MAR, ler avril, Ist.

A narrow space before or after a figure is easily lost, an O stands for the 0 of a day, and the 1 of "1er"
and "1st" is read as a letter. A month, and where it is short a year too, says what was meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.screen.ocr_confusions.line import Edit

_FULL = (
    "january|february|march|april|june|july|august|september|october|november|december"
    "|janvier|f[ée]vrier|mars|avril|juin|juillet|ao[uû]t|septembre|octobre|novembre|d[ée]cembre"
)
_SHORT = "jan|janv|feb|f[ée]v|f[ée]vr|mar|apr|avr|may|mai|jun|jul|juil|aug|sep|sept|oct|nov|dec|d[ée]c"
_TITLED = "January|February|March|April|May|June|July|August|September|October|November|December"
_TITLED += "|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec"
_FIGURE = "[0-9OlI]"
_BEFORE = r"(?<![^\W_])(?<![-/.,])"
_YEAR = r"(?:19|20)[0-9]{2}"
_JOINED = re.compile(
    rf"{_BEFORE}[0-3OlI]?{_FIGURE}(?=(?i:{_FULL})(?![^\W_]))"
    rf"|{_BEFORE}[0-3OlI]?{_FIGURE}(?=(?i:{_SHORT})\.? {_YEAR}(?![^\W_]))"
    rf"|(?<![^\W_])(?:{_TITLED})(?=(?:[12]?[0-9]|3[01])(?![^\W_]|[-/.]\w))"
    rf"|(?<![^\W_])(?i:n[ée]e?)?(?:[Ll]e|[Dd]u|[Aa]u)(?=[0-3]?[0-9] (?i:{_FULL})(?![^\W_]))"
)
_NOUGHT = re.compile(rf"(?<![^\W_])O(?=[1-9](?i:{_SHORT})(?:[0-9]{{2,4}})?(?![^\W_]))")
_FIRST = re.compile(r"(?<![^\W_])[lI](?=st(?![^\W_]))")
_FIFTH = re.compile(rf"(?<![^\W_])S(?=th (?:of )?(?i:{_FULL}|{_SHORT})(?![^\W_]))")
# What of these asks for a closer look.
DAY_SIGNS = (
    rf"\b[0-3OlI]?{_FIGURE}(?i:{_FULL})\b",
    rf"\b[0-3OlI]?{_FIGURE}(?i:{_SHORT})\.? {_YEAR}\b",
    rf"\b(?:{_TITLED})(?:[12]?[0-9]|3[01])\b",
    rf"\b(?i:n[ée]e?)?(?:[Ll]e|[Dd]u|[Aa]u)[0-3]?[0-9] (?i:{_FULL})\b",
    rf"\bO[1-9](?i:{_SHORT})(?:[0-9]{{4}}|[0-9]{{2}})?\b",
    rf"\b[lI]er (?i:{_FULL}|{_SHORT})\b",
    rf"(?i:{_FULL}|{_SHORT}) [lI]st\b|\b(?:[lI]st|Sth) (?:of )?(?i:{_FULL}|{_SHORT})\b",
)


def days_apart(text: str) -> Iterator[Edit]:
    """Yield the places where a space was lost between a day and its month, or before them, in order.

    >>> [(edit.start, edit.new) for edit in days_apart("dès le 31juillet, et Mar4")]
    [(9, ' j'), (24, ' 4')]
    """
    for match in _JOINED.finditer(text):
        yield Edit(match.end(), match.end() + 1, f" {text[match.end()]}")


def day_figures(text: str) -> Iterator[Edit]:
    """Yield the letters that are figures of a day, in order: O6MAR, Ist."""
    found = [Edit(match.start(), match.end(), "0") for match in _NOUGHT.finditer(text)]
    found += [Edit(match.start(), match.end(), "1") for match in _FIRST.finditer(text)]
    found += [Edit(match.start(), match.end(), "5") for match in _FIFTH.finditer(text)]
    return iter(sorted(found, key=lambda edit: edit.start))
