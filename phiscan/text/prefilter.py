"""Patterns that few texts match: an automaton tests first whether a text can have a match.

``re`` tries a pattern that begins with one of many words at every letter, which takes thirty to ninety
milliseconds for a megabyte of text; the automaton of what every match holds takes five, and most texts end
there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.text.automata import automaton


class Rare:
    """A pattern with a hint: what every text holds in which it matches, as a pattern of re2.

    The hint may know less than the pattern (re2 has no look-around, and its boundaries and digits are those
    of ASCII), so it must be the wider one. One thing it does not know: ``re`` takes the dotless and the
    dotted capital i of Turkish for an i.
    """

    def __init__(self, pattern: re.Pattern[str], hint: str) -> None:
        self.pattern = pattern
        self._hint = automaton(hint)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        """Yield the matches of the pattern, as ``re.finditer`` does."""
        if self._may_match(text):
            yield from self.pattern.finditer(text)

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match of the pattern, as ``re.search`` does."""
        return self.pattern.search(text) if self._may_match(text) else None

    def _may_match(self, text: str) -> bool:
        """Tell whether the text has what every match holds."""
        return self._hint.search(text.encode("utf-8", "surrogatepass")) is not None
