"""The options of every automaton of re2: memory for its states, no groups, nothing on standard error."""

from __future__ import annotations

import re2

STATES_BYTES = 64 << 20  # of 8 MB, the default, large patterns run out and re2 falls back to its slow engines


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
