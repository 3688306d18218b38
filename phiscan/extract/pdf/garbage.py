"""When the text of a page is garbage: characters that no reader would see, and numbers of glyphs as codes."""

from __future__ import annotations

import re
import unicodedata

_SHARE = 0.2
_MAX_CHECKED = 4000
_ODD_RUN = re.compile(r"(?:[\x01-\x08\x0e-\x1f\ue000-\uf8ff\ufffd][ \r\n]{0,2}){5,}")
_MOST_RUNS = 50
_ONE_WORD = re.compile(r"(?m)^[!-`]{12,400}\r?$")  # such codes are no small letters
_CID = re.compile(r"\(cid:(\d{1,5})\)")
_OFFSETS = (29, 31)  # from the number of a glyph to its letter: fonts of Windows, and of Adobe
_FIRST, _LAST = 0x20, 0x7E
_SMALL_SHARE = 0.5
_MIN_LETTERS = 8
_COMMON, _COMMON_SHARE = frozenset("etaoinsrhlu"), 0.55  # of letters in English or French, three of four


def is_garbage(text: str) -> bool:
    r"""Tell text whose font gave no usable character codes.

    Garbage is a page where more than a fifth of the visible characters are replacement characters,
    private-use, unassigned or control codes, or ``(cid:12)`` marks.

    >>> is_garbage("Patient seen today"), is_garbage("\x01\x02\x03 \ue000\ue001 ab")
    (False, True)
    """
    sample = text[:_MAX_CHECKED]
    visible = "".join(sample.split())
    if not visible:
        return False
    n_cid = sample.count("(cid:") * 5
    n_odd = visible.count("\ufffd")
    if not visible.isprintable():
        n_odd += sum(unicodedata.category(char) in ("Co", "Cn", "Cc", "Cs") for char in visible)
    return (n_odd + n_cid) > _SHARE * len(visible)


def odd_runs(text: str) -> list[tuple[int, int]]:
    """Return where characters without a meaning stand in a row, of which a bullet or two are none."""
    return [match.span() for match in _ODD_RUN.finditer(text)][:_MOST_RUNS]


def has_numbers_of_glyphs(text: str) -> bool:
    """Return whether a line is made of numbers of glyphs, 29 below the letter in fonts of Windows.

    >>> has_numbers_of_glyphs("3DWLHQW/HQD2NDIRU"), has_numbers_of_glyphs("Pneumonoultramicroscopic")
    (True, False)
    """
    lines = _ONE_WORD.findall(text)[:_MOST_RUNS]
    return any(_is_prose(_shifted(line, _OFFSETS[0]), line) for line in lines)


def from_numbers_of_glyphs(text: str) -> str:
    """Return a text of pdfminer's marks as letters, by the order of glyphs in usual fonts, or nothing.

    >>> from_numbers_of_glyphs("".join(f"(cid:{ord(char) - 29})" for char in "Patient Anna"))
    'Patient Anna'
    """
    numbers = [int(number) for number in _CID.findall(text)]
    for offset in _OFFSETS:
        if _common_share("".join(_letter(number + offset) for number in numbers)) >= _COMMON_SHARE:
            return _CID.sub(lambda match, offset=offset: _letter(int(match[1]) + offset), text)  # type: ignore[misc]
    return ""


def _shifted(line: str, offset: int) -> str:
    return "".join(_letter(ord(char) + offset) for char in line)


def _letter(code: int) -> str:
    return chr(code) if _FIRST <= code <= _LAST else " "


def _is_prose(text: str, line: str) -> bool:
    """Return whether a text has the usual letters of a language, and the line that it is from has not."""
    n_small = sum(map(str.islower, text))
    is_written = n_small >= _SMALL_SHARE * len(text)  # names and numbers are written with capitals and digits
    return is_written and _common_share(text) >= _COMMON_SHARE > _common_share(line)


def _common_share(text: str) -> float:
    letters = [char for char in text.casefold() if char.isalpha()]
    n_common = sum(char in _COMMON for char in letters)
    return n_common / len(letters) if len(letters) >= _MIN_LETTERS else 0.0
