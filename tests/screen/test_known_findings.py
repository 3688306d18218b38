"""What cheap recognizers found in a document is not looked for twice, and a search with it finds the same."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import pytest

from phiscan.model import Document, Finding
from phiscan.screen import Known, screen
from phiscan.screen.recognizer import CaseVariant, Cost, Recognizer
from tests.screen.whole import plain, screened, shipped

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


@pytest.mark.parametrize("text", [LETTER, LETTER.lower(), LETTER.upper(), ESCAPED])
def test_a_search_with_what_is_known_finds_the_same(text: str) -> None:
    known: Known = {}
    read = plain(text)
    cheap = screen(read, shipped().without_names(), known)
    assert cheap == screen(read, shipped().without_names())
    assert screen(read, shipped(), known) == screened(text)


def test_a_cheap_recognizer_reads_a_document_once() -> None:
    counted = _Counted(shipped().recognizers[0])
    both = replace(shipped(), recognizers=(counted, *shipped().recognizers[1:]))
    known: Known = {}
    screen(plain(LETTER), both.without_names(), known)
    screen(plain(LETTER), both, known)
    assert counted.calls == [LETTER]
