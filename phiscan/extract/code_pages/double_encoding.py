"""Text that was encoded twice: UTF-8 read in a code page and written again, ``HÃ©lÃ¨ne`` for ``Hélène``.

Programs that pass data on between systems do this. The characters that the bytes of UTF-8 are in a code page
hardly ever follow each other in text; what they give is taken only beside a letter of the same word.
"""

from __future__ import annotations

import re
from functools import cache

_LATIN_LEADS = bytes([0xC2, 0xC3, 0xC4, 0xC5, 0xE2])  # of letters of Europe, and of quotes and dashes
_PAGES = {  # with the bytes that begin a character
    "cp1252": bytes([*range(0xC2, 0xD2), 0xE2]),
    "mac-roman": _LATIN_LEADS,
    "cp850": _LATIN_LEADS,
    "cp437": _LATIN_LEADS,
}
_FIRST, _LAST = 0x80, 0xBF
_SIGNS = frozenset("\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u2039\u203a\u20ac\u2122")
_MOST_ROUNDS = 3
_MARKS = ("Ã", "Ä", "Å", "Ð", "Î", "â€", "√", "\u201aÄ", "├", "ÔÇ")


def repaired(text: str) -> str:
    """Return a text in which characters that were encoded twice, or oftener, are the ones that were meant.

    >>> repaired("HÃ©lÃ¨ne"), repaired("JOÃO")
    ('Hélène', 'JOÃO')
    """
    if text.isascii() or not any(mark in text for mark in _MARKS):
        return text
    for _ in range(_MOST_ROUNDS):
        before = text
        for page in _PAGES:
            pattern, codes = _table(page)
            text = pattern.sub(lambda run, codes=codes: _meant(run, codes), text)  # type: ignore[misc]
            if text != before:
                break
        else:
            break
    return text


def _meant(run: re.Match[str], codes: dict[str, int]) -> str:
    try:
        meant = bytes(codes[char] for char in run.group()).decode()
    except UnicodeDecodeError:
        return run.group()
    text, start, end = run.string, run.start(), run.end()
    if not all(char.isalpha() or char in _SIGNS or "\xa0" <= char <= "\xbf" for char in meant):
        return run.group()
    is_within_word = text[start - 1 : start].isalpha() or text[end : end + 1].isalpha()
    is_word = meant == "à" or (len(meant) > 1 and meant.isalpha())
    return meant if is_within_word or is_word or meant in _SIGNS else run.group()


@cache
def _table(page: str) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return a pattern of UTF-8 sequences as a code page shows them, and the byte of each character."""
    codes = {chr(code): code for code in range(_FIRST, 0x100)} if page == "cp1252" else {}
    for code in range(_FIRST, 0x100):
        char = bytes([code]).decode(page, "ignore")
        if char:
            codes[char] = code
    leads = "".join(re.escape(char) for char, code in codes.items() if code in _PAGES[page])
    rest = "".join(re.escape(char) for char, code in codes.items() if _FIRST <= code <= _LAST)
    return re.compile(f"(?:[{leads}][{rest}]{{1,2}})+"), codes
