"""The decision on a file and the results that the store may hold: Decision, Examination, FileResult."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from phiscan.model.documents import OWN_NAMES, SourceFile, Span, UnreadPart
from phiscan.model.entities import (
    EntityType,
    Outcome,
    PiiBit,
    PiiVector,
    Referral,
    Search,
    SkipReason,
    Verdict,
)
from phiscan.model.findings import HealthScore, PatientCheck, Reason, Screening, WindowBag

TITLED = "title_and_content"  # referred by its content below what its file and folders are called
NOT_COVERED = "language_not_covered"  # why a file that was read is not clean: its language is not


@dataclass(frozen=True, slots=True)
class Decision:
    """The decision on a file: the referral, P(PHI), and the reasons."""

    referral: Referral
    case: str  # its name; docs/reference/decision-table.md
    probability: float  # P(PHI) at the configured prevalence
    log_odds: float = 0.0  # the same before the reviewers' correction
    # The largest contributions to the log-odds; before them the kind of a message of care.
    reasons: tuple[tuple[str, float], ...] = ()
    passage: Span | None = None  # the strongest passage
    second_look: bool = False  # not referred, but marked by a detector
    evidence: tuple[tuple[str, int], ...] = ()  # what the file holds besides the health score
    patient_log_odds: float = 0.0  # log-odds added by matches with the organization's own patients


@dataclass(frozen=True, slots=True)
class Examination:
    """The results of screening and classification of one document."""

    screening: Screening
    health: HealthScore
    decision: Decision
    detectors: tuple[tuple[str, bool], ...]  # verdict "is this PHI" of each independent detector
    search: Search = Search.EVERYTHING
    # P(PHI) by each detector alone, at the configured prevalence
    detector_probabilities: tuple[tuple[str, float], ...] = ()
    patients: PatientCheck | None = None  # None = there is no index of the organization's own patients

    @property
    def referral(self) -> Referral:
        """The referral of the file."""
        return self.decision.referral

    @property
    def case(self) -> str:
        """The name of the decision's case."""
        return self.decision.case


@dataclass(frozen=True, slots=True)
class StoredFinding:
    """A finding as stored: position, type, masked shape, keyed hash."""

    span: Span
    locator: str
    entity_type: EntityType
    source: str
    score: float
    reasons: tuple[Reason, ...]
    preview: str  # the shape of the value, letters and digits masked
    identity: str  # HMAC-SHA256(key, entity_type + normalised value), hex
    words: bytes = b""  # of a name: the first bytes of the keyed hash of each of its words


@dataclass(frozen=True, slots=True)
class StoredTerm:
    """Occurrences of one health concept in a file, as stored."""

    concept: str
    count: int
    first: Span
    locator: str


@dataclass(frozen=True, slots=True)
class FileResult:
    """The recorded outcome of a crawled file, as sent from a worker to the parent process.

    ``reason`` is "" for a screened file, else a ``SkipReason`` or ``FailReason`` value.
    The examination's numbers are None unless the outcome is screened.
    """

    source: SourceFile
    outcome: Outcome
    reason: str = ""
    detail: str = ""
    media_type: str = ""
    content_hash: str = ""  # blake3, hex
    signature: bytes = field(default=b"", repr=False)  # of a referred file: keyed MinHash of its words
    is_copy: bool = False  # the stored result of an equal content was reused
    unread: tuple[UnreadPart, ...] = ()
    bytes_read: int | None = field(default=None, compare=False)  # of the file; None = not known
    n_chars: int = 0
    vector: PiiVector = field(default_factory=PiiVector)
    hamming: int | None = None
    missing: tuple[PiiBit, ...] = ()
    nearest_prototype: str = ""
    prototype_distance: int | None = None
    n_people: int = 0
    people_interval: tuple[int, int] | None = (
        None  # 95 % interval of n_people; None if the whole text was examined
    )
    health_score: float | None = None
    health_distance: float | None = None
    health_prototype: str = ""
    referral: Referral | None = None
    case: str = ""
    probability: float | None = None
    reasons: tuple[tuple[str, float], ...] = ()
    second_look: bool = False
    detectors: tuple[tuple[str, bool], ...] = ()
    detector_probabilities: tuple[tuple[str, float], ...] = ()
    findings: tuple[StoredFinding, ...] = ()
    terms: tuple[StoredTerm, ...] = ()
    window: WindowBag | None = None
    evidence: tuple[tuple[str, int], ...] = ()  # inputs of decisions and learning besides the score
    search: Search | None = None  # None unless the outcome is screened
    finding_counts: tuple[
        tuple[str, int], ...
    ] = ()  # of all findings by type, also those not in ``findings``
    seconds: tuple[tuple[str, float], ...] = field(default=(), compare=False)  # of each stage, in its worker
    patients: PatientCheck | None = None  # None = there is no index of the organization's own patients
    by_name: bool = False  # referred by the names of file, folder or member alone, whatever the outcome
    language: str = ""  # of its text, ISO 639; "" = none, or not read
    covered: bool = True  # whether the language or script of all its text is read

    @classmethod
    def of_unopened(cls, source: SourceFile) -> Self:
        """Return the result of a file that is not opened, for the reason that it carries."""
        is_skipped = source.unopened in set(SkipReason)
        return cls(source, Outcome.SKIPPED if is_skipped else Outcome.FAILED, source.unopened)

    @property
    def is_of_content(self) -> bool:
        """Whether files of equal content have the same result: nothing in the file's name counts."""
        return self.case != TITLED and not any(found.locator in OWN_NAMES for found in self.findings)


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """One present file as the last scan decided it, with its verdict and what was stored of its evidence."""

    file_id: int
    root: str
    path: str
    is_referred: bool
    second_look: bool
    probability: float
    verdict: Verdict | None
    since: datetime  # when the first scan that saw it began
    evidence: Mapping[str, int]  # empty if none was stored
