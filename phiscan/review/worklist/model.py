"""The types of the review list: its states, orders, filters, items and counts; the JSON of a file."""

from __future__ import annotations

import math
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Any

from phiscan.language import lazy_gettext as _
from phiscan.model import (
    EntityType,
    FileResult,
    PiiVector,
    ReaderCount,
    StoredFinding,
    Verdict,
)
from phiscan.review.records.openings import NEVER, Openings
from phiscan.visible import safe_cell, visible

MIN_SCORE = 0.01  # files without health terms are still ordered among themselves


NOT_BY_THEMSELVES = frozenset(
    {
        EntityType.ORGANIZATION,
        EntityType.LOCATION,
        EntityType.DATE,
        EntityType.HEALTH_PROFESSIONAL,
        EntityType.URL,
    }
)
"""Types of identifiers that by themselves identify nobody."""


class Exposure(StrEnum):
    """Who may read a file."""

    EVERYONE = "everyone"
    GROUP = "group"  # a group, or several named users
    OWNER = "owner"
    UNKNOWN = "unknown"  # not available from the share


FACTORS = {Exposure.EVERYONE: 4.0, Exposure.GROUP: 2.0, Exposure.UNKNOWN: 2.0, Exposure.OWNER: 1.0}
"""Factor of each exposure in the risk; docs/explanation/desk.md has the reasons."""


def exposure_of(mode: int, readers: Sequence[str] = ()) -> Exposure:
    """Return who may read a file: from the share's access list, else from its mode bits.

    >>> exposure_of(0o100644), exposure_of(0o100600), exposure_of(0o100600, ["group nurses"])
    (<Exposure.EVERYONE: 'everyone'>, <Exposure.OWNER: 'owner'>, <Exposure.GROUP: 'group'>)
    """
    if readers:
        if "everyone" in readers:
            return Exposure.EVERYONE
        several = len(readers) > 1 or not readers[0].startswith("user ")
        return Exposure.GROUP if several else Exposure.OWNER
    if not stat.S_IFMT(mode):
        return Exposure.UNKNOWN
    if mode & stat.S_IROTH:
        return Exposure.EVERYONE
    return Exposure.GROUP if mode & stat.S_IRGRP else Exposure.OWNER


def risk_of(
    vector: PiiVector, n_people: int, health_score: float | None, exposure: Exposure = Exposure.OWNER
) -> float:
    """Return people times kinds of identifiers times exposure times health score; a sort key, no probability.

    Zero kinds and zero people count as one, so that one zero does not cancel the other factors.

    >>> from phiscan.model import PiiBit
    >>> risk_of(PiiVector(frozenset({PiiBit.SIN, PiiBit.PHONE})), 3, 0.5, Exposure.EVERYONE)
    12.0
    """
    harm = max(1, len(vector.bits)) * max(1, n_people) * max(MIN_SCORE, health_score or 0.0)
    return harm * FACTORS[exposure]


def weight_of(counted: ReaderCount, exposure: Exposure) -> float:
    """Return by what the risk of a file is multiplied where the number of its readers is known.

    The factor of that number replaces the one of the exposure: 1 for one person, 2 for 10, 3 for 100, 4 for
    1,000 and more; between two numbers, the middle of their factors.

    >>> from datetime import UTC
    >>> many = ReaderCount(low=10, high=1000, n_accounts=5000, notes=(), counted=datetime.now(UTC))
    >>> weight_of(many, Exposure.GROUP), weight_of(many, Exposure.OWNER)
    (1.5, 3.0)
    """
    if counted.low is None or counted.high is None:
        return 1.0
    factors = [1 + min(3.0, math.log10(max(1, n))) for n in (counted.low, counted.high)]
    return sum(factors) / 2 / FACTORS[exposure]


def opened_factor(n_others: int) -> float:
    """Return the factor of a file that accounts of others opened in the order of the list.

    >>> opened_factor(0), opened_factor(1), opened_factor(7)
    (1.0, 2.0, 4.0)
    """
    return 1.0 + math.log2(1 + n_others)


NOBODY, FIRST, SECOND, LEAD, OPENING = "nobody", "first", "second", "lead", "opening"
"""Which verdict an item awaits: the values of ``work_item.awaits``. Opening: it was judged by its name."""

Detectors = tuple[tuple[str, bool], ...]


class WorkState(StrEnum):
    """The states of items that a list shows, from the view of the viewer."""

    UNDECIDED = "undecided"  # without those that this reviewer skipped for now
    PHI = "phi"
    NOT_PHI = "not_phi"
    UNSURE = "unsure"
    SKIPPED = "skipped"  # undecided, and skipped by this reviewer
    DISAGREED = "disagreed"  # two reviewers disagreed: a lead who is neither decides
    ANY = "any"


class WorkOrder(StrEnum):
    """The order of a list."""

    RISK = "risk"  # highest first
    INFORMATIVE = "informative"  # score nearest to its threshold first; one in ten at random
    OLDEST = "oldest"  # in the order of discovery


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFilter:
    """The filter of a list; all conditions that are set must hold."""

    state: WorkState = WorkState.UNDECIDED
    root_id: int | None = None
    folder: str = ""  # below this folder of the root, display form: "letters/2026"
    media_type: str = ""
    entity_type: EntityType | None = None  # has a finding of this type
    min_score: float | None = None  # health score, inclusive
    max_score: float | None = None
    owner: str = ""
    assignee: str | None = None  # "" = not assigned, None = any
    new: bool = False  # content that was first seen by the last scan of its root
    group_id: int | None = None  # one group of near-duplicates
    suppressed: bool = False  # show only suppressed items; otherwise only the others
    text: str = ""  # anywhere in the path, case-insensitive
    tag: str = ""
    label: str = ""  # has a sensitivity label of this name or id


@dataclass(frozen=True, slots=True)
class Decision:
    """A reviewer's verdict about one content of a file."""

    id: int
    file_id: int
    verdict: Verdict
    reviewer: str
    reason: str
    note: str
    decided: datetime
    content_hash: str
    examination_id: int  # the result that the reviewer saw


@dataclass(frozen=True, slots=True, kw_only=True)
class FileRecord(FileResult):
    """One file: its stored result and its decision state; what is read, listed, shown and exported.

    Of the result, what only learning and later scans use (signature, window, evidence, seconds, patients) is
    not read; findings, terms and unread parts only where they are needed. The verdict is the one that stands
    for the present content.
    """

    file_id: int
    root_id: int
    root: str  # for display, as ``path``
    path: str
    examination_id: int  # to be submitted with a verdict
    scan_id: int  # the scan that made the examination
    standing: bool = False  # it is of an earlier scan than the one that saw the file
    n_findings: int
    risk: float  # sort key, not a probability
    verdict: Verdict | None = None
    reviewer: str = ""
    carried: bool = False  # the verdict was given for an identical file: it is no decision of its own
    assignee: str = ""
    decisions: tuple[Decision, ...] = ()  # all of them, oldest first; including those on earlier contents
    blind: bool = False  # see ``blinded``
    reader_count: ReaderCount | None = None  # None: not counted since it was examined
    openings: Openings = NEVER  # by access logs; where a list is read, without the time that they cover

    # In the review list, as the viewer may see it
    state: WorkState = WorkState.UNDECIDED  # undecided, phi, not_phi or unsure
    decided: datetime | None = None
    skipped: bool = False  # by the viewer
    new: bool = False
    group_id: int | None = None
    n_group: int = 1  # files in its near-duplicate group, including itself; 1 = alone
    suppressed: bool = False
    tags: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.source.size

    @property
    def owner(self) -> str:
        """The owner's name on the share, else the number."""
        return self.source.owner or str(self.source.uid)

    @property
    def exposure(self) -> Exposure:
        """Who may read it."""
        return exposure_of(self.source.mode, self.source.readers)

    @property
    def folder(self) -> str:
        """The folder below the root."""
        return self.path.rpartition("/")[0]


def blinded(record: FileRecord) -> FileRecord:
    """Return a record without the results of the machine, for a verdict that is independent of them.

    Blind items are drawn at random from the queue and from the files that were not referred; nothing in the
    record distinguishes the two.
    """
    bare = FileResult(
        record.source,
        record.outcome,
        media_type=record.media_type,
        content_hash=record.content_hash,
        n_chars=record.n_chars,
    )
    hidden = {item.name: getattr(bare, item.name) for item in fields(FileResult)}
    # Only referred files are compared with others: a group would reveal which blind items they are.
    return replace(record, **hidden, n_findings=0, group_id=None, n_group=1, blind=True, openings=NEVER)


@dataclass(frozen=True, slots=True)
class WorkPage:
    """A page of a list. ``after`` is the cursor of the next page, ``before`` of the previous; "" = none."""

    items: tuple[FileRecord, ...]
    after: str
    before: str


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """Number of items by state for the viewer, without suppressed ones."""

    by_state: Mapping[WorkState, int]
    suppressed: int  # undecided and hidden by suppressions
    mine: int  # undecided and assigned to the viewer


@dataclass(frozen=True, slots=True)
class Progress:
    """The decisions since a moment (today's midnight), by reviewer."""

    total: int
    by_reviewer: Mapping[str, int]
    queued: int  # items in the list, in any state
    open: int  # of them, those that await a first verdict


@dataclass(frozen=True, slots=True)
class Choices:
    """The values of the filters: those that occur in the list, with their counts."""

    roots: tuple[tuple[int, str, int], ...]  # number, path, items
    media_types: tuple[tuple[str, int], ...]
    owners: tuple[tuple[str, int], ...]
    assignees: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """The result of a submitted verdict."""

    file_id: int
    verdict: Verdict
    reviewer: str
    decided: datetime
    repeated: bool  # the same form was submitted before: nothing was added


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One entry of a file's history, for its page."""

    at: datetime
    who: str
    what: str  # decide, undo, assign, second_verdict, adjudicate, reveal, correct, topic, comment, tag, untag
    same_content: bool  # refers to the present content
    verdict: Verdict | None = None
    reason: str = ""
    note: str = ""  # free text: never in a report or a log
    is_current: bool = False  # a verdict that is current
    path: str = ""  # the identical file that it was done with; "" = this file
    is_undone: bool = False


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A file of a near-duplicate group."""

    file_id: int
    root: str
    path: str
    similarity: float  # estimated share of word triples in common with the group's first file
    content_hash: str  # equal hashes, and nothing else, are the same bytes
    state: WorkState  # as the viewer may see it
    reviewer: str
    in_list: bool  # False: not in the list any more


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """A verdict on a whole near-duplicate group."""

    decided: tuple[Decided, ...]
    left_out: tuple[tuple[int, str], ...]  # file and reason: "excepted", "decided before", "suppressed"


REASONS: Mapping[Verdict, tuple[tuple[str, str], ...]] = {
    Verdict.PHI: (
        ("patient_record", _("Record or letter about a patient")),
        ("patient_list", _("List of patients")),
        ("test_result", _("Test result or image of a patient")),
        ("billing", _("Bill or insurance claim")),
        ("message", _("Message about a patient")),
        ("staff_health", _("Health information about a member of staff")),
        ("other_phi", _("Other; see the note")),
    ),
    Verdict.NOT_PHI: (
        ("no_person", _("Nobody can be identified")),
        ("no_health", _("No health information about a person")),
        ("fictitious", _("Made-up person: training, test data or template")),
        ("published", _("Published: article, leaflet or public register")),
        ("professional_only", _("Only staff in their work")),
        ("deidentified", _("De-identified")),
        ("false_finding", _("What was found is something else")),
        ("other_not_phi", _("Other; see the note")),
    ),
    Verdict.UNSURE: (
        ("cannot_tell", _("Cannot tell from the file alone")),
        ("unreadable", _("Cannot be read well enough")),
        ("language", _("Written in a language that I do not read")),
        ("needs_advice", _("Needs legal or clinical advice")),
        ("other_unsure", _("Other; see the note")),
    ),
}
"""The reasons of each verdict: stored name and displayed text."""

MAX_NOTE_CHARS = 2_000


_SAME = (
    *("root", "path", "media_type", "size", "exposure", "blind", "hamming", "case", "people_interval"),
    *("nearest_prototype", "prototype_distance", "health_prototype", "probability", "second_look", "by_name"),
    *("outcome", "reason", "content_hash", "health_distance", "verdict", "state", "decided", "new"),
    *("suppressed", "covered"),
)

FIELDS: Mapping[str, Callable[[FileRecord], Any]] = {
    **{name: attrgetter(name) for name in _SAME},
    "file": attrgetter("file_id"),
    "seen": attrgetter("examination_id"),
    "group": attrgetter("group_id"),
    "health": attrgetter("health_score"),
    "decision": attrgetter("referral"),
    "characters": attrgetter("n_chars"),
    "mode": attrgetter("source.mode"),
    "uid": attrgetter("source.uid"),
    "mtime_ns": attrgetter("source.mtime_ns"),
    "owner": lambda record: record.source.owner or None,
    "readers": lambda record: list(record.source.readers),
    "reader_count": lambda record: counted_json(record.reader_count),
    "tags": lambda record: list(record.tags),
    "openings": lambda record: None if record.blind else record.openings.to_json(),
    "labels": lambda record: [{"id": number, "name": name} for number, name in record.labels],
    "risk": lambda record: None if record.blind else record.risk,
    "people": lambda record: None if record.referral is None else record.n_people,
    "findings": lambda record: None if record.referral is None else record.n_findings,
    "pii": lambda record: list(record.vector.names),
    "missing": lambda record: [bit.value for bit in record.missing],
    "detectors": lambda record: dict(record.detectors),
    "detector_probability": lambda record: dict(record.detector_probabilities),
    "language": lambda record: record.language or None,
    "reviewer": lambda record: record.reviewer or None,
    "assignee": lambda record: record.assignee or None,
    "found": lambda record: [finding_json(one) for one in record.findings],
    "terms": lambda record: [
        {"concept": one.concept, "count": one.count, "locator": one.locator} for one in record.terms
    ],
    "unread": lambda record: [asdict(one) for one in record.unread],
}
"""Each field by its name; of a file that is to be judged blind, or was not screened, findings are null."""


def record_json(record: FileRecord, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields with these names."""
    return {name: FIELDS[name](record) for name in names}


def cell(value: Any) -> str:
    """Return a field as a cell of a CSV file, safe for spreadsheets."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        value = " ".join(value)
    return safe_cell(visible(value)) if isinstance(value, str) else repr(value)


def finding_json(finding: StoredFinding) -> dict[str, Any]:
    """Return a finding: its type, masked shape, position and reasons, never its value."""
    return {
        "type": finding.entity_type,
        "shape": finding.preview,
        "locator": finding.locator,
        "start": finding.span.start,
        "end": finding.span.end,
        "score": finding.score,
        "source": finding.source,
        "reasons": [
            {"kind": step.kind, "detail": step.detail, "score": step.score} for step in finding.reasons
        ],
        "identity": finding.identity,
    }


def counted_json(counted: ReaderCount | None) -> dict[str, Any] | None:
    """Return the number of people who can read a file or folder; None = not counted."""
    if counted is None:
        return None
    known = {name: getattr(counted, name) for name in ("low", "high", "n_accounts")}
    reason = {"reason": ", ".join(counted.notes)} if None in {counted.low, counted.high} else {}
    return {**known, "notes": list(counted.notes), "counted": counted.counted.isoformat(), **reason}
