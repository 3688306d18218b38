"""The words of a PDF page: what pdfium calls its text, put together where it joins or breaks words.

pdfium finds the gaps between words along the line that it believes in. Where lines are turned, as in the head
of a narrow table, it may put the words of several lines together; there the gaps are looked for again.
"""

from __future__ import annotations

import ctypes
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import atan2, cos, degrees, radians, sin
from statistics import median
from typing import Any

from phiscan.extract.core.labels import is_label_word

# Lines of glyphs that are drawn in another order than they are read, put together by position.
# Design programs, plotters and old typesetting place each glyph by itself: from right to left, mirrored,
# one below the other, along a turned line, or twice. pdfium gives such a line reversed, doubled, or in
# pieces.

_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")  # pdfium puts these in order
_LETTERS = re.compile(r"[^\W_]{2}")
_MOST_LINES = 100  # of a page, of which two letters are looked at
_MOST_GLYPHS = 20_000
_SAME = 0.3  # of the size of a glyph: distance within a line
_GLYPH_GAP = 0.18  # of the size: least distance between words
_WIDE = 2.0  # of the size: distance between columns
_STEP = 1.5  # of the usual step in a column of glyphs: a blank
_MIN_LINE = 4  # glyphs
_DOUBLED = re.compile(r"([A-Za-z\xc0-\xff,:;])\1")
_SAMPLE, _MIN_DOUBLED, _DOUBLED_SHARE = 3_000, 5, 0.06  # characters; letters in a row that are alike
_NEAR = 4  # glyphs before a shadow among which its letter is
_SAME_DISTANCE, _SAME_SHARE = 0.25, 0.08  # points; of the size
_BROKEN_SHARE = 0.15  # of the steps within a line: back, or over a line break
_MIN_SHORT = 8  # lines of one or two characters on a page that is looked at


@dataclass(frozen=True, slots=True)
class _Glyph:
    char: str
    index: int  # in pdfium's order
    along: float
    across: float
    width: float
    size: float


def reordered_lines(textpage: Any, text: str) -> list[str]:
    """Return the lines that ``text``, pdfium's text of the page, has in another order than they are read."""
    if not _is_reordered(textpage, text):
        return []
    found: dict[str, None] = {}
    groups: defaultdict[tuple[int, bool], list[_Glyph]] = defaultdict(list)
    for turn, glyph in _glyphs(textpage):
        groups[turn].append(glyph)
    for drawn in groups.values():
        glyphs, doubled = _without_shadows(sorted(drawn, key=lambda glyph: glyph.index))
        for line in (*_rows(glyphs, doubled), *_columns(glyphs)):
            found[line] = None
    shown = " ".join(text.split())
    return [line for line in found if " ".join(line.split()) not in shown and not _RIGHT_TO_LEFT.search(line)]


def _is_reordered(textpage: Any, text: str) -> bool:
    """Return whether the second of two letters in some line is left of the first, or below it."""
    lines = text.splitlines(keepends=True)
    short = sum(0 < len(line.strip()) <= 2 for line in lines)  # noqa: PLR2004 (one or two glyphs)
    if short >= _MIN_SHORT and 3 * short > len(lines):
        return True
    n_doubled = len(_DOUBLED.findall(text[:_SAMPLE]))
    if n_doubled >= _MIN_DOUBLED and n_doubled > _DOUBLED_SHARE * len(text[:_SAMPLE]):
        return True
    step = max(len(lines) // _MOST_LINES, 1)
    at = 0
    for number, line in enumerate(lines):
        pair = _LETTERS.search(line) if number % step == 0 else None
        if pair and _is_latin(pair.group()) and _runs_back(textpage, at + pair.start()):
            return True
        at += len(line)
    return False


def _is_latin(text: str) -> bool:
    return text.isascii() or all(unicodedata.bidirectional(char) == "L" for char in text)


def _runs_back(textpage: Any, index: int) -> bool:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    (x, y), (next_x, next_y) = _origin(textpage, index), _origin(textpage, index + 1)
    is_left = next_x < x - 1 and abs(next_y - y) < 1
    is_below = abs(next_x - x) < 0.01 and next_y < y - 1  # noqa: PLR2004 (rounding)
    if not (is_left or is_below):
        return False
    matrix = pdfium.FS_MATRIX()
    pdfium.FPDFText_GetMatrix(textpage, index, matrix)
    is_mirrored = matrix.a * matrix.d < matrix.b * matrix.c
    return bool(is_mirrored or matrix.a > abs(matrix.b))  # else the line itself is turned, and in order


def _origin(textpage: Any, index: int) -> tuple[float, float]:
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    x, y = ctypes.c_double(), ctypes.c_double()
    pdfium.FPDFText_GetCharOrigin(textpage, index, x, y)
    return x.value, y.value


def _glyphs(textpage: Any) -> Iterator[tuple[tuple[int, bool], _Glyph]]:
    """Yield the turn (degrees, and whether mirrored) of each glyph, and the glyph on axes turned that way."""
    import pypdfium2.raw as pdfium  # noqa: PLC0415

    matrix, box = pdfium.FS_MATRIX(), pdfium.FS_RECTF()
    for index in range(min(textpage.count_chars(), _MOST_GLYPHS)):
        code = pdfium.FPDFText_GetUnicode(textpage, index)
        if not 0x20 < code < 0x110000 or pdfium.FPDFText_IsGenerated(textpage, index) == 1:  # noqa: PLR2004
            continue
        pdfium.FPDFText_GetMatrix(textpage, index, matrix)
        pdfium.FPDFText_GetLooseCharBox(textpage, index, box)
        x, y = _origin(textpage, index)
        is_mirrored = matrix.a * matrix.d < matrix.b * matrix.c
        turn = 0 if is_mirrored else round(degrees(atan2(matrix.b, matrix.a))) % 360
        size = pdfium.FPDFText_GetFontSize(textpage, index) * max(abs(matrix.c) + abs(matrix.d), 1e-6)
        across, up = cos(radians(turn)), sin(radians(turn))
        is_level = abs(across) >= abs(up)
        width = abs(box.right - box.left) if is_level else abs(box.top - box.bottom)
        along = x * across + y * up - (width if is_mirrored else 0.0)
        yield (turn, is_mirrored), _Glyph(chr(code), index, along, y * across - x * up, width, size)


def _without_shadows(glyphs: list[_Glyph]) -> tuple[list[_Glyph], frozenset[int]]:
    """Return the glyphs without the second ones of letters that are drawn twice, and which these letters are.

    A shadow, or a bold face made by drawing twice, has the same distance from its letter throughout.
    """
    distances = Counter(
        (round(after.along - before.along, 1), round(after.across - before.across, 1))
        for before, after in pairwise(glyphs)
        if before.char == after.char and not _follows(before, after)
    )
    usual, count = next(iter(distances.most_common(1)), ((0.0, 0.0), 0))
    if count < _MIN_DOUBLED or count < _DOUBLED_SHARE * len(glyphs):
        return glyphs, frozenset()
    kept: list[_Glyph] = []
    doubled: set[int] = set()
    for glyph in glyphs:
        letter = next((one for one in kept[-_NEAR:] if _is_shadow(glyph, one, usual)), None)
        if letter is None or letter.index in doubled:
            kept.append(glyph)
        else:
            doubled.add(letter.index)
    return kept, frozenset(doubled)


def _is_shadow(glyph: _Glyph, letter: _Glyph, usual: tuple[float, float]) -> bool:
    distance = glyph.along - letter.along, glyph.across - letter.across
    is_there = all(abs(one - two) < _SAME_DISTANCE for one, two in zip(distance, usual, strict=True))
    return is_there and glyph.char == letter.char


def _follows(before: _Glyph, after: _Glyph) -> bool:
    """Return whether a glyph stands right behind another one on the same line."""
    is_next = abs(after.along - before.along - before.width) < _SAME_SHARE * before.size
    return is_next and abs(after.across - before.across) < _SAME_SHARE * before.size


def _rows(glyphs: list[_Glyph], doubled: frozenset[int]) -> Iterator[str]:
    """Yield the lines whose glyphs pdfium has from their end, in pieces, or twice."""
    for row in _clusters(sorted(glyphs, key=lambda glyph: -glyph.across), "across"):
        row.sort(key=lambda glyph: glyph.along)
        steps = [after.index - before.index for before, after in pairwise(row)]
        n_back = sum(step < 0 for step in steps)
        n_broken = sum(step > 2 for step in steps)  # noqa: PLR2004 (more than a blank between them)
        is_doubled = any(glyph.index in doubled for glyph in row)
        if len(row) >= _MIN_LINE and (is_doubled or max(n_back, n_broken) > _BROKEN_SHARE * len(steps)):
            yield _joined(row)


def _joined(row: list[_Glyph]) -> str:
    pieces = [row[0].char]
    for before, after in pairwise(row):
        gap = (after.along - before.along - before.width) / max(before.size, after.size, 1e-6)
        if before.char == after.char and after.along - before.along < _GLYPH_GAP * before.width:
            continue  # drawn twice, to look bold
        pieces += ("  " if gap > _WIDE else " " if gap > _GLYPH_GAP else "", after.char)
    return "".join(pieces)


def _columns(glyphs: list[_Glyph]) -> Iterator[str]:
    """Yield columns of single upright glyphs, each below the one before."""
    run: list[_Glyph] = []
    for glyph in [*sorted(glyphs, key=lambda glyph: glyph.index), None]:
        last = run[-1] if run else None
        if glyph is not None and last is not None:
            down = (last.across - glyph.across) / max(last.size, 1e-6)
            if abs(glyph.along - last.along) < _SAME * last.size and 0.5 < down < 4:  # noqa: PLR2004
                run.append(glyph)
                continue
        if len(run) > _MIN_LINE:
            usual = median(before.across - after.across for before, after in pairwise(run))
            pieces = [run[0].char]
            for before, after in pairwise(run):
                pieces += (" " if before.across - after.across > _STEP * usual else "", after.char)
            yield "".join(pieces)
        run = [] if glyph is None else [glyph]


def _clusters(glyphs: list[_Glyph], axis: str) -> Iterator[list[_Glyph]]:
    cluster: list[_Glyph] = []
    for glyph in glyphs:
        if cluster and abs(getattr(glyph, axis) - getattr(cluster[0], axis)) > _SAME * cluster[0].size:
            yield cluster
            cluster = []
        cluster.append(glyph)
    if cluster:
        yield cluster


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


def lines_of(pdf: Any, index: int) -> list[str]:
    """Return the lines of the text of one page of an open file; none where it cannot be loaded."""
    try:
        page = pdf.get_page(index)
    except RuntimeError:
        return []
    try:
        textpage = page.get_textpage()
        try:
            return page_words(textpage).split("\n")
        finally:
            textpage.close()
    finally:
        page.close()


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


# When the text of a page is garbage: characters that no reader would see, and numbers of glyphs as codes.

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
    return any(_is_prose("".join(_letter(ord(char) + _OFFSETS[0]) for char in line), line) for line in lines)


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
