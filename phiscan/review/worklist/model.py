"""The words of the review list: its states, orders, filters, items and counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from phiscan.language import lazy_gettext as _
from phiscan.model import EntityType, PiiVector, StoredFinding, StoredTerm, UnreadPart, Verdict
from phiscan.review.records.items import FileState, QueueItem


class WorkState(StrEnum):
    """Which items a list shows, as the one who looks sees them."""

    UNDECIDED = "undecided"  # without those that this reviewer passed over for now
    PHI = "phi"
    NOT_PHI = "not_phi"
    UNSURE = "unsure"
    SKIPPED = "skipped"  # undecided, and passed over by this reviewer
    DISAGREED = "disagreed"  # two people disagreed: a lead who is neither decides
    ANY = "any"


class WorkOrder(StrEnum):
    """In which order a list shows them."""

    RISK = "risk"  # the greatest first
    INFORMATIVE = "informative"  # score nearest to its threshold first; one in ten at random
    OLDEST = "oldest"  # first found first


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkFilter:
    """What a list is narrowed to; every field that is set must hold."""

    state: WorkState = WorkState.UNDECIDED
    root_id: int | None = None
    folder: str = ""  # below this folder of the root, as shown: "letters/2026"
    media_type: str = ""
    entity_type: EntityType | None = None  # has a finding of this type
    min_score: float | None = None  # health score, both ends included
    max_score: float | None = None
    owner: str = ""
    assignee: str | None = None  # "" = assigned to nobody, None = whoever
    new: bool = False  # content that the last scan of its root was the first to see
    group_id: int | None = None  # one group of near-duplicates
    suppressed: bool = False  # show only what suppressions hide; otherwise only what they do not
    text: str = ""  # anywhere in the path, whatever the case


@dataclass(frozen=True, slots=True)
class WorkItem:
    """One line of the list.

    ``blind``: shown without what the machine says of it, so that the verdict is the reviewer's own: vector
    is empty, and people, findings and score are None. Blind items are drawn at random from the queue and from
    the files that were not referred; nothing here tells which.
    """

    file_id: int
    root_id: int
    root: str
    path: str
    media_type: str
    size: int
    owner: str
    exposure: str  # "everyone", "group" or "owner": who may read it
    risk: float  # order, not a probability
    blind: bool
    vector: PiiVector
    n_people: int | None
    people_interval: tuple[int, int] | None  # 95 % of n_people; None where all was counted
    n_findings: int | None
    score: float | None  # health score
    case: str  # row of the decision table; "" when blind
    state: WorkState  # undecided, phi, not_phi or unsure, as the one who looks may see it
    reviewer: str  # who decided; "" when undecided
    decided: datetime | None
    assignee: str
    skipped: bool  # passed over by the one who looks
    new: bool
    group_id: int | None
    n_group: int  # files in its near-duplicate group, itself included; 1 = alone
    suppressed: bool
    examination_id: int  # to be sent back with the verdict
    content_hash: str


@dataclass(frozen=True, slots=True)
class WorkDetail:
    """One item and what explains it.

    Blind: ``findings``, ``terms`` and ``unread`` are empty, ``explained`` is None, and of ``source`` only
    what the file system said is filled in.
    """

    item: WorkItem
    source: FileState
    readers: tuple[
        str, ...
    ]  # who may read the file, as the share said: "everyone", "group NAME", "user NAME"
    explained: QueueItem | None  # bits lacking, prototypes, distances, detectors; None when blind
    findings: tuple[StoredFinding, ...]
    terms: tuple[StoredTerm, ...]
    unread: tuple[UnreadPart, ...]


@dataclass(frozen=True, slots=True)
class WorkPage:
    """Part of a list. ``after`` gets the next part, ``before`` the part before; "" = there is none."""

    items: tuple[WorkItem, ...]
    after: str
    before: str


@dataclass(frozen=True, slots=True)
class WorkCounts:
    """How many items there are in each state for the one who looks, suppressed ones left out."""

    by_state: Mapping[WorkState, int]
    suppressed: int  # undecided items that suppressions hide
    mine: int  # undecided and assigned to the one who looks


@dataclass(frozen=True, slots=True)
class Progress:
    """What was decided since a moment (today's midnight), and by whom."""

    total: int
    by_reviewer: Mapping[str, int]
    queued: int  # items in the list, whatever their state
    open: int  # of them, those that await a first verdict


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters can be set to: the values that occur in the list, with how often."""

    roots: tuple[tuple[int, str, int], ...]  # number, path, items
    media_types: tuple[tuple[str, int], ...]
    owners: tuple[tuple[str, int], ...]
    assignees: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True)
class Decided:
    """What became of a verdict that was sent."""

    file_id: int
    verdict: Verdict
    reviewer: str
    decided: datetime
    repeated: bool  # the same form had been sent before: nothing was added


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One thing that was done about a file, for its page; oldest first."""

    at: datetime
    who: str
    what: str  # decide, undo, assign, second_verdict, adjudicate, reveal, correct, topic
    verdict: Verdict | None
    reason: str
    note: str  # free text: never in a report or a log
    stands: bool  # a verdict that holds now
    same_content: bool  # about the present content


@dataclass(frozen=True, slots=True)
class GroupMember:
    """A file of a near-duplicate group."""

    file_id: int
    root: str
    path: str
    similarity: float  # estimated share of word triples in common with the group's first file
    is_copy: bool  # the very same bytes as the first
    state: WorkState  # as the one who looks may see it
    reviewer: str
    in_list: bool  # False: not in the list any more


@dataclass(frozen=True, slots=True)
class GroupDecision:
    """A verdict on a whole near-duplicate group."""

    decided: tuple[Decided, ...]
    left_out: tuple[tuple[int, str], ...]  # file and why: "excepted", "decided before", "suppressed"


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
"""The short list of reasons for each verdict: what is stored, and what is shown."""

MAX_NOTE_CHARS = 2_000
