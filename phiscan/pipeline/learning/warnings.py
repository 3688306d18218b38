"""Reviewed decisions to warnings: too few, one side of the threshold only, another share, whom to doubt.

Each warning says what to do. A verdict is doubted when the files like it, decided by others, have the
opposite one; a reviewer when many of their verdicts are, or when they rank against P(PHI).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from phiscan.decision.decided_examples import RADIUS, LearnedDecision, point_of
from phiscan.pipeline.learning.effect import Share
from phiscan.review.decisions.model_versions import ReviewedFile

FEW: Final = 50
SURE: Final = 0.01  # p-value from which a difference is reported
MIN_NEAR: Final = 2  # files like it that contradict a doubted verdict, and none that agrees
MIN_OF_EACH: Final = 5  # verdicts of a reviewer, to compare their order with P(PHI)
N_NAMED: Final = 10

Floats = npt.NDArray[np.float64]


def warnings_of(
    files: Sequence[ReviewedFile], learned: LearnedDecision, log_odds: Floats, share: Share
) -> list[dict[str, Any]]:
    """Return the warnings about these decisions, for the share of the last scan."""
    found = []
    if len(files) < FEW:
        message = (
            f"{len(files)} decided files, fewer than {FEW}: decide more referred files, then learn again"
        )
        found.append({"kind": "few", "message": message})
    if not share.random_reviewed() and not (log_odds < learned.threshold).any():
        message = (
            "only referred files are reviewed, so nothing is known of the others:"
            " draw a random sample (`phiscan queue draw`) and decide it"
        )
        found.append({"kind": "one_side", "message": message})
    distances = _distances(files, learned)
    if message := _shift(learned, share, distances):
        found.append({"kind": "shift", "message": message})
    return found + _doubts(files, distances, log_odds)


def _distances(files: Sequence[ReviewedFile], learned: LearnedDecision) -> Floats:
    """Return the distances between decided files; a file has none to itself."""
    found = np.array([learned.examples.distances(point_of(item.evidence)) for item in files])
    np.fill_diagonal(found, np.inf)
    return found


def _shift(learned: LearnedDecision, share: Share, distances: Floats) -> str:
    """Compare unreviewed referred files with decided ones: how many have a decided file near?"""
    points = [point_of(file.evidence) for file in share.files if file.is_referred and file.verdict is None]
    above = learned.examples.is_above
    if not points or not above.any():
        return ""
    near_new = [bool((learned.examples.distances(point)[above] <= RADIUS).any()) for point in points if point]
    near_old = (distances[above][:, above] <= RADIUS).any(axis=1)
    table = [[near_new.count(True), near_new.count(False)], [int(near_old.sum()), int((~near_old).sum())]]
    if stats.fisher_exact(table, alternative="less")[1] >= SURE:
        return ""
    return (
        f"{near_new.count(False)} of {len(near_new)} unreviewed referred files are like no decided file:"
        " the version hardly acts on this share; decide some of its referred files, then learn again"
    )


def _doubts(files: Sequence[ReviewedFile], distances: Floats, log_odds: Floats) -> list[dict[str, Any]]:
    """Return warnings that name the doubted verdicts and reviewers."""
    is_phi = np.array([item.is_phi for item in files], dtype=np.bool_)
    reviewers = np.array([item.reviewer for item in files])
    near = distances <= RADIUS
    if len(set(reviewers.tolist())) > 1:
        near &= reviewers[:, None] != reviewers[None, :]
    opposite = is_phi[:, None] != is_phi[None, :]
    doubted = ((near & opposite).sum(axis=1) >= MIN_NEAR) & ~(near & ~opposite).any(axis=1)
    found = []
    if doubted.any():
        numbers = [str(files[index].file_id) for index in np.flatnonzero(doubted).tolist()]
        message = (
            f"{len(numbers)} verdicts are opposite to those on all files like theirs:"
            f" look again at {', '.join(numbers[:N_NAMED])}{' and others' * (len(numbers) > N_NAMED)}"
        )
        found.append({"kind": "doubt", "message": message, "files": list(map(int, numbers))})
    for reviewer, n_verdicts in sorted(Counter(reviewers.tolist()).items()):
        own = reviewers == reviewer
        n_doubted = int((doubted & own).sum())
        others = [int((doubted & ~own).sum()), int((~doubted & ~own).sum())]
        is_odd = bool(others[0] + others[1]) and (
            stats.fisher_exact([[n_doubted, n_verdicts - n_doubted], others], alternative="greater")[1] < SURE
        )
        if is_odd or _ranks_against(log_odds[own], is_phi[own]):
            message = (
                f"the verdicts of {reviewer} contradict P(PHI) or those of others on files alike"
                f" ({n_doubted} of {n_verdicts}): have somebody else decide ten of them before activating"
            )
            found.append({"kind": "doubted_reviewer", "message": message})
    return found


def _ranks_against(log_odds: Floats, is_phi: npt.NDArray[np.bool_]) -> bool:
    """Tell whether files called not_phi have higher log-odds than those called phi, beyond chance."""
    if min(int(is_phi.sum()), int((~is_phi).sum())) < MIN_OF_EACH:
        return False
    test = stats.mannwhitneyu(log_odds[is_phi], log_odds[~is_phi], alternative="less")
    return bool(test.pvalue < SURE)
