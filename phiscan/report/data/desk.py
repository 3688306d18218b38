"""Values of the report about changes since the last scan, incidents, reveals and corrections."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from phiscan.metrics.intervals import Figure
from phiscan.report.data.estimates import Estimate, ReviewerPair


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file whose referral, or presence, is not what it was at the scan before."""

    change: str
    file: int
    path: str
    now_at: str


@dataclass(frozen=True, slots=True)
class Change:
    """This scan against the previous complete scan of the same folders.

    Present now = ``new`` + ``moved`` + ``changed`` + ``same`` + ``now_read`` + ``no_longer_read`` +
    ``never_read``. ``moved`` were met at a new place with the content of a file that is gone; ``deleted`` are
    gone and were not met again. ``copies`` were taken over from an equal content by this scan. Newly referred
    files are split by why: new or moved, content changed, or the same content judged by other ``versions``.
    ``reason`` says why nothing is compared, or why the deleted files are not known; the counts are then None.
    """

    copies: int
    previous: int | None = None
    previous_ended: datetime | None = None
    present_before: int | None = None
    present: int | None = None
    new: int | None = None
    moved: int | None = None
    changed: int | None = None
    same: int | None = None
    now_read: int | None = None
    no_longer_read: int | None = None
    never_read: int | None = None
    deleted: int | None = None
    newly_referred: int | None = None
    newly_referred_new: int | None = None
    newly_referred_changed: int | None = None
    newly_referred_same: int | None = None
    no_longer_referred: int | None = None
    referred_gone: int | None = None
    still_referred: int | None = None
    versions: tuple[str, ...] = ()
    files: tuple[ChangedFile, ...] = ()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RevealRow:
    """One request to see the text of a file; a purpose in a person's own words stays in the database."""

    reveal: int
    revealed: datetime
    revealed_by: str
    file: int
    path: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Revealer:
    """The reveals of one person."""

    revealed_by: str
    reveals: int
    files: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """One suppression; ``rule`` is empty when it is about a value, which is not shown.

    ``status`` is active, waiting (for approval), ended or lifted. ``hid_when_made`` counts the items it hid
    when it was made; ``hides_now`` the undecided items hidden now with a finding that it passes over, alone
    or together with others, None unless it is active.
    """

    suppression: int
    kind: str
    rule: str
    where: str
    status: str
    hid_when_made: int
    hides_now: int | None
    made_by: str
    made: datetime
    until: datetime
    approved_by: str
    needs_approval: bool
    lifted_by: str


@dataclass(frozen=True, slots=True)
class LogSignOff:
    """Somebody has reviewed the audit log up to an entry; ``since`` counts the entries made after that.

    ``holds`` says whether that entry still has the hash that was signed; None when it was purged by policy.
    """

    reviewer: str
    at: datetime
    entries: int
    since: int
    head: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Oversight:
    """Who looked at texts, what is hidden from review, and who has checked the record of it all."""

    revealers: tuple[Revealer, ...]
    reveals: tuple[RevealRow, ...]
    suppressions: tuple[SuppressionRow, ...]
    hidden_now: int
    sign_offs: tuple[LogSignOff, ...]


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Spans of one type, or of all; precision = correct / (correct + substitution + insertion).

    Recall divides by correct + substitution + deletion. ``reason`` says why one of them does not exist.
    """

    name: str
    label: str
    correct: int
    substitution: int
    insertion: int
    deletion: int
    precision: float | None
    recall: float | None
    f1: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SchemeScore:
    """One way of counting a match: strict, exact, partial or type (SemEval-2013 task 9.1)."""

    scheme: str
    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int
    precision: float | None
    recall: float | None
    f1: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SpanScores:
    """The machine's spans against the reviewers' in ``files`` whose spans were all gone through."""

    files: int
    gold: int
    system: int
    overall: SpanScore | None
    by_type: tuple[SpanScore, ...]
    schemes: tuple[SchemeScore, ...]
    reason: str | None
    assumption: str
    no_tokens: str
    source: str


@dataclass(frozen=True, slots=True)
class TopicScore:
    """Topics at one level, None = all: 0 is the chapter of ICD-10-CM, 1 any health topic."""

    level: int | None
    view: str
    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class TopicScores:
    """The machine's topics against the reviewers', in ``files``; ``left_out`` labels are no chapter."""

    files: int
    left_out: int
    scores: tuple[TopicScore, ...]
    representation: str
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class BlindReview:
    """How far the blind second verdicts agree with the first ones, of this scan's files.

    ``drawn`` went to a second person at random; ``compared`` have both verdicts. ``settled`` disagreements
    were decided by a third person. ``held_back`` files await their second verdict, and are undecided in
    all of this report.
    """

    drawn: int
    held_back: int
    compared: int
    agreed: int
    disagreed: int
    settled: int
    kappa: Figure
    positive_agreement: Figure
    pabak: Figure
    alpha: Estimate
    pairs: tuple[ReviewerPair, ...]
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """An incident without its texts; ``here``: its files in the scan."""

    number: int
    state: str
    opened: datetime
    files: int
    here: int
