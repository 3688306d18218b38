"""Fit the reviewers' correction of the health score, set its threshold, and predict held-out files."""

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
MAY_LOSE: Final = 0.01  # share of the reviewed PHI files that may fall below the new threshold
MARGIN: Final = 1.0  # log-odds below the lowest of the others, since an unseen file may score lower
PENALTIES: Final = (0.5, 2.0, 8.0)
SLOPE_PENALTY: Final = 4.0
SEED: Final = 2008

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(slots=True)
class TrainingData:
    """The reviewed files as arrays, computed once."""

    is_phi: Flags
    groups: npt.NDArray[np.int64]
    features: Floats  # (files, features)
    names: list[str]
    n_files: npt.NDArray[np.int64]  # number of groups with each feature
    patient_scores: Floats
    distances: Floats  # (files, shipped prototypes + files)
    n_shipped: int
    log_odds: Floats  # of PHI, before any correction
    knn: OneClassKnn
    k: int
    penalty: float = PENALTIES[1]
    bases: dict[bytes, Floats] = field(default_factory=dict)

    def base(self, references: Flags) -> Floats:
        """Return each file's uncorrected score with the PHI files in ``references`` as added prototypes."""
        key = references.tobytes()
        if key not in self.bases:
            added = np.flatnonzero(references & self.is_phi)
            # A file is no prototype for itself or for its near-duplicates, as in leave-one-out.
            extra = np.where(
                self.groups[:, None] == self.groups[added][None, :],
                np.inf,
                self.distances[:, self.n_shipped + added],
            )
            all_distances = np.hstack([self.distances[:, : self.n_shipped], extra])
            kth = np.partition(all_distances, self.k - 1, axis=1)[:, self.k - 1]
            self.bases[key] = np.minimum(self.knn.score(kth), self.patient_scores)
        return self.bases[key]


def folds(data: TrainingData, among: Flags, seed: int) -> list[Flags]:
    """Return the cross-validation folds as masks: near-duplicates together, both verdicts spread evenly."""
    draw = np.random.default_rng(seed)
    number = np.full(len(among), -1)
    for verdict in (True, False):
        groups = np.unique(data.groups[among & (data.is_phi == verdict)])
        groups = groups[~np.isin(groups, data.groups[number >= 0])]
        for index, group in enumerate(draw.permutation(groups)):
            number[among & (data.groups == group)] = index % N_FOLDS
    return [number == fold for fold in range(N_FOLDS) if (number == fold).any()]


def fit(data: TrainingData, fitted: Flags, references: Flags, penalty: float | None = None) -> Floats:
    """Return slope, intercept and weights fitted on the files ``fitted``; ridge towards the shipped score.

    ``references``: the files whose PHI files serve as prototypes.
    """
    penalty = data.penalty if penalty is None else penalty
    base = np.array([log_odds(score) for score in data.base(references)[fitted]])
    rows = np.column_stack([base, np.ones(len(base)), data.features[fitted]])
    start = np.zeros(rows.shape[1])
    start[0] = 1.0
    strength = np.full(rows.shape[1], penalty)
    strength[0], strength[1] = SLOPE_PENALTY, 0.01

    return fit_ridge(rows, data.is_phi[fitted], start, strength)


def logits_of(data: TrainingData, weights: Floats, of: Flags, references: Flags) -> Floats:
    """Return the corrected log-odds of files, before any threshold."""
    base = np.array([log_odds(score) for score in data.base(references)[of]])
    return np.asarray(weights[0] * base + weights[1] + data.features[of] @ weights[2:])


def out_of_fold(data: TrainingData, among: Flags, seed: int, penalty: float | None = None) -> Floats:
    """Return each file's log-odds by models trained without it and its near-duplicates."""
    logits = np.full(len(among), np.nan)
    for fold in folds(data, among, seed):
        others = among & ~fold
        weights = fit(data, others, others, penalty)
        logits[fold] = logits_of(data, weights, fold, others)
    return logits


def loss_of(data: TrainingData, penalty: float) -> float:
    """Return the log loss on held-out files with this penalty."""
    all_files = np.ones(len(data.is_phi), dtype=np.bool_)
    margins = np.where(data.is_phi, 1.0, -1.0) * out_of_fold(data, all_files, SEED, penalty)
    return float(np.logaddexp(0.0, -margins).sum())


def shift_of(data: TrainingData, among: Flags) -> float:
    """Return the log-odds of the new threshold: 0, or lower where 0 would miss known PHI files."""
    logits = np.sort(out_of_fold(data, among, SEED + 1)[among & data.is_phi])
    allowed = math.floor(MAY_LOSE * len(logits))
    return min(0.0, float(logits[allowed]) - MARGIN)


def hold_out(data: TrainingData, *, corrected: bool) -> Floats:
    """Return each file's held-out score, by models and thresholds trained without it and its duplicates."""
    all_files = np.ones(len(data.is_phi), dtype=np.bool_)
    scores = np.zeros(len(all_files))
    for fold in folds(data, all_files, SEED + 2):
        others = all_files & ~fold
        if not corrected:
            scores[fold] = data.base(others)[fold]
            continue
        weights = fit(data, others, others)
        logits = logits_of(data, weights, fold, others) - shift_of(data, others)
        scores[fold] = 1.0 / (1.0 + np.exp(-np.clip(logits, -30.0, 30.0)))
    return scores
