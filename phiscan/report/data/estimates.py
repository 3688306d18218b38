"""Values of the report: estimates with their inputs, changes, incidents, reveals and corrections."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from phiscan.metrics.capture_recapture.missed import MissedFiles
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.elusion import SOURCE
from phiscan.metrics.intervals import Figure


@dataclass(frozen=True, slots=True)
class Answer:
    """One question of the first page: a number, and a sentence that says what it claims.

    ``caution`` says what the number leaves out; ``reason`` why there is no number.
    """

    id: str
    question: str
    n: int | None
    sentence: str
    caution: str = ""
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A named count of a picture; ``kind`` is its colour."""

    name: str
    kind: str
    n: int


@dataclass(frozen=True, slots=True)
class Summary:
    """The first page: the answers, what became of the files, who can read the PHI, and where it is."""

    answers: tuple[Answer, ...]
    outcomes: tuple[Bar, ...]
    exposures: tuple[Bar, ...]
    places: tuple[Bar, ...]
    places_are: str  # what ``places`` counts by: folder or format


@dataclass(frozen=True, slots=True)
class AffectedPatients:
    """Distinct patients of the patient index matched in files that a person confirmed as PHI.

    ``by_region``: by state or province of the patient list; None: there is no index now to know them from.
    ``notice_in``: those with so many that notification laws ask for more than letters.
    """

    patients: int
    by_region: dict[str, int] | None
    notice_in: tuple[str, ...]
    files: int  # confirmed and compared with an index
    files_without_match: int  # of these; the count is not complete for them


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """A detector's confusion matrix: TP and FP as reviewed, FN, TN and accuracy from the estimated total.

    ``by`` names the estimate of all PHI files; ``reason`` says what is missing.
    """

    name: str
    tp: int
    fp: int
    unverified: int
    fn: float | None
    tn: float | None
    sensitivity: float | None
    accuracy: float | None
    by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class FeatureDependence:
    """Mutual information, in nats, of the stored features of two detectors over the confirmed PHI files.

    ``mean`` is over all pairs of features, as Mane et al. compare detectors; ``highest`` is the most
    dependent pair, ``first_feature`` and ``second_feature``.
    """

    first: str
    second: str
    compared: int
    mean: float | None
    highest: float | None
    first_feature: str
    second_feature: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """One number that can be followed: formula, inputs by name, assumption and source.

    ``formula`` is plain text, with one letter per input where their names begin with one. ``unit`` says
    how it reads: "share" of a whole, "number" of files, or a plain "ratio". ``reason`` says why the
    value, or with a value why its interval, does not exist.
    """

    name: str
    value: float | None
    ci95: tuple[float, float] | None
    unit: Literal["share", "number", "ratio"]
    formula: str
    inputs: dict[str, float]
    assumption: str
    source: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class ScoreRanking:
    """How well a score orders the files with a verdict; a higher score should mean PHI.

    ``phi`` and ``not_phi`` are the decided files, ``not_referred`` those of them that the screen had not
    referred; ``no_score`` decided files without this score are left out. ``curve`` holds (recall, precision)
    from the highest score to the lowest, thinned to what can be drawn. ``reason`` says why nothing is
    estimated.
    """

    score: str
    label: str
    phi: int
    not_phi: int
    not_referred: int
    no_score: int
    estimates: tuple[Estimate, ...]
    curve: tuple[tuple[float, float], ...]
    reason: str | None
    assumption: str


@dataclass(frozen=True, slots=True)
class ReviewerPair:
    """How far two people agree on the ``files`` that both decided.

    ``same`` counts equal verdicts, ``both_phi`` those of them that are PHI, ``first_phi`` and ``second_phi``
    the shared files that each called PHI.
    """

    first: str
    second: str
    files: int
    same: int
    both_phi: int
    first_phi: int
    second_phi: int
    kappa: Figure
    positive_agreement: Figure
    pabak: Figure


@dataclass(frozen=True, slots=True)
class DoubleReview:
    """Agreement of the people who decided the same files; of each, the latest verdict per file and content.

    ``files`` counts the files that two or more decided. ``reason`` says why nothing is compared.
    """

    files: int
    pairs: tuple[ReviewerPair, ...]
    alpha: Estimate
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class StratumTotal:
    """The PHI files of one format: confirmed and found by a detector, and estimated in all."""

    name: str
    found: int
    total: Total


@dataclass(frozen=True, slots=True)
class Verification:
    """Sensitivity and specificity, corrected for which files were verified.

    ``open`` counts the referred files without a verdict: while there are any, the riskiest are verified first
    and the assumption does not hold. ``reason`` says why nothing is estimated.
    """

    estimates: tuple[Estimate, ...]
    open: int
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class LevelCount:
    """Findings under one label of the hierarchy of identifier types, in the referred files.

    ``level`` 0 is a fine type, 1 the HIPAA identifier that it is, 2 all of them together.
    """

    level: int
    name: str
    label: str
    parent: str
    findings: int
    distinct: int
    files: int
    phi_files: int


@dataclass(frozen=True, slots=True)
class TypeLevels:
    """The findings at every level, each label before those below it; ``no_scores`` says what they are not."""

    counts: tuple[LevelCount, ...]
    representation: str
    no_scores: str
    source: str


@dataclass(frozen=True, slots=True)
class SecondList:
    """The second list: files that a detector marked and that were not referred, with their verdicts.

    ``phi_share`` is its yield: the share of PHI among those reviewed. ``too_low``: some were not reviewed, so
    that capture histories lack their PHI and the estimate of what was missed is too low. ``phi``, ``not_phi``
    and ``phi_share`` are None where only the number of reviewed files is known.
    """

    files: int
    reviewed: int
    phi: int | None
    not_phi: int | None
    phi_share: Figure | None
    too_low: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class History:
    """One capture history: the detectors that classified files as PHI, and the verdicts on these files."""

    detectors: dict[str, bool]
    files: int
    referred: int
    phi: int
    not_phi: int
    unverified: int


@dataclass(frozen=True, slots=True)
class Elusion:
    """The random sample of the files that were not referred, as the desk drew it: counts of its review.

    ``found`` is the PHI among the reviewed (unsure and disputed are PHI). The bound is
    ``ReportData.remaining.missed_in_rest``; ``recall_lower`` is the recall of the referral by it.
    """

    population: int
    drawn: int
    reviewed: int
    found: int
    recall_lower: float | None
    source: str = SOURCE


@dataclass(frozen=True, slots=True)
class PairEstimate:
    """Capture-recapture with two detectors: Lincoln-Petersen and Chapman, from the three counts.

    ``dependence`` is the mutual information of the two verdicts, in nats, over the ``compared`` confirmed
    files that a third detector found: only there is the cell "neither" observed. ``reason`` says why it is
    None.
    """

    first: str
    second: str
    both: int
    only_first: int
    only_second: int
    lincoln_petersen: Total
    chapman: Total
    compared: int
    dependence: float | None
    p_value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Capture:
    """The model-based answer: how much all detectors missed together, from how they overlap.

    ``n_found`` are the confirmed PHI files that at least one detector found; ``outside`` those that none
    did; ``open`` the files that some detector found and nobody has verified. ``counts`` are the confirmed
    files by capture history, one digit per detector in the order of ``detectors``. ``totals`` are all
    totals, each with what it is made of; ``formats`` are the estimates within each format, the parts of one
    of them. ``reason`` says why nothing is estimated; ``warnings`` say why an estimate is not to be
    trusted.
    """

    detectors: tuple[str, ...]
    n_found: int
    outside: int
    open: int
    counts: dict[str, int]
    pairs: tuple[PairEstimate, ...]
    models: MissedFiles | None
    totals: tuple[Estimate, ...]
    formats: tuple[StratumTotal, ...]
    reason: str | None
    warnings: tuple[str, ...]
    assumption: str
    source: str
    accuracy: tuple[DetectorRow, ...] = ()
    features: tuple[FeatureDependence, ...] = ()


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
    """An incident without its texts; ``here``: its files in the scan; the last three by access logs."""

    number: int
    state: str
    opened: datetime
    files: int
    here: int
    files_opened: int
    accounts: int  # different ones that opened a file of it
    files_not_covered: int  # by any log
