"""The automata of re2: memory for their states, no groups, nothing on standard error, and quick matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heappop, heapreplace
from typing import Any, Final, TypeAlias

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
