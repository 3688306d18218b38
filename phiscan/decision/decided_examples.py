"""Log-odds of a file to log-odds corrected by decided files like it: nearest neighbours, shrunk, bounded.

Files are compared in two spaces. For ``phiscan learn`` a file is a point: what each input of P(PHI) added to
its log-odds, however many inputs there are, and the logarithm of its length. A decided file acts only within
a radius of its point and only on its own side of the threshold, because nothing is known of a side on which
no file was reviewed. So decisions on referred files change nothing below the threshold.

From the next scan on, without any learning, a verdict also acts on the files whose strongest passage is
about the same as that of the decided one, on either side: by the Hamming distance of the codes that the
encoder gives them (``bits_of``).

No correction is larger than the bound of its space: a file that is referred with a probability well above the
threshold stays referred, whatever was decided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.model import CODE, LIKE

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MAX_SHIFT: Final = 2.0  # log-odds
SIZE: Final = "size"  # coordinate: log(1 + characters of the text)
MESSAGE: Final = "message"  # coordinate: what being a message of care adds
INPUT: Final = "input "  # begins the key of a stored coordinate
SCALE: Final = 1000  # of stored coordinates and log-odds
LOG_ODDS: Final = "log-odds of PHI"  # key of the stored value, before any correction
PATIENTS: Final = "log-odds by patients"  # key: what the organization's own patients added

Point = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Space:
    """Up to which distance decided files act above and below the threshold, and how strongly."""

    radius: float
    radius_below: float
    same: float  # distance up to which two files with the same verdict count as one
    prior: float = 1.0  # number of files that the shipped probability counts for
    most: float = MAX_SHIFT


CONTRIBUTIONS: Final = Space(radius=1.75, radius_below=0.4, same=0.1)  # in log-odds; below, there are many
# 60 of the 384 bits of a code; there are few so near, and each one counts.
WORDING: Final = Space(radius=math.sqrt(60), radius_below=0.0, same=-1.0, prior=0.25, most=3.0)


def stored_point(
    point: Point, log_odds: float, patients: float, code: Sequence[int] = (), like: float = 0.0
) -> tuple[tuple[str, int], ...]:
    """Return the point, the code and the log-odds of a file as stored keys and values; zeros are left out."""
    named = {INPUT + name: value for name, value in point.items()} | {PATIENTS: patients, LIKE: like}
    values = [(name, round(SCALE * value)) for name, value in named.items()]
    values += [(f"{CODE}{at}", value) for at, value in enumerate(code)]
    return (*((name, value) for name, value in values if value), (LOG_ODDS, round(SCALE * log_odds)))


def bits_of(code: Sequence[int]) -> dict[str, float]:
    """Return the point of a code: the squared distance of two of these is the Hamming distance."""
    return {str(32 * at + bit): 1.0 for at, value in enumerate(code) for bit in range(32) if value >> bit & 1}


def point_of(stored: Mapping[str, int]) -> dict[str, float]:
    """Return the point of a file from its stored evidence."""
    return {name[len(INPUT) :]: value / SCALE for name, value in stored.items() if name.startswith(INPUT)}


@dataclass(frozen=True, slots=True)
class DecidedExamples:
    """Decided files as arrays; ``weights`` are 1 / number of near-copies with the same verdict."""

    names: tuple[str, ...]
    points: Floats = field(repr=False)  # (files, names)
    is_phi: Flags = field(repr=False)
    is_above: Flags = field(repr=False)  # the threshold, by the shipped model
    weights: Floats = field(repr=False)
    space: Space = CONTRIBUTIONS
    hashes: npt.NDArray[np.str_] = field(default_factory=lambda: np.zeros(0, np.str_), repr=False)

    @classmethod
    def of(
        cls,
        points: Sequence[Point],
        is_phi: Sequence[bool],
        is_above: Sequence[bool],
        space: Space = CONTRIBUTIONS,
    ) -> Self:
        """Return decided files, in the order of the decisions."""
        names = tuple(sorted({name for point in points for name in point}))
        rows = np.array([[point.get(name, 0.0) for name in names] for point in points])
        rows = rows.reshape(len(points), len(names))
        verdicts = np.array(is_phi, dtype=np.bool_)
        groups = near_copies(rows, verdicts, space.same)
        weights = 1.0 / np.bincount(groups, minlength=len(rows) or 1)[groups]
        return cls(names, rows, verdicts, np.array(is_above, dtype=np.bool_), weights, space)

    @classmethod
    def by_wording(cls, decided: Sequence[tuple[str, Sequence[int], bool]]) -> Self:
        """Return decided files, each by the hash of its content, its code, and whether it is PHI.

        They act on either side of the threshold.
        """
        hashes, codes, is_phi = zip(*decided, strict=True) if decided else ((), (), ())
        found = cls.of([bits_of(code) for code in codes], is_phi, [True] * len(codes), WORDING)
        return replace(found, hashes=np.array(hashes, dtype=np.str_))

    def distances(self, point: Point) -> Floats:
        """Return the distance of each decided file from a point."""
        row = np.array([point.get(name, 0.0) for name in self.names])
        elsewhere = sum(value * value for name, value in point.items() if name not in set(self.names))
        return np.asarray(np.sqrt(((self.points - row) ** 2).sum(axis=1) + elsewhere))

    def copies_of(self, point: Point) -> Flags:
        """Return which decided files are the file at a point or its near-copies."""
        return np.asarray(self.distances(point) <= self.space.same)

    def shift(self, log_odds: float, point: Point, *, is_above: bool, without: Flags | None = None) -> float:
        """Return what the decided files near a point add to its log-odds, within bounds.

        The local share of PHI, with the shipped probability as some files; each decided file counts by the
        Epanechnikov kernel of its distance. ``without``: decided files that do not count.
        """
        if not len(self.is_phi) or not point:
            return 0.0
        radius = self.space.radius if is_above else self.space.radius_below
        near = np.maximum(0.0, 1.0 - (self.distances(point) / radius) ** 2) * self.weights
        of_side = self.is_above == is_above
        near = np.where(of_side if without is None else of_side & ~without, near, 0.0)
        n_phi, n_other = float(near[self.is_phi].sum()), float(near[~self.is_phi].sum())
        if n_phi + n_other == 0.0:
            return 0.0
        prior = self.space.prior / (1.0 + math.exp(-log_odds))
        # Odds of the local share, from its parts: 1 - share would lose the small ones to rounding.
        odds = math.log(prior + n_phi) - math.log(self.space.prior - prior + n_other)
        return max(min(odds - log_odds, self.space.most), -self.space.most)


def near_copies(rows: Floats, is_phi: Flags, same: float) -> npt.NDArray[np.int64]:
    """Return a group per file: that of the first earlier file with the same verdict within ``same``."""
    groups = np.arange(len(rows))
    for index in range(1, len(rows)):
        near = np.sqrt(((rows[:index] - rows[index]) ** 2).sum(axis=1)) <= same
        alike = np.flatnonzero(near & (is_phi[:index] == is_phi[index]))
        if len(alike):
            groups[index] = groups[alike[0]]
    return groups


@dataclass(frozen=True, slots=True)
class Line:
    """Monotone recalibration of log-odds; above ``start`` alone where nothing is known below it."""

    slope: float = 1.0
    intercept: float = 0.0
    start: float | None = None  # None = everywhere; otherwise the line passes through (start, start)

    def __call__(self, log_odds: float) -> float:
        """Return the calibrated log-odds."""
        if self.start is not None and log_odds < self.start:
            return log_odds
        return self.slope * log_odds + self.intercept


@dataclass(frozen=True, slots=True)
class LearnedDecision:
    """What a version changes of P(PHI): decided examples, then a line. Empty, it changes nothing."""

    threshold: float  # log-odds of referral when it was learned; the sides of the examples are those of it
    examples: DecidedExamples
    line: Line = Line()

    def corrected(self, log_odds: float, point: Point, *, without: Flags | None = None) -> float:
        """Return the log-odds of PHI of a file, corrected and calibrated."""
        is_above = log_odds >= self.threshold
        shift = self.examples.shift(log_odds, point, is_above=is_above, without=without)
        return self.line(log_odds + shift)

    def needed_for(self, log_odds: float) -> float:
        """Return the shipped log-odds below which no file can reach these corrected ones.

        Decided files that lower a file do not count, since the evidence of it is not complete yet.
        """
        before = (log_odds - self.line.intercept) / self.line.slope
        if self.line.start is not None and before < self.line.start:
            before = log_odds
        may_raise = (self.examples.is_phi & ~self.examples.is_above).any()  # PHI was found below it
        return min(before, log_odds) - (MAX_SHIFT if may_raise else 0.0)

    def to_json(self) -> dict[str, Any]:
        """Return it for the file of a version."""
        kept = self.examples
        columns = (kept.points.round(3).tolist(), kept.is_phi.tolist(), kept.is_above.tolist())
        rows = [dict(zip(("point", "phi", "above"), row, strict=True)) for row in zip(*columns, strict=True)]
        of = {"threshold": self.threshold, "line": asdict(self.line)}
        return {**of, "names": list(kept.names), "examples": rows}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LearnedDecision:
        """Read what ``to_json`` returned."""
        rows = data["examples"]
        points = [dict(zip(data["names"], row["point"], strict=True)) for row in rows]
        examples = DecidedExamples.of(points, [row["phi"] for row in rows], [row["above"] for row in rows])
        return cls(data["threshold"], examples, Line(**data["line"]))


NOTHING_DECIDED: Final = DecidedExamples.by_wording(())
NOTHING_LEARNED: Final = LearnedDecision(0.0, DecidedExamples.of((), (), ()))
