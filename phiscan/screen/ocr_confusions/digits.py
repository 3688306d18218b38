"""Digits that OCR read as letters, and codes of both: corrected lines, by what the shape of a value allows.

S, B, Z, G, b, g and q are letters of codes far more often than misread digits ("S55-0117", "118 B20 447").
They are read as digits only where a shape leaves no other reading: a day, an age, a number in groups of
which two in three are digits. The format of a code says where a digit is and where a letter ("83H 4R1").
Letters of a postal code, and digits of a ZIP code, are guessed only after the province or state that says
what comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from phiscan.screen.ocr_confusions.line import Edit

_AS_FIGURE = str.maketrans("OQDoUlIiZzSsGbBgq", "00000111225566899")
_F = "[0-9OQDolIiZSGbBgq]"
_COMMON = frozenset("OQolIi")  # which other readers take for figures
_MONTH = (
    r"(?i:jan(?:uary|v(?:ier)?)?|f[eé]v(?:rier|r)?|feb(?:ruary)?|mar(?:ch|s)?|apr(?:il)?|avr(?:il)?|may|mai|june?|juin|"
    r"july?|juil(?:let)?|aug(?:ust)?|ao[uû]t|sep(?:t(?:embre|ember)?)?|o[ck]t(?:ober|obre)?|nov(?:ember|embre)?|"
    r"d[eé]c(?:ember|embre)?)"
)
_GROUPED = re.compile(rf"{_F}++")
_JOINT = re.compile(r" ?[-/.] ?| ?\)[ ]?[-.]? ?| ?\([ ]?| ")
_TOKEN = re.compile(r"[^\W_]++")
_SINGLE = re.compile(r"(?<![^\W_])[0-9OolISBZ](?: (?:[-.] )?[0-9OolISBZ]){6,40}(?![^\W_])")
_GROUPS_CHARS = 7  # figures of a number in groups
_MIN_GROUP = 3  # signs of a group that only a space joins
_LONE_CHARS = 6
_ENDING_CHARS = (
    9  # of a number that may end with a misread figure; shorter ones have letters of their own there
)
_LABORATORY = re.compile(r"\d\d[A-Z]\d{7}")  # the number of a laboratory under CLIA
_DATES = tuple(
    re.compile(rf"(?<![^\W_])(?<![-/.])(?:{shape})(?![^\W_])(?![-/.]\w)")
    for shape in (
        rf"(?P<y>[12ZlI]{_F}{{3}})(?P<s>[-/.])(?P<m>{_F}{{2}})(?P=s)(?P<d>{_F}{{2}})",
        rf"(?P<d>{_F}{{1,2}})(?P<s>[-/.])(?P<m>{_F}{{1,2}})(?P=s)(?P<y>{_F}{{4}}|{_F}{{2}})",
    )
)
_ISO_TIME = re.compile(
    rf"(?<![^\W_])(?P<y>[12ZlI]{_F}{{3}})-(?P<m>{_F}{{2}})-(?P<d>{_F}{{2}})(?=[T ][0-9OlIZSB]{{2}}:)"
)
_TIME = re.compile(
    r"(?<![^\W_])[12][0-9]{3}-?[0-9]{2}-?[0-9]{2}T(?P<time>[0-9OolIZSBb]{2}:?[0-9OolIZSBb]{2}(?::?[0-9OolIZSBb]{2})?)"
)
_NO_YEAR = re.compile(r"(?<![^\W_])(?<![-/.])[0-9OolISBZbgq]{1,2}/[0-9OolISBZbgq]{1,2}(?![^\W_])(?![-/.]\w)")
_PREFIXED = re.compile(r"(?<![^\W_-])[A-Z]{1,2}(?P<rest>[0-9][0-9OolISBZbgq]{5,10}[0-9])(?![^\W_])(?!-\w)")
_ENDING = re.compile(
    r"(?<![^\W_])[0-9OlI]{1,2}(?P<ending>tb|fh|sf|ud|c(?= (?:[Rr]ang|[ée]tage|[Aa]venue|[Rr]ue)\b))(?![^\W_])"
)
_ENDINGS = {"c": "e", "tb": "th", "fh": "th", "sf": "st", "ud": "nd"}
_YEAR = rf"(?P<y>[12ZlI]{_F}{{3}}"
_TAIL = r"(?![^\W_])"
_SHORT_MONTH = "(?:(?i:jan|feb|mar|apr|may|jun|jul|aug|sep|nov|dec)|(?P<o>[Oo0])(?i:ct))"
_WRITTEN = tuple(
    re.compile(rf"(?<![^\W_])(?:{shape}){_TAIL}")
    for shape in (
        (
            rf"(?P<d>{_F}{{1,2}})(?i:st|nd|rd|th|er)?(?: of |[ ,/-]{{1,2}}){_MONTH}"
            rf"(?:[.,]{{0,2}}[ /-]{_YEAR}|[0-9]{{2}}))?"
        ),
        rf"{_MONTH}(?:[.] ?|[ -])(?P<d>{_F}{{1,2}})(?i:st|nd|rd|th)?(?:(?: ?, ?|[ /-]){_YEAR}))?",
        rf"{_MONTH}[.,]{{0,2}} {_YEAR})",
        rf"(?P<d>[0-9OlIZSB]{{2}}){_SHORT_MONTH}(?P<y>[0-9OlIZSB]{{2}}(?:[0-9OlIZSB]{{2}})?)",
    )
)
_AGES = re.compile(
    r"(?<![^\W_])(?<!\d[-/.])(?P<a>[9gq][0-9OolISBZbgq])(?=[ -]?(?:years?|yrs?|y\.?o\b|y/o|ans\b|[MFH]\b))"
    r"|(?<![^\W_])(?:be|is|was|turns|turned|aged?|now|nearly|almost|âgée? de|agée? de|[MFH])"
    r" (?P<b>9[OolISBZb])(?![^\W_])(?![-/.]\w)"
    r"|\((?P<c>9[OolISBZb])(?=[),;!? ])"
)
_HEALTH_NUMBER = re.compile(
    r"(?<![^\W_])(?P<l>[A-Z8502]{4})[ -]?(?P<a>[0-9OIlSBZb]{4})[ -]?(?P<b>[0-9OIlSBZb]{4})(?![^\W_])"
)
_MAX_DAY, _MAX_MONTH = 31, 12
_OF_WOMEN = 50  # more, in the month of birth on a card of Quebec


def _one_misread(n_figures: int, first: str = "[0-9]") -> str:
    """Return a pattern of so many signs of which one at least is no figure."""
    forms = []
    for place in range(n_figures):
        before = "" if not place else first + "[0-9]" * (place - 1)
        forms.append(before + _RARE + _SIGN * (n_figures - place - 1))
    return f"(?:{'|'.join(forms)})"


_SIGN = "[0-9OolISBZGbgq]"
_RARE = "[OolISBZGbgq]"
_GROUP = (
    "(?:[SBZGbgq][0-9OlI]{2,3}|[0-9OolI][SBZGbgq][0-9OlI]{1,2}|[0-9OolI]{2}[SBZGbgq][0-9OlISBZ]?"
    "|[0-9OolI]{3}[SBZGbgq])"
)
_MONTHS = "(?i:jan|f[eé]v|feb|mar|a[pv]r|ma[iy]|ju[nil]|a[uo][gû]|sep|oct|nov|d[eé]c)"
_MISREAD_DAY = "(?:[0-3][SBZbgqG]|[ZSOlI][0-9OlIZSB]|[ZSB])"
# Where letters seem to stand for figures, for the automaton that asks whether a text was misread at all.
SIGNS = (
    rf"\b(?:[0-9]{{3}}\)?|[0-9]{{3}}-[0-9]{{2}})[ .-]{{1,2}}{_GROUP}\b",
    rf"\b{_GROUP}\)?[ .-]{{1,2}}[0-9OlI]{{3,4}}\b",
    r"\b[0-9]{2,}[SBZGbgq]{1,2}[0-9]{3,}\b|\b[0-9]+[SBZGbgq][0-9]{5,}\b|\b[0-9]{8,}[SBZGbgq]\b",
    rf"\b{_one_misread(4, '[12]')}[-/.]{_SIGN}{{2}}[-/.]{_SIGN}{{2}}",
    rf"\b[12]{_SIGN}{{3}}[-/.](?:{_one_misread(2)}[-/.]{_SIGN}{{2}}|{_SIGN}{{2}}[-/.]{_one_misread(2)})",
    rf"\b[0-9]{{1,2}}[-/.](?:{_RARE}|{_one_misread(2)})[-/.][0-9]{{2}}",
    rf"\b(?:{_RARE}|{_one_misread(2)})[-/.][0-9]{{1,2}}[-/.][0-9]{{2}}",
    rf"\b[0-9]{{1,2}}[-/.][0-9]{{1,2}}[-/.](?:{_one_misread(2)}|{_one_misread(4)})\b",
    r"\b[0-9]{1,2}/(?:[0-3][SBZbgq]|[ZSB][0-9])\b|\b[ZSB]/[0-9]{2}\b",
    rf"\b{_MISREAD_DAY}(?:st|nd|rd|th|er)?[ -]?{_MONTHS}",
    rf"\b{_MONTHS}[a-zéû]{{0,6}}[. -]{{1,2}}{_MISREAD_DAY}\b",
    r"\b(?:Z0[0-9OlISBZ]{2}|2[Oo0][0-9][SBZb]|[12][0-9OolI][SBZb][0-9OlISBZ]|19[0-9][SBZbgq])\b",
    r"\b(?:0[1-9]|[12][0-9]|3[01])0CT[0-9]{2}",
    r"\b(?:9[OolISBZbgq]|[gq][0-9])[ -]?(?:y|ans\b)|\((?:9[OolISBZb])[),;!? ]",
    r"\b(?:is|was|be|turns|turned|aged?|now|nearly|almost|de|[MFH]) 9[OolISBZb]\b",
    r"\b[A-Z]{4} ?[0-9]{0,3}[SBZOlIb][0-9SBZOlIb]{0,3} ?[0-9OlISBZ]{4}\b",
    r"\b[A-Z]{4} ?[0-9]{4} ?[0-9]{0,3}[SBZOlIb][0-9SBZOlIb]{0,3}\b",
    r"\b(?:[8502][A-Z]{3}|[A-Z][8502][A-Z]{2}|[A-Z]{2}[8502][A-Z]|[A-Z]{3}[8502]) ?[0-9]{4} ?[0-9]{4}\b",
)


def corrected_digits(text: str) -> Iterator[Edit]:
    """Yield the letters of a line that are figures: of days, ages, numbers in groups and long ones."""
    edits: dict[int, str] = {}
    for reader in (_in_single_signs, _in_dates, _in_written_dates, _in_ages, _in_groups, _in_codes):
        for place, new in reader(text):
            edits.setdefault(place, new)
    return (Edit(place, place + 1, edits[place]) for place in sorted(edits))


def _read(text: str, start: int, end: int) -> Iterator[tuple[int, str]]:
    for place in range(start, end):
        new = text[place].translate(_AS_FIGURE)
        if new != text[place] and new.isdecimal():
            yield place, new


def _n_figures(value: str) -> float:
    """Return how many signs are figures; what is often misread for one counts half."""
    return sum(1.0 if c.isdecimal() else 0.5 * (c in _COMMON) for c in value)


def _in_single_signs(text: str) -> Iterator[tuple[int, str]]:
    """Read "8 l 9  S 5 5 - O l O 4"."""
    for match in _SINGLE.finditer(text):
        signs = [c for c in match[0] if c not in " -."]
        if 2 * _n_figures("".join(signs)) >= len(signs):
            yield from _read(text, *match.span())


def _in_dates(text: str) -> Iterator[tuple[int, str]]:
    for shape in (*_DATES, _ISO_TIME):
        for match in shape.finditer(text):
            parts = [match["y"], match["m"], match["d"]]
            signs = "".join(parts)
            if (
                5 * _n_figures(signs) >= 3 * len(signs)
                and any(c.isdecimal() for c in signs)
                and _is_day(*parts)
            ):
                for group in "ymd":
                    yield from _read(text, *match.span(group))
    for match in _TIME.finditer(text):
        yield from _read(text, *match.span("time"))
    for match in _NO_YEAR.finditer(text):
        parts = match[0].split("/")
        if _n_figures("".join(parts)) >= 2 and _is_day("20", *parts):  # noqa: PLR2004 (a figure beside the misread one)
            yield from _read(text, *match.span())
    for match in _ENDING.finditer(text):
        yield from enumerate(_ENDINGS[match["ending"]], match.start("ending"))


def _in_written_dates(text: str) -> Iterator[tuple[int, str]]:
    for shape in _WRITTEN:
        for match in shape.finditer(text):
            groups = match.groupdict()
            day, year = groups.get("d"), groups.get("y")
            signs = (day or "") + (year or "")
            is_sure = 2 * _n_figures(signs) >= len(signs) and any(c.isdecimal() for c in signs)
            if not is_sure or (day and not 0 < _value(day) <= _MAX_DAY):
                continue
            for group in "dy":
                if groups.get(group):
                    yield from _read(text, *match.span(group))
            if groups.get("o") == "0":
                yield match.start("o"), "O"


def _is_day(year: str, month: str, day: str) -> bool:
    """Tell whether figures are a day of a month, in either order."""
    one, other = sorted((_value(month), _value(day)))
    begins = year.translate(_AS_FIGURE)[:2] in ("18", "19", "20") or len(year) == 2  # noqa: PLR2004 (two figures)
    return begins and 0 < one <= _MAX_MONTH and other <= _MAX_DAY


def _value(figures: str) -> int:
    return int(figures.translate(_AS_FIGURE))


def _in_ages(text: str) -> Iterator[tuple[int, str]]:
    for match in _AGES.finditer(text):
        group = match.lastgroup or "a"
        yield from _read(text, *match.span(group))


def _in_groups(text: str) -> Iterator[tuple[int, str]]:
    """Read numbers in groups of which two in three signs are figures, and long ones in one piece."""
    run: list[re.Match[str]] = []
    for token in _TOKEN.finditer(text):
        is_part = _GROUPED.fullmatch(token[0]) is not None
        if run and not (is_part and _JOINT.fullmatch(text, run[-1].end(), token.start())):
            yield from _of_run(text, run)
            run = []
        if is_part:
            run.append(token)
    yield from _of_run(text, run)


def _of_run(text: str, run: list[re.Match[str]]) -> Iterator[tuple[int, str]]:
    value = "".join(token[0] for token in run)
    if value.isdecimal() or 3 * _n_figures(value) < 2 * len(value):
        return
    if len(run) == 1:
        if _is_number(value):
            yield from _read(text, *run[0].span())
        return
    if len(value) < _GROUPS_CHARS:
        return
    signed = [bool(text[a.end() : b.start()].strip()) for a, b in pairwise(run)]
    for token, before, behind in zip(run, (False, *signed), (*signed, False), strict=True):
        if any(c.isdecimal() for c in token[0]) and (len(token[0]) >= _MIN_GROUP or before or behind):
            yield from _read(text, *token.span())


def _is_number(value: str) -> bool:
    """Tell whether a long token is a number of figures, but for what was misread."""
    if (
        len(value) < _LONE_CHARS
        or _LABORATORY.fullmatch(value)
        or not (value[0].isdecimal() or value[0] in _COMMON)
    ):
        return False
    return value[-1].isdecimal() or value[-1] in _COMMON or len(value) >= _ENDING_CHARS


def _in_codes(text: str) -> Iterator[tuple[int, str]]:
    """Read the four letters and eight figures of a card of Quebec, and one or two letters before a number."""
    for match in _PREFIXED.finditer(text):
        if 4 * _n_figures(match["rest"]) >= 3 * len(match["rest"]):
            yield from _read(text, *match.span("rest"))
    for match in _HEALTH_NUMBER.finditer(text):
        figures = match["a"] + match["b"]
        letters = match["l"]
        n_letters = sum(c.isalpha() for c in letters)
        born = figures.translate(_AS_FIGURE)
        is_born = int(born[2:4]) % _OF_WOMEN in range(1, _MAX_MONTH + 1) and 0 < int(born[4:6]) <= _MAX_DAY
        if sum(c.isdecimal() for c in figures) < _LONE_CHARS or n_letters < len(letters) - 1 or not is_born:
            continue
        for place in range(*match.span("l")):
            if text[place].isdecimal():
                yield place, text[place].translate(AS_LETTER)
        yield from _read(text, *match.span("a"))
        yield from _read(text, *match.span("b"))


AS_DIGIT = str.maketrans("OQolI|!iSBZbgq", "00011111582699")
_POSTAL = re.compile(
    r"(?<![^\W_])[ABCEGHJ-NPRSTVXY](?P<a>[0-9OQIl|SBZ])[ABCEGHJ-NPRSTV-Z][ -]?"
    r"(?P<b>[0-9OQIl|SBZ])[ABCEGHJ-NPRSTV-Z](?P<c>[0-9OQIl|SBZ])(?![^\W_])"
)
# Letters that were misread, too: after the province that says what comes.
_PROVINCE = r"(?:AB|BC|MB|NB|NL|NS|NT|NU|ON|PE|QC|SK|YT)"
_FAR_POSTAL = re.compile(
    rf"(?<![^\W_]){_PROVINCE}[ ,|;\t]{{1,2}}"
    r"(?P<l>[A-Y85])[0-9OIl](?P<m>[A-Z0258]) ?[0-9OIl](?P<r>[A-Z0258])[0-9OIl](?![^\W_])"
)
_STATE = (
    r"(?:A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]"
    r"|UT|V[AT]|W[AIVY])"
)
_ZIP = re.compile(rf"(?<![^\W_]){_STATE} {{1,3}}(?P<zip>[0-9OQolISBZb]{{5}})(?![^\W_])")
AS_LETTER = str.maketrans("8502", "BSOZ")
_VIN = re.compile(r"(?<![^\W_])(?=[A-Z]{0,16}\d)[A-Z0-9l|bgq]{17}(?![^\W_])")
_VIN_DIGITS = 5
_ZIP_DIGITS = 3  # of five that must be digits
_DOLLAR = re.compile(r"(?<![\w$])\$(?=\d{3,5}(?:-\d{2,6}){2})")  # no sum has two hyphens
_TITLE = r"(?:[Dd]re?|DRE?|Mme|MME|Mr|Mrs|Ms|Prof)"
_INITIAL = re.compile(rf"(?<![^\W_]){_TITLE}\.? (?P<sign>[0|1])(?=\. ?[A-Z][A-Za-z])")
_AS_INITIAL = {"0": "O", "|": "I", "1": "I"}
# What of these asks for a closer look.
CODE_SIGNS = (
    r"\$[0-9]{3,5}-[0-9]{2,6}-[0-9]{2,6}",
    rf"\b{_TITLE}\.? [0|1]\. ?[A-Z][A-Za-z]",
    r"\b[ABCEGHJ-NPRSTVXY][OIl][A-Z] ?[0-9][A-Z][0-9O]\b",
)


def corrected_codes(text: str) -> Iterator[Edit]:
    """Yield digits, and letters, where a code of both must have them, in order."""
    found: list[Edit] = []
    for match in _POSTAL.finditer(text):
        places = [match.start(group) for group in "abc"]
        if any(text[place].isdecimal() for place in places):
            found += _digits_at(text, places)
    for match in _FAR_POSTAL.finditer(text):
        found += [
            Edit(match.start(group), match.end(group), match[group].translate(AS_LETTER))
            for group in "lmr"
            if match[group].isdecimal()
        ]
    for match in _ZIP.finditer(text):
        if sum(c.isdecimal() for c in match["zip"]) >= _ZIP_DIGITS:
            found += _digits_at(text, range(*match.span("zip")))
    for match in _VIN.finditer(text):
        if sum(c.isdecimal() for c in match[0]) >= _VIN_DIGITS:
            found += _digits_at(text, [place for place in range(*match.span()) if text[place] in "OIQl|bgq"])
    found += [Edit(match.start(), match.end(), "S") for match in _DOLLAR.finditer(text)]
    of_place = {edit.start: edit for edit in found}  # a vehicle number may hold what looks like a postal code
    return (of_place[place] for place in sorted(of_place))


def corrected_initials(text: str) -> Iterator[Edit]:
    """Yield the letter that a figure or a stroke after a title is: "Dre 0. Mbemba", "Dr |. Wiebe"."""
    for match in _INITIAL.finditer(text):
        yield Edit(match.start("sign"), match.end("sign"), _AS_INITIAL[match["sign"]])


def _digits_at(text: str, places: Iterable[int]) -> list[Edit]:
    return [
        Edit(place, place + 1, text[place].translate(AS_DIGIT))
        for place in places
        if not text[place].isdecimal()
    ]
