"""Values of the report about missed PHI: the random sample of unreferred files, and the capture histories."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.metrics.capture_recapture.missed import MissedFiles
from phiscan.metrics.capture_recapture.two_list import Total
from phiscan.model import Verdict
from phiscan.report.data.detectors import DetectorRow, FeatureDependence
from phiscan.report.data.estimates import (
    Estimate,
    StratumTotal,
)


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
    """The design-based answer: a random sample of the files that were not referred, reviewed by people.

    The limits are one-sided, 95%. ``upper_sequential`` holds however often somebody looked and whenever they
    stopped; the other two hold when ``sample`` was fixed beforehand. ``sample`` counts the beginning of the
    random order, ``open`` the files in it without a verdict, which the limits count as PHI; ``found`` is the
    PHI among its reviewed files and ``known`` the PHI among all files that were not referred (unsure is PHI).
    ``reason`` says why there are none.
    """

    population: int
    sample: int
    found: int
    unsure: int
    open: int
    known: int
    planned: int
    seed: str
    rate: float | None
    missed: float | None
    upper_sequential: int | None
    upper_hypergeometric: int | None
    upper_binomial: float | None
    recall_lower: float | None
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class SampleFile:
    """A file of the random sample, in the order in which the sample is to be reviewed."""

    position: int
    file: int
    path: str
    verdict: Verdict | None


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
class SecondFamily:
    """What a second family of name recognizers adds: a fourth list on a random sample, and near misses.

    ``capture`` and ``histories`` are over the ``sampled`` of the ``read`` files alone; ``missed_of_all`` is
    its averaged estimate scaled up to all files that were read, and ``reason`` says why there is none. A near
    miss would be referred if any name had been found in it; those outside the sample are counted in
    ``near_misses``. In ``near_misses_named`` the second family finds a full name, and of these
    ``near_misses_named_open`` have no verdict; ``near_misses_phi`` were confirmed.
    """

    read: int
    sampled: int
    capture: Capture
    histories: tuple[History, ...]
    missed_of_all: float | None
    reason: str | None
    near_misses: int
    near_misses_named: int
    near_misses_named_open: int
    near_misses_phi: int
    assumption: str
