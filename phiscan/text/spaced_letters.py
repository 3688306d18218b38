"""Words whose letters are set apart by blanks ("L e n a   O k a f o r"): joined again, by the wider gaps."""

from __future__ import annotations

import re

from phiscan.text.automata import Rare

_BLANK = "[ \u00a0\u2002-\u200a\u202f]"
_LETTER = r"[^\W\d_]"
_RUN = Rare(
    re.compile(rf"(?<![^\s(\"'«]){_LETTER}(?:{_BLANK}{{1,5}}{_LETTER}){{4,}}(?=[\s.,;:!?)]|$)"),
    r"(?:^|[\s(\"'«])(?:\pL[ \x{a0}\x{2002}-\x{200a}\x{202f}]{1,5}){4}\pL",
)
_GAP = re.compile(rf"{_BLANK}+")
_NAME_BEGINS = re.compile(r"(?<=[a-zà-öø-ÿ])(?=[A-ZÀ-ÖØ-Þ])")
_VOWEL = re.compile(r"[aeiouyà-öø-ÿ]", re.IGNORECASE)
_MIN_LETTERS = 3  # that differ


def join_letters(text: str) -> str:
    """Return a text with the letters of each such run joined to words; no list of letters in their order.

    >>> join_letters("L e n a   O k a f o r, a b c d e"), join_letters("N o m L é a")
    ('Lena Okafor, a b c d e', 'Nom Léa')
    """
    done, pieces = 0, []
    for match in _RUN.finditer(text):
        gaps = _GAP.findall(match[0])
        letters = _GAP.sub("", match[0])
        key = letters.lower()
        if len(set(key)) < _MIN_LETTERS or list(key) == sorted(key) or not _VOWEL.search(letters):
            continue
        narrow = min(map(len, gaps))
        words = letters[0] + "".join(
            f"{' ' if len(gap) > narrow else ''}{letter}"
            for gap, letter in zip(gaps, letters[1:], strict=True)
        )
        pieces += [text[done : match.start()], _NAME_BEGINS.sub(" ", words)]
        done = match.end()
    return "".join([*pieces, text[done:]]) if pieces else text
