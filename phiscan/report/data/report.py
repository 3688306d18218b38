"""The content of a report as one frozen value: made by ``gather``, shown as HTML, PDF, CSV and JSON.

report.json is exactly this value (docs/make_schema.py writes its JSON Schema from these classes), so
that every number on the page can be read by a program too. A number that does not exist is None, and its
object has a ``reason``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from phiscan.metrics.intervals import Figure
from phiscan.metrics.remaining import Remaining
from phiscan.model import ReaderCount, Verdict
from phiscan.report.data import estimates


@dataclass(frozen=True, slots=True)
class Scope:
    """Which scan of which folders, when, and with which versions of everything that decides."""

    scan: int
    roots: tuple[str, ...]
    status: str
    started: datetime
    ended: datetime | None
    seconds: float
    n_bytes: int
    made: datetime
    phiscan: str
    versions: dict[str, str]
    audit_ok: bool
    audit_rows: int
    audit_head: str
    audit_problem: str


@dataclass(frozen=True, slots=True)
class Unread:
    """A file, or a part of one, that could not be read."""

    path: str
    locator: str
    reason: str
    detail: str


@dataclass(frozen=True, slots=True)
class Coverage:
    """What became of every crawled file; crawled = screened + unchanged + skipped + failed.

    ``read`` are the files whose text was screened, in this scan or (if unchanged since) in an earlier one;
    ``read_share`` divides them by the files that had something to read (crawled less skipped).
    """

    crawled: int
    screened: int
    unchanged: int
    skipped: dict[str, int]
    failed: dict[str, int]
    read: int
    not_read: int
    read_share: Figure
    unread_parts: int
    files_with_unread_parts: int
    unread: tuple[Unread, ...]
    ocr_files: int = 0  # waiting for OCR: the next scan reads them
    ocr_parts: int = 0  # pages and pictures in them
    sampled_files: int = 0  # long files that are referred by samples of their text
    sampled: tuple[Unread, ...] = ()  # what was left out of them
    not_covered: dict[str, int] = field(default_factory=dict)  # files by a language that is not read


@dataclass(frozen=True, slots=True)
class Funnel:
    """The number of files after each step, and the verdicts on the last ones."""

    crawled: int
    read: int
    screened_positive: int
    referred: int
    reviewed: int
    phi: int
    not_phi: int
    unsure: int
    undecided: int
    pii_only: int
    health_only: int
    clear: int


@dataclass(frozen=True, slots=True)
class Final:
    """Where a figure will lie once every file is verified, whatever the open verdicts turn out to be.

    ``low`` counts every open file against the figure, ``high`` every one for it; ``ci95`` reaches from the
    lower exact limit of the one to the upper exact limit of the other.
    """

    low: float | None
    high: float | None
    ci95: tuple[float, float] | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Characteristic:
    """The screen "the file shows this": Table 1 of the paper, with TDP, FRP and PPV.

    ``positive`` = phi + not_phi + unverified; ``n`` = positive + negative. The cells under ``negative`` are
    not known to anybody. ``relative_tdp`` and ``relative_frp`` divide by those of the ``reference``.
    """

    name: str
    label: str
    hipaa: str
    n: int
    positive: int
    negative: int
    phi: int
    not_phi: int
    unverified: int
    unsure: int
    coverage: Figure
    tdp: Figure
    frp: Figure
    ppv: Figure
    final_tdp: Final
    final_frp: Final
    reference: str
    relative_tdp: Figure
    relative_frp: Figure


@dataclass(frozen=True, slots=True)
class TypeCount:
    """Findings of one identifier type in the referred files."""

    entity_type: str
    label: str
    findings: int
    distinct: int
    files: int
    phi_files: int


@dataclass(frozen=True, slots=True)
class Group:
    """Files of one format or folder."""

    name: str
    crawled: int
    read: int
    not_read: int
    screened_positive: int
    referred: int
    phi: int
    not_phi: int
    people: int


@dataclass(frozen=True, slots=True)
class WideFolder(ReaderCount):
    """A folder, its files that are PHI or may be, and how many people can read at least one; never who."""

    folder: str
    files: int
    reason: str | None  # why a number is not known


@dataclass(frozen=True, slots=True)
class TopFile:
    """A referred file with the reasons for it, masked: kinds and counts, never a value."""

    file: int
    path: str
    media_type: str
    risk: float
    bits: tuple[str, ...]
    findings: dict[str, int]
    people: int
    hamming: int | None
    health_score: float | None
    case: str
    detectors: tuple[str, ...]
    verdict: Verdict | None
    reviewer: str


@dataclass(frozen=True, slots=True)
class DecisionRow:
    """One decision as it was appended; ``standing`` is the one that counts now, ``undone`` was taken back."""

    decision: int
    file: int
    path: str
    verdict: Verdict
    reviewer: str
    decided: datetime
    standing: bool
    undone: bool


@dataclass(frozen=True, slots=True)
class Reviewer:
    """The standing decisions of one person, and how many of theirs were superseded."""

    reviewer: str
    phi: int
    not_phi: int
    unsure: int
    superseded: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class People:
    """Distinct people at risk, an estimate from linking identifiers; identical files counted once.

    Those of referred files, without the ones that are decided as not PHI.

    ``bands`` counts referred files by the number of people in each.
    """

    at_risk: int
    in_confirmed: int
    bands: dict[str, int]


@dataclass(frozen=True, slots=True)
class Topic:
    """A health concept found in referred files."""

    concept: str
    hits: int
    files: int
    phi_files: int


@dataclass(frozen=True, slots=True)
class Headline:
    """One of the four figures at the head of the statistics: with its interval and a sentence on it."""

    name: str
    value: float | None
    ci95: tuple[float, float] | None
    sentence: str
    caution: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class ReportData:
    """Everything that the report of one scan says."""

    scope: Scope
    summary: estimates.Summary
    headlines: tuple[Headline, ...]
    coverage: Coverage
    funnel: Funnel
    overall: Characteristic
    characteristics: tuple[Characteristic, ...]
    detectors: tuple[Characteristic, ...]
    histories: tuple[estimates.History, ...]
    rankings: tuple[estimates.ScoreRanking, ...]
    double_review: estimates.DoubleReview
    blind_review: estimates.BlindReview
    span_scores: estimates.SpanScores
    topic_scores: estimates.TopicScores
    elusion: estimates.Elusion
    remaining: Remaining
    verification: estimates.Verification
    capture: estimates.Capture
    second_list: estimates.SecondList
    findings_by_type: tuple[TypeCount, ...]
    type_levels: estimates.TypeLevels
    formats: tuple[Group, ...]
    folders: tuple[Group, ...]
    widest_folders: tuple[WideFolder, ...]
    top_files: tuple[TopFile, ...]
    reviewers: tuple[Reviewer, ...]
    decisions: tuple[DecisionRow, ...]
    people: People
    topics: tuple[Topic, ...]
    change: estimates.Change
    oversight: estimates.Oversight
    incidents: tuple[estimates.IncidentRow, ...]
    in_no_incident: int  # files confirmed as PHI
    affected: estimates.AffectedPatients | None
    limits: tuple[str, ...]
