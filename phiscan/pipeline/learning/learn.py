"""A new version from reviewed decisions and the stored evidence of the last scan; nothing is read again.

A version holds decided examples and a line for P(PHI), and the prototypes of both equations. It is applied to
the stored evidence of every file of the last scan before anybody can use it, and says what speaks against it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import stats

from phiscan.config import Config
from phiscan.decision.calibration import fit_line, inverse_probabilities
from phiscan.decision.decided_examples import (
    CONTRIBUTIONS,
    LOG_ODDS,
    SCALE,
    DecidedExamples,
    LearnedDecision,
    point_of,
)
from phiscan.decision.learned_versions import MODEL_NAME, base_of, extended, file_hash, model_bytes
from phiscan.decision.model import threshold_of
from phiscan.errors import InputError
from phiscan.health.classifier import Classifier, build_classifier
from phiscan.health.patient_classifier import log_odds_of
from phiscan.pipeline.learning.effect import Share, effect_of
from phiscan.review.decisions.learning import (
    ReviewedFile,
    add_version,
    reviewed_files,
    scanned_files,
    versions,
)
from phiscan.review.store import Store

FEW: Final = 50
SURE: Final = 0.01  # p-value from which a difference is reported
MIN_NEAR: Final = 2  # files like it that contradict a doubted verdict, and none that agrees
MIN_OF_EACH: Final = 5  # verdicts of a reviewer, to compare their order with P(PHI)
N_NAMED: Final = 10


def warnings_of(
    files: Sequence[ReviewedFile], learned: LearnedDecision, log_odds: Floats, share: Share
) -> list[dict[str, Any]]:
    """Return the warnings about these decisions, for the share of the last scan."""
    distances = np.array([learned.examples.distances(point_of(item.evidence)) for item in files])
    np.fill_diagonal(distances, np.inf)  # a file has none to itself
    messages = {
        "few": f"{len(files)} decided files, fewer than {FEW}: decide more referred files, then learn again"
        if len(files) < FEW
        else "",
        "one_side": "only referred files are reviewed, so nothing is known of the others:"
        " draw a random sample (`phiscan queue draw`) and decide it"
        if not share.random_reviewed() and not (log_odds < learned.threshold).any()
        else "",
        "shift": _shift(learned, share, distances),
    }
    found = [{"kind": kind, "message": message} for kind, message in messages.items() if message]
    return [*found, *_doubts(files, distances, log_odds)]


def _shift(learned: LearnedDecision, share: Share, distances: Floats) -> str:
    """Compare unreviewed referred files with decided ones: how many have a decided file near?"""
    points = [point_of(file.evidence) for file in share.files if file.is_referred and file.verdict is None]
    above = learned.examples.is_above
    if not points or not above.any():
        return ""
    most = CONTRIBUTIONS.radius
    near_new = [bool((learned.examples.distances(point)[above] <= most).any()) for point in points if point]
    near_old = (distances[above][:, above] <= most).any(axis=1)
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
    near = distances <= CONTRIBUTIONS.radius
    if len(set(reviewers.tolist())) > 1:
        near &= reviewers[:, None] != reviewers[None, :]
    opposite = is_phi[:, None] != is_phi[None, :]
    doubted = ((near & opposite).sum(axis=1) >= MIN_NEAR) & ~(near & ~opposite).any(axis=1)
    found: list[dict[str, Any]] = []
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


SAME: Final = 0.97  # cosine from which two windows count as near-duplicates
MAX_PROTOTYPES: Final = 500  # learned ones, so that search time does not grow with the number of reviews

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Decided:
    """The decided files that can be learned from, as lists in the order of the decisions."""

    files: tuple[ReviewedFile, ...]
    points: tuple[dict[str, float], ...]
    log_odds: Floats
    is_phi: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, files: Sequence[ReviewedFile]) -> Decided:
        """Return those whose evidence was stored by a version with points."""
        kept = tuple(item for item in files if point_of(item.evidence))
        return cls(
            kept,
            tuple(point_of(item.evidence) for item in kept),
            np.array([item.evidence[LOG_ODDS] / SCALE for item in kept]),
            np.array([item.is_phi for item in kept], dtype=np.bool_),
        )


def learn_version(config: Config, store: Store, *, by: str, now: datetime) -> tuple[int, dict[str, Any]]:
    """Learn from all decisions that stand, write and register the version; returns its number and summary.

    Raises:
        InputError: nobody has decided a file yet that can be learned from.
        StoreError: the store cannot be read or written.
    """
    decided = Decided.of(list(reviewed_files(store.database)))
    if not decided.files:
        message = (
            "nothing to learn from: no verdict of phi or not_phi stands on a file that this phiscan has"
            " examined; `phiscan scan ROOT --full` examines again what was decided before"
        )
        raise InputError(message)
    draw, sample = store.desk.last_draw(), store.desk.sample_weights()
    share = Share.of(scanned_files(store.database), random=sample, drawn=draw.drawn if draw else None)
    limit = log_odds_of(threshold_of(config.missed_file_cost))
    learned = learn(decided, share, limit)
    classifier = build_classifier(config)
    health, pii = _health_prototypes(decided.files, classifier), _pii_prototypes(decided.files)
    effect = effect_of(learned, share, is_knn_alone=config.health.detector == "knn")
    n_phi = int(decided.is_phi.sum())
    summary = {
        "base": base_of(classifier),
        "reviewed": {
            "files": len(decided.files),
            "phi": n_phi,
            "not_phi": len(decided.files) - n_phi,
            "above": int((decided.log_odds >= limit).sum()),
            "random_sample": len(share.random_reviewed()),
        },
        "line": asdict(learned.line),
        "prototypes": {"health": len(health), "pii": len(pii)},
        **effect,
        "warnings": warnings_of(decided.files, learned, decided.log_odds, share),
    }
    model = {"base": base_of(classifier), "prototypes": health, "pii": pii, "decision": learned.to_json()}
    number = 1 + max((known.number for known in versions(store.database)), default=0)
    written = _write(config.home / "models" / str(number), model)
    add_version(store.database, number=number, files=written, summary=summary, by=by, now=now)
    return number, summary


def learn(decided: Decided, share: Share, limit: float) -> LearnedDecision:
    """Return what decided files change of P(PHI); ``limit``: log-odds of referral."""
    is_above = (decided.log_odds >= limit).tolist()
    examples = DecidedExamples.of(decided.points, decided.is_phi.tolist(), is_above)
    plain = LearnedDecision(limit, examples)
    # The line is fitted to what the examples say of each decided file without itself.
    fitted = np.array(
        [
            plain.corrected(log_odds, point, without=examples.copies_of(point))
            for log_odds, point in zip(decided.log_odds.tolist(), decided.points, strict=True)
        ]
    )
    weights = _weights(decided, share, limit)
    return LearnedDecision(limit, examples, fit_line(fitted, decided.is_phi, weights, limit))


def _weights(decided: Decided, share: Share, limit: float) -> Floats:
    """Return files per reviewed file; 1 above the threshold for files that are gone, 0 below it.

    Below the threshold only files of a random sample count: the others were reviewed for what they look like.
    """
    at = {file.file_id: index for index, file in enumerate(share.files)}
    random = share.random_reviewed()
    is_reviewed = np.array(
        [
            file.verdict is not None and (log_odds >= limit or file.file_id in random)
            for file, log_odds in zip(share.files, share.log_odds, strict=True)
        ],
        dtype=np.bool_,
    )
    known = inverse_probabilities(share.strata, share.log_odds, is_reviewed)
    gone = (decided.log_odds >= limit).astype(float)
    found = [known[at[item.file_id]] if item.file_id in at else 0.0 for item in decided.files]
    return np.where(np.array(found) > 0, found, gone)


def _health_prototypes(files: Sequence[ReviewedFile], classifier: Classifier) -> list[dict[str, Any]]:
    """Return the windows of confirmed files, one of each group of near-duplicates."""
    phi = [item for item in files if item.is_phi and item.counts]
    if not phi:
        return []
    rows = extended(classifier.tfidf, [item.counts for item in phi]).transform([item.counts for item in phi])
    products = np.asarray((rows @ rows.T).todense())
    lengths = np.sqrt(np.maximum(np.diag(products), 1e-12))
    cosines = products / lengths[:, None] / lengths[None, :]
    first = [index for index in range(len(phi)) if not (cosines[index, :index] >= SAME).any()]
    return [
        {"name": f"reviewed/{phi[index].file_id}", "counts": dict(sorted(phi[index].counts.items()))}
        for index in first[-MAX_PROTOTYPES:]
    ]


def _pii_prototypes(files: Sequence[ReviewedFile]) -> list[dict[str, Any]]:
    """Return each different PII vector of confirmed files once: the prototypes of equation 5."""
    found: dict[int, str] = {}
    for item in files:
        if item.is_phi and item.vector.bits:
            found.setdefault(item.vector.to_int(), f"reviewed/{item.file_id}")
    return [{"name": name, "vector": vector} for vector, name in found.items()]


def _write(folder: Path, model: Mapping[str, Any]) -> dict[str, str]:
    """Write the file of a version, readable by the owner only; return its hash."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    path = folder / MODEL_NAME
    path.unlink(missing_ok=True)  # left behind by a run that did not get as far as the database
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600), "wb") as stream:
        stream.write(model_bytes(model))
    return {MODEL_NAME: file_hash(path)}
