"""The types of the review list: its states, orders, filters, items and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from phiscan.language import lazy_gettext as _
from phiscan.model import EntityType, PiiVector, StoredFinding, StoredTerm, UnreadPart, Verdict
from phiscan.review.records.items import FileState, QueueItem


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


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One row of the list.

    ``blind``: shown without the results of the machine, so that the verdict is independent: vector is empty,
    and people, findings and score are None. Blind items are drawn at random from the queue and from the files
    that were not referred; nothing here distinguishes the two.
    """

    file_id: int
    root_id: int
    root: str
    path: str
    media_type: str
    size: int
    owner: str
    exposure: str  # "everyone", "group" or "owner": who may read it
    risk: float  # sort key, not a probability
    blind: bool
    vector: PiiVector
    n_people: int | None
    people_interval: tuple[int, int] | None  # 95 % of n_people; None if all were counted
    n_findings: int | None
    score: float | None  # health score
    case: str  # row of the decision table; "" when blind
    state: WorkState  # undecided, phi, not_phi or unsure, as the viewer may see it
    reviewer: str  # who decided; "" when undecided
    decided: datetime | None
    assignee: str
    skipped: bool  # by the viewer
    new: bool
    group_id: int | None
    n_group: int  # files in its near-duplicate group, including itself; 1 = alone
    suppressed: bool
    examination_id: int  # to be submitted with the verdict
    content_hash: str


@dataclass(frozen=True, slots=True)
class WorkDetail:
    """One item with its evidence.

    Blind: ``findings``, ``terms`` and ``unread`` are empty, ``explained`` is None, and of ``source`` only the
    metadata of the file system are set.
    """

    item: WorkItem
    source: FileState
    readers: tuple[str, ...]  # who may read the file, from the share: "everyone", "group NAME", "user NAME"
    explained: QueueItem | None  # missing bits, prototypes, distances, detectors; None when blind
    findings: tuple[StoredFinding, ...]
    terms: tuple[StoredTerm, ...]
    unread: tuple[UnreadPart, ...]


@dataclass(frozen=True, slots=True)
class WorkPage:
    """A page of a list. ``after`` is the cursor of the next page, ``before`` of the previous; "" = none."""

    items: tuple[WorkItem, ...]
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
    what: str  # decide, undo, assign, second_verdict, adjudicate, reveal, correct, topic
    verdict: Verdict | None
    reason: str
    note: str  # free text: never in a report or a log
    is_current: bool  # a verdict that is current
    same_content: bool  # refers to the present content


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A file of a near-duplicate group."""

    file_id: int
    root: str
    path: str
    similarity: float  # estimated share of word triples in common with the group's first file
    is_copy: bool  # identical bytes
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
