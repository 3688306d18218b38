"""The automata of re2: memory for their states, no groups, quick matches, their offsets in code points."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heapreplace
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt
import re2

STATES_BYTES = 64 << 20  # of 8 MB, the default, large patterns run out and re2 falls back to its slow engines

_Match: TypeAlias = Callable[[Any, bytes, int, int], list[tuple[int, int]]]

_SOMEWHERE: Final = re2._Anchor.UNANCHORED  # noqa: SLF001 (what ``re2`` itself passes on; every scan and test uses it)
_HERE: Final = re2._Anchor.ANCHOR_START  # noqa: SLF001 (as above)


def options(*, max_mem: int = STATES_BYTES, any_case: bool = False) -> re2.Options:
    """Return what a pattern is compiled with; ``max_mem``: bytes for the states of its automaton."""
    chosen = re2.Options()
    chosen.max_mem = max_mem
    chosen.never_capture = True
    chosen.log_errors = False
    chosen.case_sensitive = not any_case
    return chosen


def automaton(pattern: str, *, max_mem: int = STATES_BYTES, any_case: bool = False) -> re2._Regexp:
    """Return a pattern compiled for UTF-8 bytes."""
    return re2.compile(pattern.encode(), options(max_mem=max_mem, any_case=any_case))


def spans(pattern: re2._Regexp, raw: bytes, start: int = 0) -> Iterator[tuple[int, int]]:
    """Yield where a pattern matches, as ``finditer`` does, without an object for each match.

    Making that object takes longer than finding most matches.
    """
    match, end = _match_of(pattern), len(raw)
    while start <= end:
        found = match(_SOMEWHERE, raw, start, end)[0]
        if found[0] < 0:
            return
        yield found
        start = found[1] if found[1] > start else start + 1


class Alternatives:
    """Several patterns that are searched as one of all of them would be, each by an automaton of its own.

    A state of one automaton of all is a set of what every alternative has seen so far. There are so many of
    these sets that a process goes on building states for as long as it reads, and fills the memory it may
    use; the automata of a few alternatives each have few. Reading the text once for each costs less.
    """

    def __init__(self, patterns: Sequence[str], *, max_mem: int = STATES_BYTES) -> None:
        """Compile the patterns; where two match at the same place, the one that comes first counts."""
        self._matches = tuple(_match_of(automaton(pattern, max_mem=max_mem)) for pattern in patterns)

    def search(self, raw: bytes) -> Search:
        """Return the search of one text."""
        return Search(self._matches, raw)


class Search:
    """The matches of alternatives in one text, from left to right."""

    __slots__ = ("_end", "_matches", "_next", "_raw")

    def __init__(self, matches: Sequence[_Match], raw: bytes) -> None:
        self._matches = matches
        self._raw = raw
        self._end = len(raw)
        # A heap of the next match of each alternative: start, the alternative, end.
        self._next = [(-1, number, -1) for number in range(len(matches))]

    def after(self, position: int) -> tuple[int, int] | None:
        """Return the first match that begins at ``position`` or later, which never gets smaller."""
        following, end = self._next, self._end
        while following and following[0][0] < position:
            number = following[0][1]
            found = self._matches[number](_SOMEWHERE, self._raw, position, end)[0]
            if found[0] < 0:
                heappop(following)
            else:
                heapreplace(following, (found[0], number, found[1]))
        return (following[0][0], following[0][2]) if following else None


def end_of(pattern: re2._Regexp, raw: bytes, start: int) -> int:
    """Return where the match ends that begins at ``start``; -1: there is none."""
    return _match_of(pattern)(_HERE, raw, start, len(raw))[0][1]


def matches(pattern: re2._Regexp, raw: bytes) -> bool:
    """Tell whether a pattern matches anywhere."""
    return _match_of(pattern)(_SOMEWHERE, raw, 0, len(raw))[0][0] >= 0


def _match_of(pattern: re2._Regexp) -> _Match:
    """Return what all methods of a pattern call: it gives the spans of a match, or (-1, -1)."""
    match: _Match = pattern._regexp.Match  # noqa: SLF001 (as above)
    return match


def code_points(raw: bytes, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Turn byte offsets into code-point offsets: take away the continuation bytes before each.

    ``places`` has any shape; a surrogate that ``surrogatepass`` wrote counts as one code point, as in
    ``str``.

    >>> code_points("é=1".encode(), np.array([0, 2, 3])).tolist()
    [0, 1, 2]
    """
    # Continuation bytes are few, and so are the places: cheaper than a running count over every byte.
    continued = np.flatnonzero((np.frombuffer(raw, dtype=np.uint8) & 0xC0) == 0x80)  # noqa: PLR2004 (UTF-8)
    return places - np.searchsorted(continued, places)


def spans_of(scanner: re2._Regexp, text: str) -> list[tuple[int, int]]:
    """Return what a scanner of bytes finds in a text, half-open, in code points."""
    raw = text.encode("utf-8", "surrogatepass")
    return in_text(text, raw, list(spans(scanner, raw)))


def in_text(text: str, raw: bytes, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return spans of the UTF-8 form ``raw`` of a text as spans of the text."""
    if len(raw) == len(text) or not found:
        return found
    return [(start, end) for start, end in code_points(raw, np.asarray(found, dtype=np.int64)).tolist()]


class Rare:
    """A pattern with a hint: what every text holds in which it matches, as a pattern of re2.

    ``re`` tries a pattern that begins with one of many words at every letter, thirty to ninety milliseconds
    for a megabyte; the automaton of the hint takes five, and most texts end there.

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
