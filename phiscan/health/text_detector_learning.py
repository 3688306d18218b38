"""Fine-tune detector C on reviewed files: regularized towards the shipped weights, on hashed features only.

A bucket's weight changes only if at least ``MIN_FILES`` different files have it, so that no weight reveals
the text of a single file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.health.text_detector import N_BUCKETS, TextModel

N_FOLDS: Final = 5
MIN_OF_EACH: Final = 10
MIN_FILES: Final = 5
PENALTY: Final = 0.3
SEED: Final = 2008

Flags = npt.NDArray[np.bool_]
Piece = tuple[npt.NDArray[np.int64], npt.NDArray[np.float32]]  # buckets and values, of length 1


@dataclass(frozen=True, slots=True)
class LearnedText:
    """The new model (None if there were too few files) and the verdicts on held-out files."""

    model: TextModel | None
    reason: str
    before: Flags
    after: Flags


def learn_text(
    files: Sequence[Sequence[Piece]], is_phi: Flags, groups: npt.NDArray[np.int64], shipped: TextModel
) -> LearnedText:
    """Return the model fitted to the highest-scoring pieces of each file, of a PHI file only the first.

    Args:
        files: the stored pieces of each file, highest score first.
        is_phi: the verdicts.
        groups: near-duplicates have the same number.
        shipped: the initial weights.
    """
    before = np.array([_best(pieces, shipped) >= shipped.threshold for pieces in files], dtype=np.bool_)
    n_phi, n_other = int(is_phi.sum()), int((~is_phi).sum())
    if min(n_phi, n_other) < MIN_OF_EACH:
        reason = (
            f"needs {MIN_OF_EACH} readable reviewed files of each verdict; there are {n_phi} phi and"
            f" {n_other} not_phi"
        )
        return LearnedText(None, reason, before, before)
    after = before.copy()
    draw = np.random.default_rng(SEED)
    number = draw.integers(0, N_FOLDS, int(groups.max()) + 1)[groups]
    for fold in range(N_FOLDS):
        held_out = number == fold
        if not held_out.any() or min(is_phi[~held_out].sum(), (~is_phi[~held_out]).sum()) < 1:
            continue
        model = _fit(files, is_phi, groups, shipped, ~held_out)
        after[held_out] = [
            _best(files[index], model) >= model.threshold for index in np.flatnonzero(held_out).tolist()
        ]
    all_files = np.ones(len(files), dtype=np.bool_)
    return LearnedText(_fit(files, is_phi, groups, shipped, all_files), "", before, after)


def save_text(model: TextModel, path: Any) -> None:
    """Write the weights in half precision; no pickle."""
    np.savez_compressed(
        path,
        weights=model.weights.astype(np.float16),
        constants=np.array([model.intercept, model.threshold]),
    )


def _best(pieces: Sequence[Piece], model: TextModel) -> float:
    return max(
        (float(model.weights[buckets] @ values) + model.intercept for buckets, values in pieces),
        default=-np.inf,
    )


def _fit(
    files: Sequence[Sequence[Piece]],
    is_phi: Flags,
    groups: npt.NDArray[np.int64],
    shipped: TextModel,
    among: Flags,
) -> TextModel:
    from scipy.optimize import minimize  # noqa: PLC0415 (half a second to import; only to learn)
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    rows = [
        (index, piece)
        for index in np.flatnonzero(among).tolist()
        for piece in (files[index][:1] if is_phi[index] else files[index])
    ]
    ends = np.cumsum([0, *(len(buckets) for _, (buckets, _) in rows)])
    columns = np.concatenate([buckets for _, (buckets, _) in rows])
    values = np.concatenate([values for _, (_, values) in rows]).astype(np.float64)
    matrix = csr_matrix((values, columns, ends), shape=(len(rows), N_BUCKETS))
    owner = np.array([groups[index] for index, _ in rows])
    held = np.zeros(N_BUCKETS, dtype=np.int64)
    for group in np.unique(owner).tolist():
        held[np.unique(matrix[owner == group].indices)] += 1
    frequent = np.flatnonzero(held >= MIN_FILES)
    narrow = matrix[:, frequent]
    offset = matrix @ shipped.weights.astype(np.float64) + shipped.intercept - shipped.threshold
    verdicts = np.array([is_phi[index] for index, _ in rows])
    signs = np.where(verdicts, 1.0, -1.0)
    share = np.where(verdicts, 0.5 / verdicts.sum(), 0.5 / (~verdicts).sum()) * len(rows)

    def loss(step: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        margins = signs * (offset + narrow @ step[1:] + step[0])
        slope = -signs * share * np.exp(-np.logaddexp(0.0, margins))
        value = (share * np.logaddexp(0.0, -margins)).sum() + 0.5 * PENALTY * (step[1:] @ step[1:])
        return float(value), np.concatenate([[slope.sum()], narrow.T @ slope + PENALTY * step[1:]])

    step = minimize(loss, np.zeros(len(frequent) + 1), jac=True, method="L-BFGS-B", options={"maxiter": 60}).x
    weights = shipped.weights.copy()
    weights[frequent] += step[1:].astype(np.float32)
    return TextModel(weights, shipped.intercept + float(step[0]), shipped.threshold)
