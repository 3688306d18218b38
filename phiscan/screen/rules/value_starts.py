"""Which values can begin after a label: what spares most of its rules the look there.

A label such as "on" announces values of nine rules, and most of its occurrences are followed by none of them.
Trying a rule costs as much as reading hundreds of characters. So the gap after the label is matched once, and
one automaton of all values returns, for each offset in it, the rules whose values could begin there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

import re2
import regex

from phiscan.screen.rules.context import GAP_CHARS, GAP_WORDS
from phiscan.screen.rules.definitions import Rule
from phiscan.screen.rules.linear_form import linear_form
from phiscan.screen.rules.scanner import DFA_BYTES, Evidence
from phiscan.text.automata import options

# The longest way through ``GAP``, without its bounds: a value begins within it or right after it.
_LONGEST_GAP: Final = regex.compile(
    rf"(?:[^\w(]|_)*+(?:\([^()\n]{{0,30}}\)[\W_]*+)?(?:{GAP_WORDS}[\W_]*+){{0,3}}\(?"
)
_VALUE_CHARS: Final = 512  # more than any labelled value has
_FEW: Final = 1  # so many rules are tried without a test
_LONG: Final = 12  # so are all rules after a longer gap, such as a line to write on


@dataclass(slots=True)
class _Label:
    """The rules of one label as bits, and the rules of each combination of bits."""

    bits: dict[int, int]
    always: int
    chosen: dict[int, tuple[Evidence, ...]] = field(default_factory=dict)


class ValueStarts:
    """Selects the rules of a label whose values can begin after one of its occurrences."""

    def __init__(self, rules: Sequence[Rule], labelled: Iterable[int]) -> None:
        """Build the automaton of the values of the ``labelled`` rules, by their numbers."""
        self._numbers: dict[int, int] = {}  # which of the values in the automaton are a rule's
        self._values = re2.Set.MatchSet(options(max_mem=DFA_BYTES))
        for index in labelled:
            form = linear_form(rules[index].pattern)
            if form is not None:
                with suppress(re2.error):  # a site's pattern that re2 does not know is always tried
                    self._values.Add((f"(?i:{form})" if rules[index].ignore_case else form).encode())
                    self._numbers[index] = len(self._numbers)
        if self._numbers:
            self._values.Compile()
        self._labels: dict[tuple[Evidence, ...], _Label] = {}

    def possible(self, text: str, end: int, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """Return, in their order, the rules whose values can begin after a label that ends at ``end``."""
        if len(evidence) <= _FEW:
            return evidence
        gap = _LONGEST_GAP.match(text, end, end + GAP_CHARS)
        reach = end if gap is None else gap.end()
        if reach - end > _LONG:
            return evidence
        label = self._labels.get(evidence)
        if label is None:
            label = self._labels[evidence] = self._made(evidence)
        bits = label.always
        for start in range(end, reach + 1):
            raw = text[start : start + _VALUE_CHARS].encode("utf-8", "surrogatepass")
            for number in self._values.Match(raw) or ():
                bits |= label.bits.get(number, 0)
        chosen = label.chosen.get(bits)
        if chosen is None:
            chosen = tuple(item for i, item in enumerate(evidence) if bits >> i & 1)
            label.chosen[bits] = chosen
        return chosen

    def _made(self, evidence: tuple[Evidence, ...]) -> _Label:
        bits: dict[int, int] = {}
        always = 0
        for place, item in enumerate(evidence):
            number = self._numbers.get(item.rule)
            if number is None:
                always |= 1 << place
            else:
                bits[number] = bits.get(number, 0) | 1 << place
        return _Label(bits, always)
