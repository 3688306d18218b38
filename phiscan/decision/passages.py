"""Text to the passages that are scored: runs of lines from each line that holds evidence.

A person and health information belong together in a passage: a sentence, the body of a message, a row of a
table with its column names, the record of a message. The length of that unit is not known beforehand, so runs
of several lengths are scored. Text outside a run does not change its score: a footer or banner never lowers
the evidence of a passage.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

Offsets = npt.NDArray[np.int64]

MAX_UNIT_CHARS: Final = 320  # a longer line is cut at the ends of its sentences
# Lengths up to which a run grows, in characters; a run of one line may be longer.
LENGTHS: Final = (0, 110, 170, 260, 400, 600, 900, 1350, 2000)
MAX_STARTS: Final = 400  # lines of one text from which runs begin; if there are more, evenly spread ones

_SENTENCE_END: Final = re.compile(r"[.!?;]['\")\]]?\s+|\}\s*,|\s\|\s")


def units_of(text: str) -> tuple[Offsets, Offsets]:
    r"""Return the start and end offsets of a text's lines; long lines are split into sentences.

    >>> [part.tolist() for part in units_of("Ann Roy\n\nasthma\n")]
    [[0, 9], [7, 15]]
    """
    starts: list[int] = []
    ends: list[int] = []
    position = 0
    for line in text.split("\n"):
        end = position + len(line)
        if len(line) > MAX_UNIT_CHARS:
            for low, high in _sentences(text, position, end):
                starts.append(low)
                ends.append(high)
        elif line and not line.isspace():
            starts.append(position)
            ends.append(end)
        position = end + 1
    return np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64)


def _sentences(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Return the spans of a long line's sentences; a sentence that is too long is split at a space."""
    found: list[tuple[int, int]] = []
    low = start
    for cut in (*(match.end() for match in _SENTENCE_END.finditer(text, start, end)), end):
        while cut - low > MAX_UNIT_CHARS:
            space = text.rfind(" ", low + 1, low + MAX_UNIT_CHARS)
            high = space if space > low else low + MAX_UNIT_CHARS
            found.append((low, high))
            low = high
        if cut > low:
            found.append((low, cut))
            low = cut
    return found


def runs(starts: Offsets, ends: Offsets, evidence: Sequence[int]) -> list[tuple[int, int]]:
    """Return the passages ``[start, end)`` to score, in text order, each once.

    Args:
        starts: ascending start of each unit.
        ends: end of each unit.
        evidence: offsets of evidence, in any order.

    Every passage begins with a unit that holds evidence and ends with one.
    """
    if not len(starts) or not len(evidence):
        return []
    at = starts.searchsorted(np.asarray(sorted(set(evidence)), dtype=np.int64), side="right") - 1
    marked: list[int] = np.unique(np.maximum(at, 0)).tolist()
    low: list[int] = starts[marked].tolist()
    high: list[int] = ends[marked].tolist()
    chosen: Sequence[int] = range(len(marked))
    if len(marked) > MAX_STARTS:
        chosen = np.unique(np.linspace(0, len(marked) - 1, MAX_STARTS).astype(int)).tolist()
    found: list[tuple[int, int]] = []
    for first in chosen:
        begin = low[first]
        lasts = {max(bisect_right(high, begin + length) - 1, first) for length in LENGTHS}
        found.extend((begin, high[last]) for last in sorted(lasts))
    return found
