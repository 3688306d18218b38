"""Words around a value: labels before it, words near by that speak for or against it.

A label is compared in one canonical form (``canonical``), so that ``Date of Birth``, ``date_of_birth``,
``DateOfBirth`` and ``DATE-OF-BIRTH`` are one label, and French labels match with or without their accents.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import cached_property, lru_cache

from phiscan.screen.rules.definitions import ContextWords

# What may separate a label from its value: a line to write on, the way to the next column of a page,
# punctuation (of forms, JSON, XML), one line break, a remark in brackets such as "(yyyy-mm-dd)", and words
# that only say that a number follows. All bounded, so linear.
GAP_WORDS = (
    r"(?i:numbers?|numéro|numero|num|nos?|nbr|nr|n|id|identifier|is|was|are|code|c['’]est|est|date"  # noqa: RUF001 (names are written with it)
    r"|value|patient|of|for|them|the|my|his|her|their|du|de|pour)\b"
)
GAP = (
    r"[._ ]{0,40}+(?:: {11,60}+)?(?:[^\w\n(]|_|\n(?![^\S\n]{0,8}\n)){0,12}"
    r"(?:\([^()\n]{0,30}\)(?:[^\w\n]|\n(?![^\S\n]{0,8}\n)){0,6})?"
    rf"(?:{GAP_WORDS}"
    r"(?:[^\w\n]|\n(?![^\S\n]{0,8}\n)){0,10}){0,3}\(??"
)
# What ends a cell after the label that heads its column: last letters, a remark in brackets, a delimiter.
CELL_END = (
    r"[\w#]{0,6}(?:(?: ?[#:])?(?: ?\([^()\n]{1,24}\))?[\"']?(?:[ ]{0,2}[\t|;,\n\r]|[ ]{2})"
    r"|\.(?:[ ]{0,2}[\t|;,\n\r]|[ ]{3}))"
)
# In JSON the value may be in a field of its own, further on: costly to search, so only where there is one.
JSON_FIELD = '"value"'
JSON_GAP = GAP + r"(?:[^\n]{0,120}?(?:\n[^\n]{0,40}?)?\"value\"\s{0,3}:\s{0,3}\")??"
JSON_REACH = 400  # more than JSON_GAP can take
GAP_CHARS = 220  # more than GAP can take
NEAR_CHARS = 60  # distance from a value up to which a word raises or lowers its score
_SEPARATORS = str.maketrans("", "", " _-\t.'’/")  # noqa: RUF001 (names are written with it)


@lru_cache(maxsize=4096)
def canonical(label: str) -> str:
    """Return the form in which labels are compared: lower case, no accents, no separators.

    >>> canonical("Date_of-Birth"), canonical("Numéro d'assurance")
    ('dateofbirth', 'numerodassurance')
    """
    plain = label.lower().translate(_SEPARATORS)
    if plain.isascii():
        return plain
    return "".join(c for c in unicodedata.normalize("NFD", plain) if not unicodedata.combining(c))


def whole_word(text: str, start: int, end: int) -> bool:
    """Tell whether no letter or digit touches ``[start, end)`` on either side.

    >>> whole_word("a: b", 0, 1), whole_word("media: b", 4, 5)
    (True, False)
    """
    return not (start and text[start - 1].isalnum()) and not (end < len(text) and text[end].isalnum())


class Surroundings:
    """The near and the negative words of one context, ready to be looked for around a value."""

    def __init__(self, words: ContextWords) -> None:
        self._words = words

    @cached_property
    def _near(self) -> re.Pattern[str]:
        return _any_word(self._words.near + self._words.labels)

    @cached_property
    def _negative(self) -> re.Pattern[str]:
        return _any_word(self._words.negative)

    def weigh(self, text: str, start: int, end: int) -> int:
        """Return +1 for a near word, -1 for a negative word within the line around the value, else 0."""
        before = text[max(0, start - NEAR_CHARS) : start]
        before = before[before.rfind("\n") + 1 :]
        after = text[end : end + NEAR_CHARS].partition("\n")[0]
        around = f"{before}\x00{after}".lower()
        if self._negative.search(around):
            return -1
        return int(bool(self._near.search(around)))


def _any_word(words: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(set(words), key=len, reverse=True)
    some = "|".join(map(re.escape, ordered)) or "(?!)"
    return re.compile(rf"(?<![^\W_])(?:{some})(?![^\W_])")
