"""The correction of the health score: its fit, its threshold, and its predictions on held-out files."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.health.knn import OneClassKnn
from phiscan.health.logistic_regression import fit_ridge
from phiscan.health.review_correction import log_odds

N_FOLDS: Final = 5
MAY_LOSE: Final = 0.01  # share of the reviewed PHI files that the new threshold may give up
MARGIN: Final = 1.0  # log-odds below the least of them: a file not seen yet may lie lower
PENALTIES: Final = (0.5, 2.0, 8.0)
SLOPE_PENALTY: Final = 4.0
SEED: Final = 2008

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class Material:
    """The reviewed files as numbers, computed once."""

    is_phi: Flags
    groups: npt.NDArray[np.int64]
    features: Floats  # (files, features)
    names: list[str]
    n_files: npt.NDArray[np.int64]  # groups that hold each feature
    about: Floats
    distances: Floats  # (files, shipped prototypes + files)
    n_shipped: int
    log_odds: Floats  # of PHI, before any correction
    knn: OneClassKnn
    k: int
    penalty: float = PENALTIES[1]
    bases: dict[bytes, Floats] = field(default_factory=dict)

    def base(self, teachers: Flags) -> Floats:
        """Return each file's uncorrected score with the PHI files among ``teachers`` as prototypes too."""
        key = teachers.tobytes()
        if key not in self.bases:
            ours = np.flatnonzero(teachers & self.is_phi)
            # Nobody is a prototype of itself or of its near-duplicates, as in leave-one-out.
            extra = np.where(
                self.groups[:, None] == self.groups[ours][None, :],
                np.inf,
                self.distances[:, self.n_shipped + ours],
            )
            all_distances = np.hstack([self.distances[:, : self.n_shipped], extra])
            kth = np.partition(all_distances, self.k - 1, axis=1)[:, self.k - 1]
            self.bases[key] = np.minimum(self.knn.score(kth), self.about)
        return self.bases[key]


def folds(material: Material, among: Flags, seed: int) -> list[Flags]:
    """Cut the files into folds, near-duplicates together, both verdicts spread evenly."""
    draw = np.random.default_rng(seed)
    number = np.full(len(among), -1)
    for verdict in (True, False):
        groups = np.unique(material.groups[among & (material.is_phi == verdict)])
        groups = groups[~np.isin(groups, material.groups[number >= 0])]
        for place, group in enumerate(draw.permutation(groups)):
            number[among & (material.groups == group)] = place % N_FOLDS
    return [number == fold for fold in range(N_FOLDS) if (number == fold).any()]


def fit(material: Material, pupils: Flags, teachers: Flags, penalty: float | None = None) -> Floats:
    """Fit slope, intercept and weights on ``pupils``; ridge towards the shipped score."""
    penalty = material.penalty if penalty is None else penalty
    base = np.array([log_odds(score) for score in material.base(teachers)[pupils]])
    rows = np.column_stack([base, np.ones(len(base)), material.features[pupils]])
    start = np.zeros(rows.shape[1])
    start[0] = 1.0
    strength = np.full(rows.shape[1], penalty)
    strength[0], strength[1] = SLOPE_PENALTY, 0.01

    return fit_ridge(rows, material.is_phi[pupils], start, strength)


def logits_of(material: Material, weights: Floats, of: Flags, teachers: Flags) -> Floats:
    """Return the corrected log-odds of files, before any threshold."""
    base = np.array([log_odds(score) for score in material.base(teachers)[of]])
    return np.asarray(weights[0] * base + weights[1] + material.features[of] @ weights[2:])


def out_of_fold(material: Material, among: Flags, seed: int, penalty: float | None = None) -> Floats:
    """Return the log-odds of each file by models that saw neither it nor its near-duplicates."""
    logits = np.full(len(among), np.nan)
    for fold in folds(material, among, seed):
        others = among & ~fold
        weights = fit(material, others, others, penalty)
        logits[fold] = logits_of(material, weights, fold, others)
    return logits


def loss_of(material: Material, penalty: float) -> float:
    """Return the log loss on held-out files with this penalty."""
    everybody = np.ones(len(material.is_phi), dtype=np.bool_)
    margins = np.where(material.is_phi, 1.0, -1.0) * out_of_fold(material, everybody, SEED, penalty)
    return float(np.logaddexp(0.0, -margins).sum())


def shift_of(material: Material, among: Flags) -> float:
    """Return the log-odds of the new threshold: 0, or lower where that could give up PHI files."""
    logits = np.sort(out_of_fold(material, among, SEED + 1)[among & material.is_phi])
    allowed = math.floor(MAY_LOSE * len(logits))
    return min(0.0, float(logits[allowed]) - MARGIN)


def hold_out(material: Material, *, corrected: bool) -> Floats:
    """Return each file's score by models that saw neither it nor its near-duplicates, threshold included."""
    everybody = np.ones(len(material.is_phi), dtype=np.bool_)
    scores = np.zeros(len(everybody))
    for fold in folds(material, everybody, SEED + 2):
        others = everybody & ~fold
        if not corrected:
            scores[fold] = material.base(others)[fold]
            continue
        weights = fit(material, others, others)
        logits = logits_of(material, weights, fold, others) - shift_of(material, others)
        scores[fold] = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
    return scores
