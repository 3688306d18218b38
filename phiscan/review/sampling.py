"""Random draws: the blind sample of referred and of unreferred files, and what its review says so far."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class SampleDraw:
    """A draw as it was made. The seed is secret while the sample is reviewed."""

    id: int
    n_sampled_queued: int
    n_queued: int
    n_sampled_unreferred: int
    n_unreferred: int
    drawn_by: str
    drawn: datetime


@dataclass(frozen=True, slots=True)
class Stratum:
    """Items of one range of scores: how many there are, were decided, and were PHI (unsure counts as PHI)."""

    low: float
    high: float
    n: int
    n_decided: int
    n_phi: int


@dataclass(frozen=True, slots=True)
class SampleReview:
    """How far one kind of the blind sample was reviewed, in its random order without a gap."""

    population: int  # files that it was drawn from and that are still there
    drawn: int
    reviewed: int
    phi: int  # unsure counts as PHI


@dataclass(frozen=True, slots=True)
class LeftCounts:
    """All counts that an estimate of what is left needs."""

    undecided: int
    found: int  # decided as PHI in the queue; unsure not among them
    strata: tuple[Stratum, ...]
    queued: SampleReview | None  # None = no sample was drawn
    unreferred: SampleReview | None
