"""A text to the passages that are judged: runs of lines around the places that hold evidence.

A person and health information belong together in a passage: a sentence, the body of a message, a row of a
table with its column names, the record of a message. Which of these it is, and how long it is, is not known
beforehand, so that runs of several lengths are tried from every line that holds evidence. What stands outside
a run cannot change what the run says: a footer or a banner never withdraws the evidence of a passage.
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
MAX_STARTS: Final = 400  # lines of one text from which runs begin; of more, evenly spread ones

_SENTENCE_END: Final = re.compile(r"[.!?;]['\")\]]?\s+|\}\s*,|\s\|\s")


def units_of(text: str) -> tuple[Offsets, Offsets]:
    r"""Return where the lines of a text begin and end (half-open); long lines are cut into sentences.

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
    """Cut a long line at sentence ends, and at a space where a sentence is too long as well."""
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


def runs(starts: Offsets, ends: Offsets, places: Sequence[int]) -> list[tuple[int, int]]:
    """Return the passages ``[start, end)`` to judge, in text order, each once.

    Args:
        starts: where each unit begins, rising.
        ends: where each unit ends.
        places: offsets that hold evidence, in any order.

    Every passage begins with a unit that holds evidence and ends with one.
    """
    if not len(starts) or not len(places):
        return []
    at = starts.searchsorted(np.asarray(sorted(set(places)), dtype=np.int64), side="right") - 1
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
