"""The estimates of a report that are shown individually, each with its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.metrics.intervals import Figure


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
class Stopping:
    """Whether the review may stop, because the target of recall is shown with 95% confidence.

    It may once ``limit``, the any-time-valid bound on missed files, is at most ``allowed``. ``reason`` says
    why there is no limit yet.
    """

    target_recall: float
    confirmed: int
    allowed: int
    limit: int | None
    recall_lower: float | None
    stop: bool | None
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
