"""Codes of letters and digits that a scanner misread: lA0 in a postal code, 83H 4R1, MO 65b53.

Their format says where a digit stands and where a letter. Letters of a postal code, and digits of a ZIP code,
are guessed only after the province or state that says what comes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from phiscan.screen.ocr_confusions.line import Edit

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
