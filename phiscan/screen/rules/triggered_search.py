"""One text to the matches of rules with a trigger, searched around the triggers.

A stretch that is near several triggers of a rule is searched once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from phiscan.screen.rules.compiled import TIMEOUT_S, CompiledRule
from phiscan.screen.rules.scanner import REACH_CHARS, Place
from phiscan.text.automata import matches

# One automaton over so many characters costs as much as its test around one trigger.
_CHARS_OF_TEST = 1000


class TriggeredSearch:
    """The search of one text; triggers come in text order."""

    def __init__(self, text: str, places: list[Place]) -> None:
        """Count the triggers of each rule: with many of them the text is tested as a whole beforehand."""
        self._text = text
        self._raw = b""
        self._n_triggers = Counter(index for place in places for index in place.rules)
        self._can_match: dict[int, bool] = {}
        self._searched: dict[
            int, int
        ] = {}  # by rule: the offset before which no match begins that is unknown

    def spans(self, index: int, compiled: CompiledRule, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Yield the matches of a rule around its trigger ``[start, end)`` that no earlier trigger had.

        The stretches around triggers that are close together overlap, as in a list of web addresses.
        """
        text = self._text
        low, high, limit = max(0, start - compiled.rule.ahead), end + REACH_CHARS, end + compiled.reach // 2
        low = max(low, self._searched.get(index, 0))
        if low >= limit or not self._is_possible(index, compiled):
            return
        searched = end  # what begins later may be cut off
        compiled.n_triggers += 1
        if compiled.can_match(text, low, high):
            for match in compiled.at_hit.finditer(text, low, high, timeout=TIMEOUT_S):
                if match.start() >= limit:
                    break
                if match.end() > start:
                    if match.end() == high or match.start() > end:
                        match = compiled.at_hit.match(text, match.start(), timeout=TIMEOUT_S) or match  # noqa: PLW2901 (whole)
                    searched = max(searched, match.end())
                    yield match.span()
        compiled.n_matched += searched > end
        self._searched[index] = max(searched, low)

    def _is_possible(self, index: int, compiled: CompiledRule) -> bool:
        """Tell whether a rule can match in the text, where that is tested sooner than each trigger."""
        found = self._can_match.get(index)
        if found is None:
            found = True
            is_many = self._n_triggers[index] * _CHARS_OF_TEST >= len(self._text)
            if is_many and compiled.is_seldom_matched and compiled.required is not None:
                self._raw = self._raw or self._text.encode("utf-8", "surrogatepass")
                found = matches(compiled.required, self._raw)
            self._can_match[index] = found
        return found
