"""A screened document to the evidence of its passages: the named numbers that P(PHI) is computed from.

A passage is described by what identifies a person in it, by the health information in it, and by its words.
Identifiers are read as their types (``PERSON was seen for DX``), so that no name or number is learned.
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
from phiscan.decision.everyday_words import load_everyday_words
from phiscan.decision.messages import message_of_care
from phiscan.decision.passages import runs, units_of
from phiscan.health.features import BLOCKS, Reading, Window, bag, marks_of, read
from phiscan.health.file_evidence import CONTACT, DIRECT, MAIL_HEADER, NAMES, RECORD, SPECIALTY
from phiscan.health.term_lexicon import Lexicon
from phiscan.health.text_detector import masked
from phiscan.health.word_hashes import Words, hash_of, words_of
from phiscan.model import OWN_NAMES, Document, EntityType, Finding, PiiBit, Screening, Span
from phiscan.text.intervals import is_within

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

# The evidence of a passage besides its words, in the order of its vector.
NAMES_OF_EVIDENCE: Final = (
    "concepts",  # log(1 + different health concepts), specialties left out
    "clinical",  # log(1 + different illnesses, drugs, procedures, tests and mental conditions)
    "full_name",  # a person's first and last name, of somebody who is not named for a role
    "name",  # any part of such a name
    "name_by_health",  # how near such a name stands to a health term: 1 beside it, 0 far away or none
    "name_by_clinical",  # the same to an illness, drug, procedure, test or mental condition
    "people",  # log(1 + names of persons)
    "record_number",  # an identifier that only a patient or insured person has
    "direct_identifier",  # another identifier that singles out one person
    "birth_date",
    "contact",  # log(1 + addresses, telephone numbers and e-mail addresses)
    "date",
    "professional",  # log(1 + health professionals)
    "role_name",  # log(1 + names of authors, staff and others named for a role)
    "doubtful_name",  # log(1 + names too doubtful to count)
    "organization",
    "cells",  # a row of a table: log(1 + cells)
)
N_EVIDENCE: Final = len(NAMES_OF_EVIDENCE)

_CLINICAL: Final = ("dx:", "rx:", "px:", "lab:", "mh:", "icd:")
_NEAR_CHARS: Final = 80.0
CELL: Final = re.compile(r"\t|[;,](?=\S)|\|")
_HEADER_FIELD: Final = re.compile(
    r"[ >\t]*(?:((?P<sender>From|Sender|De|Envoyé par)|To|Cc|Bcc|Reply-To|À)"
    r"|Subject|Date|Sent|Objet|Sujet|Envoyé)[ ]?:",
    re.IGNORECASE,
)
_SENDER_CHARS: Final = 2000  # at most between the sender's name and the end of a passage of the message
_SENDER_NEAR: Final = 0.3  # how near a sender stands to the health terms of the message
_OF_TYPE: Final = {
    EntityType.HEALTH_PROFESSIONAL: "professional",
    EntityType.DATE_OF_BIRTH: "birth_date",
    EntityType.DATE: "date",
}
# In the header of a mail they count for no passage.
_OF_PERSON: Final = frozenset({"name", "full_name", "first_name", "last_name"})
_KINDS: Final = (
    *("full_name", "first_name", "last_name", "name", "record_number", "direct_identifier", "birth_date"),
    *("contact", "date", "professional", "role_name", "doubtful_name", "organization"),
)
_OTHER_DIRECT: Final = DIRECT - RECORD


def counts_in(places: Ints, starts: Ints, ends: Ints) -> Ints:
    """Return how many offsets, given rising, are in each passage ``[start, end)``."""
    return places.searchsorted(ends) - places.searchsorted(starts)


@dataclass(frozen=True, slots=True)
class DocumentEvidence:
    """What the passages of one document are described from; ``passages`` are those to judge."""

    document: Document
    reading: Reading
    marks: Sequence[tuple[str, ...]] = field(repr=False)
    words: Words = field(repr=False)
    places: dict[str, Ints] = field(repr=False)  # where each kind of evidence begins, rising
    clinical: tuple[Ints, Ints] = field(repr=False)  # where illnesses, drugs, procedures and tests stand
    names: tuple[tuple[int, int], ...] = field(repr=False)  # of persons who are not named for a role
    senders: Ints = field(repr=False)  # where the names of those who wrote a message begin
    everyday: Ints = field(repr=False)  # in a text without a health term, lines that tell of health
    passages: tuple[tuple[int, int], ...]
    titled: tuple[tuple[str, str], ...] = field(repr=False)  # what a file's name says: kind, locator it is of
    codes: npt.NDArray[np.uint32] = field(repr=False)  # the text with all findings and health terms masked
    message: str  # which kind of message of care the document is, "" if it is none

    def windows(self) -> list[Window]:
        """Return the bag of health concepts and cues of each passage."""
        return [Window(start, end, bag(self.reading, self.marks, start, end)) for start, end in self.passages]

    def health_places(self) -> Ints:
        """Return where health terms begin; in a text without any, lines that tell of health all the same."""
        return self.reading.health.starts if len(self.reading.health.starts) else self.everyday

    def vectors(self, windows: Sequence[Window]) -> Floats:
        """Return the evidence of passages, shape (passages, ``NAMES_OF_EVIDENCE``)."""
        starts = np.array([window.start for window in windows], dtype=np.int64)
        ends = np.array([window.end for window in windows], dtype=np.int64)
        count = {name: counts_in(places, starts, ends) for name, places in self.places.items()}
        if self.titled:
            for index, window in enumerate(windows):
                here = self.document.locate(window.start)
                for name, locator in self.titled:
                    count[name][index] += here.startswith(locator)
        kinds = [_concepts_of(window) for window in windows]
        concepts, clinical = np.array(kinds, dtype=np.int64).reshape(-1, 2).T
        names = np.array(sorted(self.names), dtype=np.int64).reshape(-1, 2)
        people = counts_in(names[:, 0], starts, ends)
        # Whoever a file is named for is above all of it.
        near = np.zeros(len(windows))
        if self.titled:
            near[(count["name"] > 0) & (clinical > 0) & (people == 0)] = 1.0
        health = (self.reading.health.starts, self.reading.health.ends)
        found = np.empty((len(windows), N_EVIDENCE))
        for column, values in enumerate(
            (
                _log1p(concepts),
                _log1p(clinical),
                (count["full_name"] > 0) | ((count["first_name"] > 0) & (count["last_name"] > 0)),
                count["name"] > 0,
                np.maximum(near, proximity(names, *health, starts, ends)),
                np.maximum(near, proximity(names, *self.clinical, starts, ends)),
                _log1p(people),
                count["record_number"] > 0,
                count["direct_identifier"] > 0,
                count["birth_date"] > 0,
                _log1p(count["contact"]),
                count["date"] > 0,
                _log1p(count["professional"]),
                _log1p(count["role_name"]),
                _log1p(count["doubtful_name"]),
                count["organization"] > 0,
                _log1p(self._cells(starts, ends)),
            )
        ):
            found[:, column] = values
        return found

    def with_sender(self, vectors: Floats) -> tuple[Floats, Ints]:
        """Return the evidence of passages with the sender of their message as a person named in them.

        ``vectors``: as ``vectors`` returns them. Also returned: the offset of that name, for each passage;
        -1 where no named sender is above it.
        """
        ends = np.array([end for _, end in self.passages], dtype=np.int64)
        number = self.senders.searchsorted(ends) - 1
        at = np.where(number >= 0, self.senders[np.maximum(number, 0)], -1) if len(self.senders) else number
        at = np.where((at >= 0) & (ends - at <= _SENDER_CHARS), at, -1)
        found = vectors.copy()
        for name, value in (("full_name", 1.0), ("name", 1.0), ("people", math.log1p(1))):
            column = NAMES_OF_EVIDENCE.index(name)
            found[:, column] = np.where(at >= 0, np.maximum(found[:, column], value), found[:, column])
        near, concepts = (NAMES_OF_EVIDENCE.index(name) for name in ("name_by_health", "concepts"))
        is_near = (at >= 0) & (found[:, concepts] > 0)
        found[:, near] = np.where(is_near, np.maximum(found[:, near], _SENDER_NEAR), found[:, near])
        return found, at

    def _cells(self, starts: Ints, ends: Ints) -> Ints:
        """Return how many separators of cells each passage ``[start, end)`` holds."""
        text = self.document.text
        found = CELL.finditer(text, int(starts.min()), int(ends.max()) + 1) if len(starts) else ()
        separators = np.array([match.start() for match in found], dtype=np.int64)
        n_cells = counts_in(separators, starts, ends)
        for index, end in enumerate(ends.tolist()):
            # A comma at the end of a passage separates nothing in it.
            last = text[end - 1 : end + 1]
            n_cells[index] -= (
                end > starts[index] and len(last) > 1 and last[0] in ";," and not last[1].isspace()
            )
        return n_cells


def _concepts_of(window: Window) -> tuple[int, int]:
    """Return how many health concepts a passage has, and how many of these are clinical."""
    found = [_is_clinical(name) for name in window.counts]
    return len(found) - found.count(None), found.count(True)


@cache
def _is_clinical(name: str) -> bool | None:
    """Tell whether a feature of a window is a clinical concept; None: it is no health concept."""
    return True if name.startswith(_CLINICAL) else None if name.startswith((*BLOCKS, SPECIALTY)) else False


def _log1p(counts: Ints) -> Floats:
    return np.array([math.log1p(count) for count in counts.tolist()])


def proximity(names: Ints, starts: Ints, ends: Ints, low: Ints, high: Ints) -> Floats:
    """Return for each passage 1 where a name is next to a term in it, near 0 where all are far from one.

    Args:
        names: begin and end of each name, rising, shape (names, 2).
        starts: where each term begins, rising.
        ends: where each term ends.
        low: where each passage begins.
        high: where each passage ends.
    """
    found = np.zeros(len(low))
    if not len(names) or not len(starts):
        return found
    term = starts.searchsorted(low), starts.searchsorted(high)
    name = names[:, 0].searchsorted(low), names[:, 0].searchsorted(high)
    for index in ((term[0] < term[1]) & (name[0] < name[1])).nonzero()[0].tolist():
        terms, of = slice(term[0][index], term[1][index]), slice(name[0][index], name[1][index])
        gap = np.maximum(starts[terms, None] - names[None, of, 1], names[None, of, 0] - ends[terms, None])
        found[index] = np.exp(-max(float(gap.min()), 0.0) / _NEAR_CHARS)
    return found


def gather(
    document: Document,
    screening: Screening,
    lexicon: Lexicon,
    messages: Collection[str] = MESSAGES_OF_CARE,
    reading: Reading | None = None,
) -> DocumentEvidence:
    """Read a screened document and cut the passages that hold evidence.

    ``messages``: the kinds of message that are health information by what they are. ``reading``: the health
    terms and cues of this document; None reads them here.

    A name in the header of a mail is of who wrote or got it; it counts for no passage, but see ``senders``.
    """
    text = document.text
    reading = read(text, lexicon) if reading is None else reading
    starts, ends = units_of(text)
    header = _header_lines(text, starts, ends)
    addressed, written = [place for place, _ in header], [place for place, is_sender in header if is_sender]
    kinds: dict[str, list[int]] = {name: [] for name in _KINDS}
    names: list[tuple[int, int]] = []
    senders: list[int] = []
    titled: list[tuple[str, str]] = []
    for finding in screening.findings:
        at = finding.span.start
        if (locator := document.locate(at)).endswith(OWN_NAMES):
            titled += [(name, locator.rpartition("#")[0]) for name in _kinds_of(finding, document)]
            continue
        is_addressed = is_within(at, at + 1, addressed)
        if finding.bits & NAMES and not is_addressed:
            names.append((at, finding.span.end))
        elif finding.bits & NAMES and is_within(at, at + 1, written):
            senders.append(at)
        for name in _kinds_of(finding, document):
            if name not in _OF_PERSON or not is_addressed:
                kinds[name].append(at)
    numbered = bool(titled or kinds["record_number"] or kinds["direct_identifier"] or kinds["birth_date"])
    health = reading.health.starts.tolist()
    terms = [Span(*ends) for ends in zip(health, reading.health.ends.tolist(), strict=True)]
    whole_window = (Window(0, max(len(text), 1), {}),)
    words = words_of(text, reading, lexicon, whole_window)
    everyday = np.zeros(0, np.int64) if health else load_everyday_words().lines(words, starts, ends)
    evidence = [
        *health,
        *everyday.tolist(),
        *kinds["name"],
        *kinds["record_number"],
        *kinds["direct_identifier"],
        *kinds["birth_date"],
    ]
    found = runs(starts, ends, evidence) if health or numbered or len(everyday) else []
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
        places={name: np.array(sorted(at), dtype=np.int64) for name, at in kinds.items()},
        names=tuple(names),
        senders=np.array(sorted(senders), dtype=np.int64),
        everyday=everyday,
        passages=tuple(found),
        codes=masked(text, [*(one.span for one in screening.counted), *terms]),
        message=message_of_care(document, messages),
        titled=tuple(titled),
    )


def _kinds_of(finding: Finding, document: Document) -> Iterator[str]:
    """Yield the kinds of evidence that a finding is, as ``_KINDS`` names them."""
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
    """Return the words of a text with each finding read as one word, its type."""
    starts, hashes = words.starts, words.hashes.copy()
    kept = np.ones(len(starts), dtype=np.bool_)
    for finding in findings:
        low, high = starts.searchsorted((finding.span.start, finding.span.end)).tolist()
        if low < high:
            name = f"{finding.entity_type.value}{'' if finding.bits else 'aside'}"
            hashes[low] = hash_of(f"type{''.join(filter(str.isalpha, name)).lower()}")
            kept[low + 1 : high] = False
    return Words(starts[kept], hashes[kept])


def _header_lines(text: str, starts: Ints, ends: Ints) -> list[tuple[tuple[int, int], bool]]:
    """Return the lines of a mail's header that say who wrote or got it, each with whether it is of who wrote.

    A field by itself is no header.
    """
    places = list(zip(starts.tolist(), ends.tolist(), strict=True))
    fields = [":" in text[low : low + 24] and _HEADER_FIELD.match(text, low, high) for low, high in places]
    return [
        (place, bool(match["sender"]))
        for number, (place, match) in enumerate(zip(places, fields, strict=True))
        if match and match[1] and any(fields[max(number - 1, 0) : number] + fields[number + 1 : number + 2])
    ]
