"""Free text of machine formats: the passages of remarks, reports and labels that recognizers read.

The types of coded fields are known from the format. Between them are remarks, reports and labels as people
wrote them. These are read as one text, a passage a line, and what is
found there is put back to where it is in the document. What is beside such a message, as a document
that it carries or another file of one archive, is read whole.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from phiscan.formats.hl7_free_text import holds_messages, is_in_message
from phiscan.formats.hl7_free_text import passages as hl7_passages
from phiscan.formats.segments import holds_edifact, is_x12
from phiscan.formats.segments import passages as segment_passages
from phiscan.formats.zpl_labels import is_label
from phiscan.formats.zpl_labels import passages as zpl_passages
from phiscan.model import Document, EntityType, Finding, Segment
from phiscan.screen.recognizers.messages.contact_cards import holds_cards
from phiscan.screen.recognizers.messages.contact_cards import passages as card_passages
from phiscan.screen.recognizers.messages.dicom import is_key, is_listing, is_model, is_tag, model_passages
from phiscan.screen.recognizers.messages.dicom import passages as dicom_passages
from phiscan.text.passages import Joined, Passage, Piece

_Read = Callable[[Document], Iterator[Finding]]
_Passages = Callable[[str], Iterable[Passage]]
# What tells a format in a segment, what cuts it into passages, and what no segment of it lacks:
# one of these marks, in this form.
_Formats = tuple[tuple[Callable[[str], bool], _Passages, tuple[str, ...], re.Pattern[str]], ...]
_MESSAGES: _Formats = (
    (holds_messages, hl7_passages, ("MSH", "PID|", "FHS|", "BHS|"),
     re.compile(r"(?:[MFB][SH][HS]|PID)\||MSH[^\w\s]{5}")),
    (is_x12, segment_passages, ("ISA", "ST*", "GS*"),
     re.compile(r"ISA(?: \| |[^\w\s])\d\d|ST\*\d{3}\*|GS\*[A-Z]{2}\*")),
    (holds_edifact, segment_passages, ("UNB",), re.compile(r"UNB[^\w\s]UNO[A-Z]")),
    (is_listing, dicom_passages, ("(0008,", "(0010,", "(0x0008,", "(0x0010,"),
     re.compile(r"\((?:0x)?00(?:08|10), ?(?:0x)?[0-9A-Fa-f]{4}\)")),
    (is_model, model_passages, ('"vr"',), re.compile(r'"00(?:08|10)[0-9A-Fa-f]{4}"\s*:')),
)  # fmt: skip
_CARDS: _Formats = (
    (holds_cards, card_passages, (":V", ":v"),
     re.compile(r"^BEGIN:V(?:CARD|CALENDAR)", re.MULTILINE | re.IGNORECASE)),
)  # fmt: skip
_LABELS: _Formats = ((is_label, zpl_passages, ("^XA",), re.compile(r"\^XA")),)
_FIELDS = "#fields"  # where an extractor repeats the fields of a message after their names
_SOURCES = frozenset(
    {"hl7", "names.hl7", "x12", "names.x12", "edifact", "names.edifact", "dicom", "names.dicom"}
)  # what reads the fields themselves
_CODED = frozenset({EntityType.LOCATION, EntityType.ORGANIZATION})
_CODE_CHARS = 2
_OBSERVED = re.compile(
    r"OBX\|\d{0,6}\|(?:[A-Z]{2,3}\|)?$"
)  # before the type of a value, or before its question
_AHEAD = 16  # as many characters as that has


def in_free_text(document: Document, read: _Read) -> Iterator[Finding]:
    """Yield what ``read`` finds in a document; of machine formats only in what people wrote there."""
    return _in_passages(document, read, _MESSAGES + _CARDS + _LABELS)


def in_label_data(document: Document, read: _Read) -> Iterator[Finding]:
    """Yield what ``read`` finds in a document; of a printer's labels only in what they print."""
    return _in_passages(document, read, _LABELS)


def machine_parts(document: Document) -> list[tuple[int, int]]:
    """Return the places, half-open, of the segments that are of a machine format, in text order.

    So are the fields that an extractor repeats after a message.
    """
    found = [
        (segment.start, segment.end)
        for segment, passages in _formats(document, _MESSAGES + _CARDS + _LABELS)
        if passages is not None
    ]
    repeated = [(one.start, one.end) for one in document.segments if one.locator.endswith(_FIELDS)]
    return sorted([*found, *repeated])


def without_codes(document: Document, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield findings without what is a code of a message.

    That is what HL7 says of a value before it, places and organizations of one or two characters, and in the
    listing of a DICOM header what reaches out of a value.
    """
    text = document.text
    messages = [(segment, passages) for segment, passages in _formats(document, _MESSAGES) if passages]
    starts = [segment.start for segment, _ in messages]
    for finding in findings:
        start = finding.span.start
        index = bisect_right(starts, start) - 1
        if index < 0 or start >= messages[index][0].end or finding.source in _SOURCES:
            yield finding
        elif messages[index][1] is dicom_passages:
            if not is_tag(text, finding.span):
                yield finding
        elif messages[index][1] is model_passages:
            if not is_key(text, finding.span):
                yield finding
        elif not (
            _OBSERVED.search(text, max(0, start - _AHEAD), start)
            or (
                finding.entity_type in _CODED
                and finding.span.n_chars <= _CODE_CHARS
                and (
                    messages[index][1] is not hl7_passages
                    or is_in_message(text, messages[index][0].start, start)
                )
            )
        ):
            yield finding


def _in_passages(document: Document, read: _Read, formats: _Formats) -> Iterator[Finding]:
    parts = list(_formats(document, formats))
    if not any(passages for _, passages in parts):
        yield from read(document)
        return
    passages: list[Passage] = []
    ends = []  # of each part, counted in passages
    for segment, cut in parts:
        passages += _cut(document, segment, cut)
        ends.append(len(passages))
    joined = Joined.of(passages)
    starts = [*joined.passage_starts, len(joined.text)]
    segments = tuple(
        Segment(segment.locator, starts[first], starts[last])
        for (segment, _), first, last in zip(parts, [0, *ends], ends, strict=False)
    )
    for finding in read(replace(document, text=joined.text, segments=segments)):
        for span in joined.places(finding.span):
            yield replace(finding, span=span)


def _cut(document: Document, segment: Segment, cut: _Passages | None) -> Iterator[Passage]:
    """Yield the passages of a segment by their places in the document; the whole where nothing is cut."""
    part, start = document.text[segment.start : segment.end], segment.start
    for passage in [[Piece(0, len(part), part)]] if cut is None else cut(part):
        yield [Piece(start + piece.start, start + piece.end, piece.text) for piece in passage]


def _formats(document: Document, formats: _Formats) -> Iterator[tuple[Segment, _Passages | None]]:
    """Yield the segments of a document, each with what cuts it into passages if it is of one of the formats.

    None where the document has nothing of any of them.

    The fields that an extractor repeats after a message are left out: the message has them.
    """
    text = document.text
    possible = [
        (is_it, passages)
        for is_it, passages, marks, form in formats
        if any(mark in text for mark in marks) and form.search(text)
    ]
    if not possible:
        return  # a table may have a million rows, each a segment
    previous = None
    for segment in document.segments or (Segment("", 0, len(text)),):
        if previous is not None and segment.locator.endswith(_FIELDS):
            continue
        part = text[segment.start : segment.end]
        previous = next((passages for is_it, passages in possible if is_it(part)), None)
        yield segment, previous
