"""What cheap recognizers found in a document is not looked for twice, and a search with it finds the same."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from phiscan.config import Config
from phiscan.model import Document, Finding, Segment
from phiscan.screen import Known, Screener, build_screener, screen
from phiscan.screen.recognizer import CaseVariant, Cost, Recognizer

LETTER = (
    "Patient: Margaret Kowalski, DOB 1957-03-04, MRN: 4417263.\n"
    "Seen for asthma; write to m.kowalski@example.org or see www.example.org/a.\n"
)
ESCAPED = "Name:&nbsp;Daniel Tremblay&#44; born 3 May 1961\nMRN:&nbsp;7719204\n"


@dataclass
class _Counted:
    """A recognizer that counts how often it is asked."""

    of: Recognizer
    calls: list[str] = field(default_factory=list)
    name: ClassVar = "counted"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.AS_WRITTEN

    def recognize(self, document: Document) -> Iterator[Finding]:
        self.calls.append(document.text)
        return self.of.recognize(document)


@pytest.fixture(scope="module")
def screener() -> Screener:
    return build_screener(Config())


def _document(text: str) -> Document:
    return Document(text, (Segment("", 0, len(text)),), "text/plain")


@pytest.mark.parametrize("text", [LETTER, LETTER.lower(), LETTER.upper(), ESCAPED])
def test_a_search_with_what_is_known_finds_the_same(screener: Screener, text: str) -> None:
    document = _document(text)
    known: Known = {}
    cheap = screen(document, screener.without_names(), known)
    assert cheap == screen(document, screener.without_names())
    assert screen(document, screener, known) == screen(document, screener)


def test_a_cheap_recognizer_reads_a_document_once(screener: Screener) -> None:
    counted = _Counted(screener.recognizers[0])
    both = replace(screener, recognizers=(counted, *screener.recognizers[1:]))
    known: Known = {}
    screen(_document(LETTER), both.without_names(), known)
    screen(_document(LETTER), both, known)
    assert counted.calls == [LETTER]
