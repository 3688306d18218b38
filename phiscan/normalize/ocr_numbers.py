"""Numbers that OCR misread, corrected: O3/ll/l984, 4822 9l6 O35, 5 5 5 - 0 1 4 2, K1A OB1.

Letters count as digits only in a token of digits and look-alikes, and only where a real digit is in the same
number. A dose or a measure is left alone. Codes whose format says where a digit is and where a letter are in
one table. Whether "33 O7182" is one number or two cannot be seen, so both readings are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from phiscan.normalize.ocr_line import Edit, Line

AS_DIGIT = str.maketrans("OQolI|!iSBZbgq", "00011111582699")
_AS_LETTER = str.maketrans("8502", "BSOZ")
_AS_VEHICLE_DIGIT = str.maketrans("OIQl|bgq", "01011699")  # the other letters are of its alphabet
_PROVINCE = r"(?:AB|BC|MB|NB|NL|NS|NT|NU|ON|PE|QC|SK|YT)"
_STATE = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]"
    r"|UT|V[AT]|W[AIVY])"
)
_D, _L = "[0-9OQIl|SBZ]", "[ABCEGHJ-NPRSTV-Z]"
# A code, in whose groups every character is a digit (or, in the second, a letter); its confusions; how many
# digits the groups have as they are written.
_CODES: tuple[tuple[re.Pattern[str], dict[int, int], int], ...] = (
    (
        re.compile(rf"(?<![^\W_])[ABCEGHJ-NPRSTVXY]({_D}){_L}[ -]?({_D}){_L}({_D})(?![^\W_])"),
        AS_DIGIT,
        1,
    ),
    (
        re.compile(
            rf"(?<![^\W_]){_PROVINCE}[ ,|;\t]{{1,2}}"
            r"([A-Y85])[0-9OIl]([A-Z0258]) ?[0-9OIl]([A-Z0258])[0-9OIl](?![^\W_])"
        ),
        _AS_LETTER,
        1,
    ),
    (re.compile(rf"(?<![^\W_]){_STATE} {{1,3}}([0-9OQolISBZb]{{5}})(?![^\W_])"), AS_DIGIT, 3),
    (re.compile(r"(?<![^\W_])((?=[A-Z]{0,16}\d)[A-Z0-9l|bgq]{17})(?![^\W_])"), _AS_VEHICLE_DIGIT, 5),
)
# Numbers in groups, and long ones in one piece, in which two of three characters are digits.
_AS_FIGURE = str.maketrans("OQDoUlIiZzSsGbBgq", "00000111225566899")
_COMMON = frozenset("OQolIi")  # so often misread that they count as half a digit
_FIGURES = re.compile(r"[0-9OQDolIiZSGbBgq]++")
_GROUP = re.compile(r"[^\W_]++")
_GROUPS_CHARS, _LONE_CHARS, _ENDING_CHARS = 7, 6, 9  # of a number in groups; of one; of one that ends misread
_MIN_GROUP = 3  # characters of a group that only a space joins
_LABORATORY = re.compile(r"\d\d[A-Z]\d{7}")  # the number of a laboratory under CLIA
_DIGIT_OR = r"[0-9OQolI|]"
_TOKEN = re.compile(r"(?:[^\W_]|(?<=[^\W_])[|!](?=[^\W_]))++")
_PURE = re.compile(rf"{_DIGIT_OR}++")
# Letters that are seldom digits: only between two, in a number of four characters or more.
_RARE = re.compile(r"(?=(?:\D*\d){2})(?=.{4})[0-9OQolI|](?:[0-9OQolI|iSBZ!]*[0-9OQolI|])")
_RARE_FIRST = re.compile(r"\d{1,2}[SBZ]$")  # 55S-0142
_PREFIXED = re.compile(rf"(?P<head>[A-Z]{{1,6}}?)(?P<rest>(?=(?:\D*\d){{2}})[0-9OQlI]{_DIGIT_OR}{{2,}})")
_SUFFIXED = re.compile(rf"(?P<rest>(?=(?:\D*\d){{3}}){_DIGIT_OR}{{4,}})(?P<tail>[A-HJ-NPR-Z]{{1,2}})")
_ORDINAL = re.compile(r"(?P<rest>[0-9lIO]{1,2})(?P<tail>st|nd|rd|th)")
# What joins the digits of one number: at most one sign, with a space on either side, or a bracket.
_JOINT = re.compile(r" ?[-/.] ?| ?\)[ ]?[-.]? ?| ?\([ ]?| ")
_OPENING = re.compile(r" [-/.)]|[-/] |\) [-.]|\( ")
_UNIT = re.compile(
    r" ?(?:mg|mcg|µg|ug|rng|rncg|g|kg|rnl|m[lL1I]|d[lL]|[lL]|cc|units?|unités?|mEq|rnEq|mmol|rnrnol|%|lbs?|"
    r"cm|crn|mm|rnrn|bpm|tabs?|caps?|comprimés?|co|gtts?|puffs?|hours?|hrs?|h|mins?|min|days?|wks?|weeks?|"
    r"jours?|jrs?|semaines?|mois|months?)(?![^\W_])"
)
_NOT_A_DIGIT = re.compile(r"[^\d]")
_SHORT_RUN = 4
_LONG_RUN = 7
_FEW = 3  # single digits, one after the other, before their spaces are taken for OCR's
# A Medicare number: digits and letters in the order of its format, with spaces and hyphens between.
_MBI_LETTER, _MBI_EITHER, _MBI_DIGIT = "[AC-HJKMNP-RT-Y]", "[A-Z0-9l|]", "[0-9OQIl|SBZ]"
_MBI = re.compile(
    r"(?<![^\W_])(?=[^\n]{0,40}?\d)"
    + "[ -]{0,3}".join({"9": _MBI_DIGIT, "A": _MBI_LETTER, "X": _MBI_EITHER}[kind] for kind in "9AX9AX9AA99")
    + r"(?![^\W_])"
)
_MBI_DIGITS, _MBI_EITHERS = frozenset({0, 3, 6, 9, 10}), frozenset({2, 5})
# Two spaces for one; three only in "Chicago   IL   60641", since columns have them; one before a stop.
_WIDE = re.compile(
    r"(?<=\S)  (?=\S)|(?<= [A-Z]{2}) {3}(?=\d{5}\b|[A-Z]\d[A-Z])|(?<=[a-z]) {3}(?=[A-Z]{2} {1,3}[A-Z]?\d)"
    r"|(?<=\w) (?=[.,](?: |$))"
)


@dataclass(frozen=True, slots=True)
class _Token:
    """A token that may be a part of a number: where its digits begin and end, and whether more may touch."""

    start: int
    end: int
    digits: tuple[int, int]
    is_bare: bool  # nothing but digits and look-alikes

    def n_real(self, text: str) -> int:
        return sum(c.isdecimal() for c in text[self.digits[0] : self.digits[1]])


def as_digits(line: Line, *, bars: bool) -> Line:
    """Return a line in which letters misread for digits are digits; no character is added or lost."""
    line = line.edited(_grouped(line.text))
    text = line.text
    edits: dict[int, Edit] = {}
    for run in _runs(text, bars=bars):
        for token in _tokens_of_digits(text, run):
            for place in range(*token.digits):
                if not text[place].isdecimal():
                    edits[place] = Edit(place, place + 1, text[place].translate(AS_DIGIT))
    line = line.edited(edits[place] for place in sorted(edits))
    return line.edited(corrected_codes(line.text))


def corrected_codes(text: str) -> Iterator[Edit]:
    """Yield digits, and letters, where the format of a code has them, in order."""
    found: dict[int, Edit] = {}  # a vehicle number may hold what looks like a postal code
    for pattern, confusions, min_digits in _CODES:
        for match in pattern.finditer(text):
            places = [place for group in range(1, pattern.groups + 1) for place in range(*match.span(group))]
            if sum(text[place].isdecimal() for place in places) < min_digits:
                continue
            for place in places:
                char = text[place].translate(confusions)
                if char != text[place]:
                    found[place] = Edit(place, place + 1, char)
    return (found[place] for place in sorted(found))


def run_together(line: Line) -> Line:
    """Return a line in which the groups of a misread number are one: "33 O7182", "5 5 5 - 0 1 4 2"."""
    line = line.edited(_inner_spaces(line))
    return narrowed(line.edited(_medicare(line.text)))


def narrowed(line: Line) -> Line:
    """Return a line with one space where OCR put two, and none before a stop or a comma."""
    return line.edited(Edit(*m.span(), " " * (m[0] != " "), counts=False) for m in _WIDE.finditer(line.text))


def _grouped(text: str) -> Iterator[Edit]:
    """Yield the letters that are digits of numbers in groups, by the share of digits among all groups."""
    run: list[re.Match[str]] = []
    for token in _GROUP.finditer(text):
        is_part = _FIGURES.fullmatch(token[0]) is not None
        if run and not (is_part and _JOINT.fullmatch(text, run[-1].end(), token.start())):
            yield from _of_groups(text, run)
            run = []
        if is_part:
            run.append(token)
    yield from _of_groups(text, run)


def _of_groups(text: str, run: list[re.Match[str]]) -> Iterator[Edit]:
    value = "".join(token[0] for token in run)
    n_digits = sum(1.0 if c.isdecimal() else 0.5 * (c in _COMMON) for c in value)
    if value.isdecimal() or 3 * n_digits < 2 * len(value):
        return
    if len(run) == 1:
        chosen = run if _is_long_number(value) else []
    elif len(value) < _GROUPS_CHARS:
        chosen = []
    else:
        signs = [bool(text[a.end() : b.start()].strip()) for a, b in pairwise(run)]
        chosen = [
            token
            for token, before, after in zip(run, (False, *signs), (*signs, False), strict=True)
            if any(c.isdecimal() for c in token[0]) and (len(token[0]) >= _MIN_GROUP or before or after)
        ]
    for token in chosen:
        for place in range(*token.span()):
            new = text[place].translate(_AS_FIGURE)
            if new != text[place] and new.isdecimal():
                yield Edit(place, place + 1, new)


def _is_long_number(value: str) -> bool:
    """Tell whether a long token is a number but for what was misread."""
    begins = value[0].isdecimal() or value[0] in _COMMON
    if len(value) < _LONE_CHARS or _LABORATORY.fullmatch(value) or not begins:
        return False
    return value[-1].isdecimal() or value[-1] in _COMMON or len(value) >= _ENDING_CHARS


def _medicare(text: str) -> Iterator[Edit]:
    """Yield a Medicare number without its spaces, digits where its format has digits.

    Source: Centers for Medicare & Medicaid Services, "Understanding the MBI Format": no S, L, O, I, B, Z.
    """
    for match in _MBI.finditer(text):
        places = [place for place in range(*match.span()) if text[place] not in " -"]
        if sum(text[place].isdecimal() for place in places) < _FEW:
            continue
        digits = {
            place: "1" if text[place] == "L" else text[place].translate(AS_DIGIT)
            for number, place in enumerate(places)
            if number in _MBI_DIGITS or (number in _MBI_EITHERS and text[place] in "SLOIBZl|")
        }
        for place in range(*match.span()):
            new = digits.get(place, text[place] if place in places else "")
            if new != text[place]:
                yield Edit(place, place + 1, new)


def _runs(text: str, *, bars: bool) -> Iterator[list[_Token]]:
    """Yield the tokens of each number, those joined by one sign or one space."""
    run: list[_Token] = []
    for match in _TOKEN.finditer(text):
        token = _token(match, bars=bars)
        if run and not (
            token and _JOINT.fullmatch(text, run[-1].end, match.start()) and run[-1].end == run[-1].digits[1]
        ):
            yield run
            run = []
        if token and run and token.digits[0] != token.start:  # what begins with letters begins a number
            yield run
            run = []
        if token:
            run.append(token)
    if run:
        yield run


def _token(match: re.Match[str], *, bars: bool) -> _Token | None:
    text, start, end = match[0], match.start(), match.end()
    if not bars and ("|" in text or "!" in text):
        return None
    if _PURE.fullmatch(text) or _RARE.fullmatch(text) or _RARE_FIRST.fullmatch(text):
        return _Token(start, end, (start, end), True)
    for shape in (_ORDINAL, _SUFFIXED, _PREFIXED):
        found = shape.fullmatch(text)
        if found:
            return _Token(start, end, (start + found.start("rest"), start + found.end("rest")), False)
    return None


def _tokens_of_digits(text: str, run: list[_Token]) -> Iterator[_Token]:
    """Yield the tokens of a number whose look-alikes are digits."""
    last = run[-1]
    if _UNIT.match(text, last.end):  # a dose or a measure, and no part of what precedes it
        run = run[:-1]
    real = [token.n_real(text) for token in run]
    n_real = sum(real)
    n_chars = sum(token.digits[1] - token.digits[0] for token in run)
    if not n_real and not (len(run) == 1 and run[0].end != run[0].digits[1]):
        return
    spaced = 2 * n_real >= n_chars >= _SHORT_RUN
    for index, token in enumerate(run):
        value = text[slice(*token.digits)]
        if not token.is_bare:  # lst, V21-O99
            yield token
        elif not real[index]:
            if spaced or _is_signed(text, run, index):
                yield token
        elif _PURE.fullmatch(value) or _is_rarely_digits(text, run, index):
            yield token


def _is_rarely_digits(text: str, run: list[_Token], index: int) -> bool:
    """Tell whether S, B and Z are digits in a token: in a year, or in one group of several."""
    value = text[slice(*run[index].digits)]
    if _RARE_FIRST.fullmatch(value):
        n_chars = sum(token.end - token.start for token in run)
        return n_chars >= _LONG_RUN and _is_signed(text, run[index:], 0)
    return len(run) > 1 or len(value) <= _SHORT_RUN


def _is_signed(text: str, run: list[_Token], index: int) -> bool:
    """Tell whether a sign, and not a mere space, joins a token to a neighbour."""
    around = ((run[index - 1].end, run[index].start) if index else None,
              (run[index].end, run[index + 1].start) if index + 1 < len(run) else None)  # fmt: skip
    return any(gap is not None and bool(text[slice(*gap)].strip()) for gap in around)


def _inner_spaces(line: Line) -> Iterator[Edit]:
    """Yield the spaces that OCR put into numbers, as edits that delete them."""
    text = line.text
    for run in _runs(text, bars=False):
        if len(run) == 1 or any(_NOT_A_DIGIT.search(text, *token.digits) for token in run):
            continue
        if _UNIT.match(text, run[-1].end):
            run = run[:-1]  # noqa: PLW2901 (the dose belongs to no number)
        if not run:
            continue
        is_open = [_OPENING.search(text, a.end, b.start) is not None for a, b in pairwise(run)]
        is_whole = 1 in line.changed[run[0].start : run[-1].end] or (
            sum(token.end - token.start == 1 for token in run) >= _FEW
        )
        for (before, after), opens in zip(pairwise(run), is_open, strict=True):
            if is_whole or opens:
                for place in range(before.end, after.start):
                    if text[place] == " ":
                        yield Edit(place, place + 1, "")
