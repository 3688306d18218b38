"""Numbers among the words of a table's cell: "APD 6120 (NB)", "learner 8830174", "7JX2201 / MK8801-4"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from phiscan.model import EntityType

# Dates, names and places are found by their own form; these types only by their column.
AMONG_WORDS = frozenset(
    {
        EntityType.MRN,
        EntityType.HEALTH_PLAN,
        EntityType.HEALTH_CARD,
        EntityType.ACCOUNT,
        EntityType.LICENSE,
        EntityType.VEHICLE,
        EntityType.DEVICE,
        EntityType.DRIVER_LICENSE,
        EntityType.PASSPORT,
        EntityType.OTHER_ID,
    }
)
MAX_CELL_CHARS = 80  # of a cell with a number and words; a longer one is a remark
_MIN_DIGITS = 3
_PIECE = re.compile(r"[^;(),:]+")
# Whole words: "2024" is no number in "04/05/2024".
_NUMBER = re.compile(
    r"(?<![^\s;(),:])(?:\b[A-Z]{1,5} )?"
    r"(?P<bare>[^\s/]{0,20}\d[^\s/]{0,40}(?: [^\s/]{0,20}\d[^\s/]{0,40}){0,4})(?![^\s;(),:])"
)
_DIGIT = re.compile(r"\d")


def numbers(text: str, start: int, end: int, fits: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each number between the words of the cell ``[start, end)`` that ``fits``.

    The capital letters before a number may belong to it ("CHTR 482") or not ("NL 40718").

    >>> text = "towed: CKLM 903 (twice)"
    >>> [text[a:b] for a, b in numbers(text, 0, len(text), lambda a, b: True)]
    ['CKLM 903']
    """
    if end - start > MAX_CELL_CHARS:
        return
    for piece in _PIECE.finditer(text, start, end):
        for number in _NUMBER.finditer(text, *piece.span()):
            if len(_DIGIT.findall(number["bare"])) < _MIN_DIGITS:
                continue
            for low, high in dict.fromkeys((number.span(), number.span("bare"))):
                if fits(low, high):
                    yield low, high
                    break
