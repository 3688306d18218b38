"""The words of a PDF page: what pdfium calls its text, put together where it joins or breaks words.

pdfium finds the gaps between words along the line that it believes in. Where lines are turned, as in the head
of a narrow table, it may put the words of several lines together; there the gaps are looked for again.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

from phiscan.extract.core.labels import is_label_word
from phiscan.extract.pdf.glyph_lines import reordered_lines

_N_LOOKED_AT = 400  # characters of a page whose angle is asked for
_TURNED = 0.02  # radians
_GAP = 0.8  # of the larger letter; a space is a third of one, spaced letters are half of one apart
_NO_ANGLE = -1.0
_BROKEN = re.compile(r"(?<![^\W_])([^\W\d_]{1,12})\n(?=([^\W\d_]{1,12})(?![^\W_]))")
# Digits, or capital letters, of which each is in a box of its own.
_BOXED = re.compile(r"(?<!\S)(?:\d(?: [\d/-]){5,60}|[A-Z](?: [A-Z]){4,60})(?!\S)")
_FEW_SIGNS = 4  # different ones, at least
_MOST_DIGITS, _MOST_CAPITALS = 13, 25
_HYPHEN = 2  # how pdfium marks one at a line end; the line end itself is left out


def page_words(textpage: Any) -> str:
    """Return the text of one page; lines end with a line feed.

    Lines that are drawn in another order than they are read are added at the end.
    """
    text = str(textpage.get_text_range())
    reordered = reordered_lines(textpage, text)
    page = _tidy(_with_gaps(textpage) if _has_turned_lines(textpage) else text)
    return "\n".join([page, *reordered]) if reordered else page


def page_lines(page: Any) -> list[str]:
    """Return the lines of the text of a page of pdfium, whose text page is closed again."""
    textpage = page.get_textpage()
    try:
        return page_words(textpage).split("\n")
    finally:
        textpage.close()


def _has_turned_lines(textpage: Any) -> bool:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    n_chars = textpage.count_chars()
    for index in range(0, n_chars, max(n_chars // _N_LOOKED_AT, 1)):
        angle = pdfium.FPDFText_GetCharAngle(textpage, index)
        if angle > _TURNED or (angle < -_TURNED and angle != _NO_ANGLE):
            return True
    return False


def _with_gaps(textpage: Any) -> str:
    """Return the text with a space between letters that lie apart and have none between them."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    pieces: list[str] = []
    before: tuple[float, ...] | None = None
    for index in range(textpage.count_chars()):
        char = _character(pdfium.FPDFText_GetUnicode(textpage, index))
        box = textpage.get_charbox(index) if char.isalnum() else None
        if box and before and _lie_apart(before, box):
            pieces.append(" ")
        pieces.append(char)
        before = box
    return "".join(pieces)


def _character(code: int) -> str:
    if code == _HYPHEN:
        return ""
    return chr(code) if 0 < code < 0x110000 else ""  # noqa: PLR2004 (the last code point)


def _lie_apart(first: tuple[float, ...], second: tuple[float, ...]) -> bool:
    gap = max(second[0] - first[2], first[0] - second[2], second[1] - first[3], first[1] - second[3])
    largest = max(first[2] - first[0], first[3] - first[1], second[2] - second[0], second[3] - second[1])
    return gap > _GAP * largest


def _tidy(text: str) -> str:
    r"""Join words that are broken at a line end; one kind of line end.

    pdfium marks the hyphens. A narrow cell breaks a word without one: there a label is known by its word.

    >>> _tidy("re\ufffe\r\nferred"), _tidy("Healt\r\nh card\r\nnumb\r\ner"), _tidy("Roy\r\nAnn")
    ('referred', 'Health card\nnumber', 'Roy\nAnn')
    """
    text = text.replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\r\n", "\n").replace("\0", " ")
    return _BOXED.sub(_joined_boxes, _BROKEN.sub(_joined_label, text))


def _joined_boxes(match: re.Match[str]) -> str:
    """Join the signs of a form that has a box for each; a scale, or a row of zeros and ones, is none."""
    signs = match.group().replace(" ", "")
    codes = [ord(sign) for sign in signs]
    is_scale = all(second - first in (0, 1) for first, second in pairwise(codes))
    most = _MOST_DIGITS if signs[0].isdecimal() else _MOST_CAPITALS
    is_boxed = not is_scale and len(set(signs)) >= _FEW_SIGNS and len(signs) <= most
    return signs if is_boxed else match.group()


def _joined_label(match: re.Match[str]) -> str:
    head, tail = match.groups()
    is_broken = is_label_word(head + tail) and not is_label_word(head) and not is_label_word(tail)
    return head if is_broken else match.group()
