"""Listings of DICOM headers, as dcmdump, gdcmdump, pydicom and dcdump print them: the tag says what it is.

Source: DICOM PS3.6 (data elements), PS3.5 (value representations), PS3.15 annex E (which of them identify).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from phiscan.lexicon.capitalized_words import name_finding
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.validators.dates import is_day
from phiscan.text.passages import Passage, Piece

SCORE = 0.95
SOURCE = "dicom"
# (0010,0010) PN [ROY^ANN]  |  (0010, 0010) Patient's Name    PN: 'ROY^ANN'  |  ... VR=<PN> VL=<8> <ROY^ANN >
_LINE = re.compile(
    r"^[ \t>]{0,40}\((?:0x)?(?P<group>[0-9A-Fa-f]{4}), ?(?:0x)?(?P<element>[0-9A-Fa-f]{4})\)"
    r"(?:[ \t]{1,4}(?P<vr>[A-Z]{2})[ \t]\[(?P<value>[^\n]*(?=\])|[^\n]*)"
    r"|[ \t][^\n]{0,90}?[ \t](?P<vr2>[A-Z]{2}): (?P<value2>[^\n]*)"
    r"|[^\n<]{0,90}VR=<(?P<vr3>[A-Z]{2})>[^\n<]{0,20}VL=<[^\n<>]{0,20}>[ \t]{0,8}"
    r"<(?P<value3>[^\n]*(?=>)|[^\n]*)"
    r"|)[^\n]*",
    re.MULTILINE,
)
_REMARK = re.compile(
    r"[ \t]*(?:#[ \t]*(?:dicom-|used transfersyntax|$)|dataset\.file_meta|-{5})", re.IGNORECASE
)
_MIN_LINES = 2
_REACH = 2_200  # how far from what is found its line may begin and end
TEXT = frozenset({"LT", "ST", "UC", "UT"})
_WORDS = TEXT | {"LO", "SH", "PN", "UN", "UR", "DA", "DT", "AS"}  # what may identify, by its representation
DESCRIPTIONS = frozenset({"0008,1030", "0032,1060", "0040,0254"})  # of a study or procedure, by people
_BEHIND = re.compile(r"[\]>]?\s*(?:#|\Z)")  # what programs write after a value
_BLANK = " \t\r\0"
_DAY = re.compile(r"((?:18|19|20)\d{6})(?:\d{2,6}(?:\.\d{1,6})?)?")
_AGE = re.compile(r"(\d{3})Y")
_OLD = 90
_NOBODY = frozenset(
    "anon anonym anonymized anonymised anonymous anonyme none nobody removed test unknown inconnu".split()  # noqa: SIM905 (a list of words reads best as a text)
)
_ID, _MRN, _DEVICE = EntityType.OTHER_ID, EntityType.MRN, EntityType.DEVICE
KINDS: Mapping[str, EntityType] = MappingProxyType({
    "0002,0003": _ID, "0008,0018": _ID, "0020,000D": _ID, "0020,000E": _ID,  # identifiers of one examination
    "0008,0050": _ID, "0020,0010": _ID, "0040,0009": _ID, "0040,0253": _ID, "0040,1001": _ID,
    "0040,2016": _ID, "0040,2017": _ID, "0012,0040": _ID,
    "0010,0020": _MRN, "0010,1000": _MRN, "0010,1090": _MRN, "0038,0010": EntityType.ACCOUNT,
    "0018,1000": _DEVICE, "0018,1002": _DEVICE, "0018,1008": _DEVICE,
    "0008,0080": EntityType.ORGANIZATION,
    "0008,0081": EntityType.STREET_ADDRESS, "0008,0092": EntityType.STREET_ADDRESS,
    "0010,1040": EntityType.STREET_ADDRESS,
    "0008,0094": EntityType.PHONE, "0010,2154": EntityType.PHONE,
})  # fmt: skip
_IN_WORDS = frozenset({EntityType.ORGANIZATION, EntityType.STREET_ADDRESS})
_PATIENT = "0010"
_MIN_LETTERS = 2


class Element(NamedTuple):
    """A value of a header: its tag (0010,0010), its representation, where it stands, what it is."""

    tag: str
    representation: str
    start: int
    value: str


def is_listing(text: str) -> bool:
    r"""Tell whether the head of a text is the listing of a DICOM header.

    >>> is_listing("(0008,0060) CS [CT]\n(0010,0010) PN [ROY^ANN]"), is_listing("(0010,0010) is a tag")
    (True, False)
    """
    return (
        sum(1 for match in _LINE.finditer(text) if match["vr"] or match["vr2"] or match["vr3"]) >= _MIN_LINES
    )


def passages(text: str) -> Iterator[Passage]:
    """Yield the values that hold text, and the lines that are no part of the listing."""
    done = 0
    for match in _LINE.finditer(text):
        yield from _between(text, done, match.start())
        done = match.end()
        element = _element(match)
        if element is not None and (
            element.tag in DESCRIPTIONS or (element.representation in TEXT and element.tag not in KINDS)
        ):
            yield [Piece(element.start, element.start + len(element.value), element.value)]
    yield from _between(text, done, len(text))


def is_tag(text: str, span: Span) -> bool:
    """Tell whether what was found reaches out of the value of its line, or is in one that holds no words."""
    first = max(0, span.start - _REACH)
    start = text.rfind("\n", first, span.start) + 1
    if not start and first:
        return False  # in a line that long it is no tag
    stop = text.find("\n", span.end, span.end + _REACH)
    is_cut = stop < 0 and span.end + _REACH < len(text)  # and what is read of the value, too
    match = _LINE.match(text, start, span.end + _REACH if stop < 0 else stop)
    element = _element(match) if match is not None else None
    return match is not None and not (
        element is not None
        and element.representation in _WORDS
        and element.start <= span.start
        and (is_cut or span.end <= element.start + len(element.value))
    )


class ListingRecognizer:
    """Find the identifying elements of listed DICOM headers."""

    name: ClassVar = "messages.dicom_listing"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
        text = document.text
        if not any(mark in text for mark in ("(0008,", "(0010,", "(0x0008,", "(0x0010,")):
            return
        for match in _LINE.finditer(text):
            element = _element(match)
            if element is not None and element.value:
                yield from read_element(element)


def _between(text: str, start: int, end: int) -> Iterator[Passage]:
    for line in re.finditer(r"[^\r\n]+", text[start:end]):
        if not _REMARK.match(line[0]) and not line[0].isspace():
            yield [Piece(start + line.start(), start + line.end(), line[0])]


def _element(match: re.Match[str]) -> Element | None:
    for kind, name in (("vr", "value"), ("vr2", "value2"), ("vr3", "value3")):
        if match[kind] is not None:
            raw, tag = match[name], f"{match['group']},{match['element']}".upper()
            if (match[kind] in TEXT or tag in DESCRIPTIONS) and not _BEHIND.match(
                match.string, match.end(name), match.end()
            ):
                raw = match.string[match.start(name) : match.end()]  # that bracket was of the text
            value = raw.strip(_BLANK)
            start = match.start(name) + len(raw) - len(raw.lstrip(_BLANK))
            if value[:1] in {"'", '"', "["}:
                inner = value.strip("'\"[] ")
                start, value = start + value.index(inner) if inner else start, inner
            return Element(tag, match[kind], start, value)
    return None


def read_element(element: Element) -> Iterator[Finding]:
    """Yield what a value identifies, by its tag."""
    kind = KINDS.get(element.tag)
    day = _DAY.fullmatch(element.value) if element.representation in {"DA", "DT"} else None
    age = _AGE.fullmatch(element.value) if element.representation == "AS" else None
    if element.representation == "PN":
        yield from _names(element)
    elif day is not None:
        if is_day(day[1]):
            is_birth = element.tag == "0010,0030"
            yield _found(EntityType.DATE_OF_BIRTH if is_birth else EntityType.DATE, element)
    elif age is not None and int(age[1]) >= _OLD:
        yield _found(EntityType.AGE_OVER_89, element)
    elif kind is not None and any(map(str.isalpha if kind in _IN_WORDS else str.isdecimal, element.value)):
        yield _found(kind, element)


def _names(element: Element) -> Iterator[Finding]:
    """Yield the names of an element: family^given^middle^prefix^suffix, a backslash between two."""
    position = element.start
    for value in element.value.split("\\"):
        name = value.strip(" ^'\",")
        words = re.findall(r"[^\W\d_]+", name)
        if sum(map(len, words)) >= _MIN_LETTERS and not _NOBODY & {word.casefold() for word in words}:
            start = position + value.index(name)
            bits = {PiiBit.LAST_NAME, PiiBit.FIRST_NAME} if len(words) > 1 else {PiiBit.LAST_NAME}
            yield name_finding(
                start, start + len(name), health=not element.tag.startswith(_PATIENT), bits=frozenset(bits),
                source=f"names.{SOURCE}", score=SCORE, reason=("label", f"({element.tag})"),
            )  # fmt: skip
        position += len(value) + 1


def _found(kind: EntityType, element: Element) -> Finding:
    span = Span(element.start, element.start + len(element.value))
    return Finding(span, kind, SOURCE, SCORE, bits_of(kind), (Reason("label", f"({element.tag})", SCORE),))
