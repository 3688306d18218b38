"""Screened document to the evidence of its passages: the named features from which P(PHI) is computed.

The features of a passage are its identifiers, its health information and its words. Identifiers are replaced
by their types (``PERSON was seen for DX``), so that the model learns no name or number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.config import MESSAGES_OF_CARE
from phiscan.decision.messages import message_of_care
from phiscan.decision.passages import runs, units_of
from phiscan.health.decision_table import CONTACT, DIRECT, MAIL_HEADER, NAMES, RECORD, SPECIALTY
from phiscan.health.features import BLOCKS, Reading, Window, bag, marks_of, read
from phiscan.health.term_lexicon import Lexicon
from phiscan.health.text_detector import masked
from phiscan.health.word_hashes import Words, words_of
from phiscan.model import OWN_NAMES, Document, EntityType, Finding, PiiBit, Screening, Span
from phiscan.screen.resolution import is_within
from phiscan.text.word_tokens import tokenize

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# The evidence of a passage besides its words, in the order of its vector.
NAMES_OF_EVIDENCE: Final = (
    "concepts",  # log(1 + different health concepts), specialties left out
    "clinical",  # log(1 + different illnesses, drugs, procedures, tests and mental conditions)
    "full_name",  # first and last name of a person without a professional role
    "name",  # any part of such a name
    "name_by_health",  # proximity of such a name to a health term: 1 next to it, 0 far away or none
    "name_by_clinical",  # the same for an illness, drug, procedure, test or mental condition
    "people",  # log(1 + names of persons)
    "record_number",  # an identifier that only a patient or insured person has
    "direct_identifier",  # another identifier that singles out one person
    "birth_date",
    "contact",  # log(1 + addresses, telephone numbers and e-mail addresses)
    "date",
    "professional",  # log(1 + health professionals)
    "role_name",  # log(1 + names of authors, staff and others with a role)
    "doubtful_name",  # log(1 + names too doubtful to count)
    "organization",
    "cells",  # a row of a table: log(1 + cells)
)
N_EVIDENCE: Final = len(NAMES_OF_EVIDENCE)

_CLINICAL: Final = ("dx:", "rx:", "px:", "lab:", "mh:", "icd:")
_NEAR_CHARS: Final = 80.0
_CELL: Final = re.compile(r" \| |\t|[;,](?=\S)|\|")
_SENDER: Final = re.compile(r"[ >\t]*(?:From|To|Cc|Bcc|Sender|Reply-To|De|À|Envoyé par)[ ]?:", re.IGNORECASE)
_OF_TYPE: Final = {
    EntityType.HEALTH_PROFESSIONAL: "professional",
    EntityType.DATE_OF_BIRTH: "birth_date",
    EntityType.DATE: "date",
}
_OF_PERSON: Final = frozenset(
    {"name", "full_name", "first_name", "last_name"}
)  # in the header of a mail they count for no passage
_KINDS_OF_EVIDENCE: Final = (
    *(
        "full_name",
        "first_name",
        "last_name",
        "name",
        "record_number",
        "direct_identifier",
        "birth_date",
        "contact",
        "date",
    ),
    *("professional", "role_name", "doubtful_name", "organization"),
)
_OTHER_DIRECT: Final = DIRECT - RECORD
_PAIRING: Final = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True, slots=True)
class Positions:
    """Ascending offsets of one kind of evidence in a document."""

    starts: Ints

    def count(self, start: int, end: int) -> int:
        """Return the number of offsets in ``[start, end)``."""
        low, high = self.starts.searchsorted((start, end)).tolist()
        return int(high - low)


@dataclass(frozen=True, slots=True)
class DocumentEvidence:
    """The data of one document from which the features of its passages are computed."""

    document: Document
    reading: Reading
    marks: Sequence[tuple[str, ...]] = field(repr=False)
    words: Words = field(repr=False)
    positions: dict[str, Positions] = field(repr=False)
    clinical: tuple[Ints, Ints] = field(repr=False)  # starts and ends of illnesses, drugs, procedures, tests
    names: tuple[tuple[int, int], ...] = field(repr=False)  # spans of names of persons without a role
    passages: tuple[tuple[int, int], ...]
    titled: tuple[tuple[str, str], ...] = field(repr=False)  # evidence in file names: kind, locator
    codes: npt.NDArray[np.uint32] = field(repr=False)  # the text with all findings and health terms masked
    message: str  # the kind of message of care, "" if it is none

    def window(self, start: int, end: int) -> Window:
        """Return the bag of health concepts and cues of a passage."""
        return Window(start, end, bag(self.reading, self.marks, start, end))

    def vector(self, window: Window) -> Floats:
        """Return the evidence of a passage, in the order of ``NAMES_OF_EVIDENCE``."""
        start, end = window.start, window.end
        count = {name: positions.count(start, end) for name, positions in self.positions.items()}
        here = self.document.locate(start) if self.titled else ""
        for name, locator in self.titled:
            count[name] += here.startswith(locator)
        concepts = sum(1 for name in window.counts if not name.startswith((*BLOCKS, SPECIALTY)))
        clinical = sum(1 for name in window.counts if name.startswith(_CLINICAL))
        inside = [name for name in self.names if start <= name[0] < end]
        # A name in the file's name is next to every passage of the file.
        near = float(bool(self.titled and count["name"] and clinical and not inside))
        cells = len(_CELL.findall(self.document.text, start, end))
        return np.array(
            [
                math.log1p(concepts),
                math.log1p(clinical),
                float(count["full_name"] > 0 or (count["first_name"] > 0 and count["last_name"] > 0)),
                float(count["name"] > 0),
                max(
                    near, proximity(inside, self.reading.health.starts, self.reading.health.ends, start, end)
                ),
                max(near, proximity(inside, *self.clinical, start, end)),
                math.log1p(len(inside)),
                float(count["record_number"] > 0),
                float(count["direct_identifier"] > 0),
                float(count["birth_date"] > 0),
                math.log1p(count["contact"]),
                float(count["date"] > 0),
                math.log1p(count["professional"]),
                math.log1p(count["role_name"]),
                math.log1p(count["doubtful_name"]),
                float(count["organization"] > 0),
                math.log1p(cells),
            ]
        )


def proximity(names: Sequence[tuple[int, int]], starts: Ints, ends: Ints, start: int, end: int) -> float:
    """Return the proximity of the closest name and term in ``[start, end)``: 1 if adjacent, 0 if far."""
    low, high = starts.searchsorted((start, end)).tolist()
    if low == high or not names:
        return 0.0
    begin = np.array([name[0] for name in names])
    stop = np.array([name[1] for name in names])
    gap = np.maximum(starts[low:high, None] - stop[None, :], begin[None, :] - ends[low:high, None])
    return float(np.exp(-max(float(gap.min()), 0.0) / _NEAR_CHARS))


def gather(
    document: Document,
    screening: Screening,
    lexicon: Lexicon,
    messages: Collection[str] = MESSAGES_OF_CARE,
    reading: Reading | None = None,
) -> DocumentEvidence:
    """Return the evidence of a screened document and the passages to score.

    ``messages``: the kinds of message that are health information in themselves. ``reading``: the health
    terms and cues of this document; computed here if None.

    Names in the header of a mail are the sender and the recipients; they count for no passage.
    """
    text = document.text
    reading = read(text, lexicon) if reading is None else reading
    starts, ends = units_of(text)
    senders = _sender_lines(text, starts, ends)
    kinds: dict[str, list[int]] = {name: [] for name in _KINDS_OF_EVIDENCE}
    names: list[tuple[int, int]] = []
    titled: list[tuple[str, str]] = []
    for finding in screening.findings:
        at = finding.span.start
        if (locator := document.locate(at)).endswith(OWN_NAMES):
            titled += [(name, locator.rpartition("#")[0]) for name in _kinds_of(finding, document)]
            continue
        if finding.bits & NAMES and not is_within(at, at + 1, senders):
            names.append((at, finding.span.end))
        for name in _kinds_of(finding, document):
            if name not in _OF_PERSON or not is_within(at, at + 1, senders):
                kinds[name].append(at)
    is_identified = bool(
        titled or kinds["record_number"] or kinds["direct_identifier"] or kinds["birth_date"]
    )
    health = reading.health.starts.tolist()
    terms = [Span(*ends) for ends in zip(health, reading.health.ends.tolist(), strict=True)]
    whole_window = (Window(0, max(len(text), 1), {}),)
    words = words_of(text, reading, lexicon, whole_window)
    evidence = [
        *health,
        *kinds["name"],
        *kinds["record_number"],
        *kinds["direct_identifier"],
        *kinds["birth_date"],
    ]
    found = runs(starts, ends, evidence) if health or is_identified else []
    if not found and len(text):
        found = [(0, min(len(text), 2000))]
    marks = marks_of(reading, lexicon)
    is_clinical = np.array([mark[0].startswith(_CLINICAL) for mark in marks], dtype=np.bool_)
    return DocumentEvidence(
        document=document,
        reading=reading,
        marks=marks,
        clinical=(reading.health.starts[is_clinical], reading.health.ends[is_clinical]),
        words=typed_words(words, screening.findings),
        positions={name: Positions(np.array(sorted(at), dtype=np.int64)) for name, at in kinds.items()},
        names=tuple(names),
        passages=tuple(found),
        codes=masked(text, [*(one.span for one in screening.counted), *terms]),
        message=message_of_care(document, messages),
        titled=tuple(titled),
    )


def _kinds_of(finding: Finding, document: Document) -> Iterator[str]:
    """Yield the kinds of evidence (of ``_KINDS_OF_EVIDENCE``) of a finding."""
    bits, at = finding.bits, finding.span.start
    if bits & NAMES:
        yield "name"
        if bits >= NAMES:
            yield "full_name"
        else:
            yield "first_name" if PiiBit.FIRST_NAME in bits else "last_name"
    elif finding.entity_type is EntityType.PERSON:
        yield "doubtful_name" if finding.is_doubtful else "role_name"
    if name := _OF_TYPE.get(finding.entity_type):
        yield name
    if bits & RECORD:
        yield "record_number"
    elif bits & _OTHER_DIRECT:
        yield "direct_identifier"
    if bits & CONTACT and not document.locate(at).endswith(MAIL_HEADER):
        yield "contact"
    if PiiBit.ORGANIZATION in bits:
        yield "organization"


def typed_words(words: Words, findings: Sequence[Finding]) -> Words:
    """Return the words of a text with each finding replaced by one word, its type."""
    starts, hashes = words.starts, words.hashes.copy()
    selected = np.ones(len(starts), dtype=np.bool_)
    for finding in findings:
        low, high = starts.searchsorted((finding.span.start, finding.span.end)).tolist()
        if low < high:
            hashes[low] = _type_hash(f"{finding.entity_type.value} {'' if finding.bits else 'aside'}")
            selected[low + 1 : high] = False
    return Words(starts[selected], hashes[selected])


@cache
def _type_hash(name: str) -> int:
    """Return the hash that replaces a finding of a type."""
    return int(tokenize(f"type{''.join(filter(str.isalpha, name)).lower()}").hashes[0] ^ _PAIRING)


def _sender_lines(text: str, starts: Ints, ends: Ints) -> list[tuple[int, int]]:
    """Return the lines of a mail's header with the sender or recipients, as spans."""
    return [
        (low, high)
        for low, high in zip(starts.tolist(), ends.tolist(), strict=True)
        if ":" in text[low : low + 24] and _SENDER.match(text, low, high)
    ]
