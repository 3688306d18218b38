"""DICOM headers in JSON (the answers of DICOMweb servers, exports of viewers): the tag says what a value is.

Source: DICOM PS3.18 annex F (JSON model: the tag as eight digits, "vr", "Value", names by their writing).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

from phiscan.model import Document, Finding, Span
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.recognizers.messages.dicom_listing import DESCRIPTIONS, KINDS, TEXT, Element, read_element
from phiscan.text.passages import Passage, Piece

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
_WORDS = re.compile(r"[^\W\d_]{2}[,.]? [^\W\d_]{2}")  # what is no punctuation of JSON
_MIN_ELEMENTS = 2


def is_model(text: str) -> bool:
    """Tell whether DICOM elements in JSON stand in a text.

    >>> is_model('{"00100010": {"vr": "PN"}, "00100020": {"vr": "LO", "Value": ["7"]}}')
    True
    """
    return (
        sum(1 for _, _ in zip(_ELEMENT.finditer(text), range(_MIN_ELEMENTS), strict=False)) == _MIN_ELEMENTS
    )


def passages(text: str) -> Iterator[Passage]:
    """Yield the values that hold text, and the text that is no part of the header."""
    matches = list(_ELEMENT.finditer(text))
    for match in matches:
        for element in _elements(match):
            if element.tag in DESCRIPTIONS or (element.representation in TEXT and element.tag not in KINDS):
                yield [Piece(element.start, element.start + len(element.value), element.value)]
    ends = [0, *(place for match in matches for place in match.span()), len(text)]
    for start, end in list(pairwise(ends))[::2]:
        if _WORDS.search(text, start, end):
            yield [Piece(start, end, text[start:end])]


def is_key(text: str, span: Span) -> bool:
    """Tell whether what was found is the digits of a tag."""
    quote = text.rfind('"', max(0, span.start - _KEY_CHARS), span.start + 1)
    return quote >= 0 and _KEY.match(text, quote) is not None


class ModelRecognizer:
    """Find the identifying elements of DICOM headers in JSON."""

    name: ClassVar = "messages.dicom_json"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; spans are half-open, in code points."""
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
