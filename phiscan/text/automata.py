"""The automata of re2: memory for their states, no groups, nothing on standard error, and quick matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import re2

STATES_BYTES = 64 << 20  # of 8 MB, the default, large patterns run out and re2 falls back to its slow engines

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


def end_of(pattern: re2._Regexp, raw: bytes, start: int) -> int:
    """Return where the match ends that begins at ``start``; -1: there is none."""
    return _match_of(pattern)(_HERE, raw, start, len(raw))[0][1]


def matches(pattern: re2._Regexp, raw: bytes) -> bool:
    """Tell whether a pattern matches anywhere."""
    return _match_of(pattern)(_SOMEWHERE, raw, 0, len(raw))[0][0] >= 0


def _match_of(pattern: re2._Regexp) -> Callable[[Any, bytes, int, int], list[tuple[int, int]]]:
    """Return what all methods of a pattern call: it gives the spans of a match, or (-1, -1)."""
    match: Callable[[Any, bytes, int, int], list[tuple[int, int]]] = pattern._regexp.Match  # noqa: SLF001 (as above)
    return match
