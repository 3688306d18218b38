"""DICOM headers as listings or in JSON: findings and free text by the tag of each data element.

Listings are those of dcmdump, gdcmdump, pydicom and dcdump; JSON is that of DICOMweb servers and exports of
viewers. Source: DICOM PS3.6 (data elements), PS3.5 (value representations), PS3.15 annex E (which of them
identify), PS3.18 annex F (JSON model: the tag as eight digits, "vr", "Value", names by their writing).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from phiscan.model import Document, EntityType, Finding, PiiBit, Span
from phiscan.screen.recognizer import FieldSource
from phiscan.screen.validators.dates import is_day
from phiscan.text.passages import Passage, Piece

_FIELD = FieldSource("dicom", 0.95)
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
_MAX_LINE_CHARS = 2_200  # how far from what is found its line may begin and end
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
    first = max(0, span.start - _MAX_LINE_CHARS)
    start = text.rfind("\n", first, span.start) + 1
    if not start and first:
        return False  # in a line that long it is no tag
    stop = text.find("\n", span.end, span.end + _MAX_LINE_CHARS)
    is_cut = stop < 0 and span.end + _MAX_LINE_CHARS < len(text)  # and what is read of the value, too
    match = _LINE.match(text, start, span.end + _MAX_LINE_CHARS if stop < 0 else stop)
    element = _element(match) if match is not None else None
    return match is not None and not (
        element is not None
        and element.representation in _WORDS
        and element.start <= span.start
        and (is_cut or span.end <= element.start + len(element.value))
    )


def listing_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying elements of listed DICOM headers."""
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
            health = not element.tag.startswith(_PATIENT)
            yield _FIELD.person(Span(start, start + len(name)), bits, f"({element.tag})", health=health)
        position += len(value) + 1


def _found(kind: EntityType, element: Element) -> Finding:
    span = Span(element.start, element.start + len(element.value))
    return _FIELD.value(kind, span, f"({element.tag})")


_VR = r'"vr"\s{{0,80}}:\s{{0,80}}"(?P<{}>[A-Z]{{2}})"'
# A bracket may stand in a string; the value of a sequence holds elements, which are read one by one.
_VALUE = (
    r'"Value"\s{{0,80}}:\s{{0,80}}\[(?P<{}>(?>[^\]"]{{1,20000}}'
    r'|(?!"[0-9A-Fa-f]{{8}}"\s{{0,80}}:)"(?:[^"\\]|\\.){{0,20000}}+"){{0,500}}+)\]'
)
_ELEMENT = re.compile(
    r'"(?P<tag>[0-9A-Fa-f]{8})"\s{0,80}:\s{0,80}\{\s{0,80}'
    rf"(?:{_VR.format('vr')}(?:\s{{0,80}},\s{{0,80}}{_VALUE.format('value')})?|{_VALUE.format('value2')}\s{{0,80}},\s{{0,80}}{_VR.format('vr2')})"
)
_STRING = re.compile(r'"(?P<text>[^"\\]*(?:\\.[^"\\]*)*)"(?P<is_key>\s{0,80}:)?')
_KEY = re.compile(r'"[0-9A-Fa-f]{8}"\s{0,80}:')
_KEY_CHARS = 10
_JSON_WORDS = re.compile(r"[^\W\d_]{2}[,.]? [^\W\d_]{2}")  # what is no punctuation of JSON
_MIN_ELEMENTS = 2


def is_model(text: str) -> bool:
    """Tell whether DICOM elements in JSON stand in a text.

    >>> is_model('{"00100010": {"vr": "PN"}, "00100020": {"vr": "LO", "Value": ["7"]}}')
    True
    """
    return (
        sum(1 for _, _ in zip(_ELEMENT.finditer(text), range(_MIN_ELEMENTS), strict=False)) == _MIN_ELEMENTS
    )


def model_passages(text: str) -> Iterator[Passage]:
    """Yield the values that hold text, and the text that is no part of the header."""
    matches = list(_ELEMENT.finditer(text))
    for match in matches:
        for element in _elements(match):
            if element.tag in DESCRIPTIONS or (element.representation in TEXT and element.tag not in KINDS):
                yield [Piece(element.start, element.start + len(element.value), element.value)]
    ends = [0, *(place for match in matches for place in match.span()), len(text)]
    for start, end in list(pairwise(ends))[::2]:
        if _JSON_WORDS.search(text, start, end):
            yield [Piece(start, end, text[start:end])]


def is_key(text: str, span: Span) -> bool:
    """Tell whether what was found is the digits of a tag."""
    quote = text.rfind('"', max(0, span.start - _KEY_CHARS), span.start + 1)
    return quote >= 0 and _KEY.match(text, quote) is not None


def model_findings(document: Document) -> Iterator[Finding]:
    """Yield findings of the identifying elements of DICOM headers in JSON."""
    text = document.text
    if '"vr"' in text and is_model(text):
        for match in _ELEMENT.finditer(text):
            for element in _elements(match):
                yield from read_element(element)


def _elements(match: re.Match[str]) -> Iterator[Element]:
    """Yield the strings of a value, each as an element."""
    name = "value" if match["value"] is not None else "value2"
    if match[name] is None:
        return
    tag = f"{match['tag'][:4]},{match['tag'][4:]}".upper()
    for string in _STRING.finditer(match.string, *match.span(name)):
        value = string["text"].strip()
        if value and not string["is_key"]:
            start = string.start("text") + string["text"].index(value)
            yield Element(tag, match["vr"] or match["vr2"], start, value)
