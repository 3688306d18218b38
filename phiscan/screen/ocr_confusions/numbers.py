"""Numbers that a scanner misread: O3/ll/l984, 4822 9l6 O35, 5 5 5 - 0 1 4 2.

Letters count as digits only in a token of digits and look-alikes, and only where a real digit is in the
same number. A dose or a measure is left alone. Spaces inside a number are a second matter: whether
"33 O7182" is one number or two cannot be seen, so both readings are given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from phiscan.screen.ocr_confusions.digits import AS_DIGIT, corrected_codes, corrected_digits
from phiscan.screen.ocr_confusions.line import Edit, Line

_DIGIT_OR = r"[0-9OQolI|]"
_MONTH = r"(?:jan|f[eé]v|feb|mar|a[pv]r|ma[iy]|jui?n|jui?l|a[uo][gûu]|sep|oct|nov|d[eé]c)"
_TOKEN = re.compile(r"(?:[^\W_]|(?<=[^\W_])[|!](?=[^\W_]))++")
_PURE = re.compile(rf"{_DIGIT_OR}++")
# Letters that are seldom digits: only between two, in a number of four characters or more.
_RARE = re.compile(r"(?=(?:\D*\d){2})(?=.{4})[0-9OQolI|](?:[0-9OQolI|iSBZ!]*[0-9OQolI|])")
_RARE_FIRST = re.compile(r"\d{1,2}[SBZ]$")  # 55S-0142
_PREFIXED = re.compile(rf"(?P<head>[A-Z]{{1,6}}?)(?P<rest>(?=(?:\D*\d){{2}})[0-9OQlI]{_DIGIT_OR}{{2,}})")
_SUFFIXED = re.compile(rf"(?P<rest>(?=(?:\D*\d){{3}}){_DIGIT_OR}{{4,}})(?P<tail>[A-HJ-NPR-Z]{{1,2}})")
_ORDINAL = re.compile(r"(?P<rest>[0-9lIO]{1,2})(?P<tail>st|nd|rd|th)")
_PREMIER = re.compile(rf"[lI]er(?= {{1,3}}{_MONTH})", re.IGNORECASE)
# What joins the digits of one number: at most one sign, with a space on either side, or a bracket.
_JOINT = re.compile(r" ?[-/.] ?| ?\)[ ]?[-.]? ?| ?\([ ]?| ")
_OPENING = re.compile(r" [-/.)]|[-/] |\) [-.]|\( ")
_UNIT = re.compile(
    r" ?(?:mg|mcg|µg|ug|rng|rncg|g|kg|rnl|m[lL1I]|d[lL]|[lL]|cc|units?|unités?|mEq|rnEq|mmol|rnrnol|%|lbs?|"
    r"cm|crn|mm|rnrn|bpm|tabs?|caps?|comprimés?|co|gtts?|puffs?|hours?|hrs?|h|mins?|min|days?|wks?|weeks?|"
    r"jours?|jrs?|semaines?|mois|months?)(?![^\W_])"
)
_SHORT_RUN = 4
_LONG_RUN = 7
_FEW = 3  # digits that stand alone, one after the other, before their spaces are taken for a scanner's

_L, _E, _D = "[AC-HJKMNP-RT-Y]", "[A-Z0-9l|]", "[0-9OQIl|SBZ]"
_GLUE = "[ -]{0,3}"
_MBI = re.compile(
    r"(?<![^\W_])(?=[^\n]{0,40}?\d)"
    + _GLUE.join((_D, _L, _E, _D, _L, _E, _D, _L, _L, _D, _D))
    + r"(?![^\W_])"
)
_MBI_DIGITS = frozenset({0, 3, 6, 9, 10})
_MBI_EITHER = frozenset({2, 5})
_SLASHED = re.compile(r"(?<![^\W_/])\d\d(?P<bar>1)\d\d(?=[/1]\d{2}(?:\d\d)?(?![^\W_]))")
# Two spaces for one; three only in "Chicago   IL   60641", since columns have them; one before a stop.
_WIDE = re.compile(
    r"(?<=\S)  (?=\S)|(?<= [A-Z]{2}) {3}(?=\d{5}\b|[A-Z]\d[A-Z])|(?<=[a-z]) {3}(?=[A-Z]{2} {1,3}[A-Z]?\d)"
    r"|(?<=\w) (?=[.,](?: |$))"
)
_DEA = re.compile(r"(?<![^\W_])[A-Z]{2}(?P<gap> )\d{7}(?![^\W_])")


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
    line = line.edited(corrected_digits(line.text))
    text = line.text
    edits: dict[int, Edit] = {}
    for run in _runs(text, bars=bars):
        for token in _meant_as_digits(text, run):
            for place in range(*token.digits):
                if not text[place].isdecimal():
                    edits[place] = Edit(place, place + 1, text[place].translate(AS_DIGIT))
    for match in _PREMIER.finditer(text):
        edits.setdefault(match.start(), Edit(match.start(), match.start() + 1, "1"))
    line = line.edited(edits[place] for place in sorted(edits))
    line = line.edited(corrected_codes(line.text))
    return line.edited(_slashes(line))


def without_loose_spaces(line: Line) -> Line:
    """Return a line in which no space is beside the signs within a number: "l7 /O8/ l96l"."""
    return line.edited(_closed(line, all_spaces=False))


def run_together(line: Line) -> Line:
    """Return a line in which the groups of a misread number are one: "33 O7182", "5 5 5 - 0 1 4 2"."""
    line = line.edited(_closed(line, all_spaces=True))
    line = line.edited(_medicare(line.text))
    line = narrowed(line)
    return line.edited(
        Edit(*m.span("gap"), "") for m in _DEA.finditer(line.text) if 1 in line.changed[m.start() : m.end()]
    )


def narrowed(line: Line) -> Line:
    """Return a line with one space where a scanner saw two, and none before a stop or a comma."""
    return line.edited(Edit(*m.span(), " " * (m[0] != " "), counts=False) for m in _WIDE.finditer(line.text))


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


def _meant_as_digits(text: str, run: list[_Token]) -> Iterator[_Token]:
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


def _slashes(line: Line) -> Iterator[Edit]:
    """Yield the slash of a date that was read as one of the strokes: O4l12/2O24."""
    for match in _SLASHED.finditer(line.text):
        place = match.start("bar")
        if line.changed[place]:
            yield Edit(place, place + 1, "/")


def _medicare(text: str) -> Iterator[Edit]:
    """Yield a Medicare number without its spaces, digits where its format has digits.

    Source: Centers for Medicare & Medicaid Services, "Understanding the MBI Format": no S, L, O, I, B, Z.
    """
    for match in _MBI.finditer(text):
        places = [place for place in range(*match.span()) if text[place] not in " -"]
        chars = [text[place] for place in places]
        if sum(c.isdecimal() for c in chars) < _FEW:
            continue
        for number, char in enumerate(chars):
            if (
                number in _MBI_DIGITS or (number in _MBI_EITHER and char in "SLOIBZl|")
            ) and not char.isdecimal():
                chars[number] = "1" if char == "L" else char.translate(AS_DIGIT)
        new = dict(zip(places, chars, strict=True))
        for place in range(*match.span()):
            if new.get(place, "") != text[place]:
                yield Edit(place, place + 1, new.get(place, ""))


def _closed(line: Line, *, all_spaces: bool) -> Iterator[Edit]:
    """Yield the spaces that a scanner put into numbers: beside their signs, or all."""
    text = line.text
    for run in _runs(text, bars=False):
        if len(run) == 1 or any(_LOOK_ALIKE.search(text, *token.digits) for token in run):
            continue
        if _UNIT.match(text, run[-1].end):
            run = run[:-1]  # noqa: PLW2901 (the dose belongs to no number)
        if not run:
            continue
        loose = [_OPENING.search(text, a.end, b.start) is not None for a, b in pairwise(run)]
        lonely = sum(token.end - token.start == 1 for token in run) >= _FEW
        touched = 1 in line.changed[run[0].start : run[-1].end]
        if not (touched or lonely or any(loose)):
            continue
        for (before, after), is_loose in zip(pairwise(run), loose, strict=True):
            gap = text[before.end : after.start]
            if " " in gap and ((all_spaces and (touched or lonely)) or is_loose):
                for place in range(before.end, after.start):
                    if text[place] == " ":
                        yield Edit(place, place + 1, "")


_LOOK_ALIKE = re.compile(r"[^\d]")
