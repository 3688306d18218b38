"""Learn from reviewed files: new prototypes, a correction of the score, and the held-out predictions of both.

The input is counts of dictionary ids. A held-out prediction is made by a model that was trained without the
file and its near-duplicates.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.health.classifier import Classifier
from phiscan.health.correction_fit import (
    MAY_LOSE,
    PENALTIES,
    SEED,
    Flags,
    Floats,
    TrainingData,
    fit,
    hold_out,
    loss_of,
    shift_of,
)
from phiscan.health.features import Window
from phiscan.health.knn import ConceptTfidf, block_of
from phiscan.health.review_correction import Adjustment, adjustment_features, log_odds
from phiscan.model import WindowBag

LOG_ODDS: Final = "log-odds of PHI"  # key of the stored value, before the reviewers' correction
LOG_ODDS_SCALE: Final = 1000
PATIENT_SCALE: Final = 1_000_000  # of the stored patient score
MIN_OF_EACH: Final = 10  # reviewed files of each verdict needed to fit a correction
MIN_FILES: Final = 5  # a feature gets a weight only if that many different files have it
SAME: Final = 0.97  # cosine from which two windows count as near-duplicates
MAX_PROTOTYPES: Final = 500  # learned ones, so that search time does not grow with the number of reviews


def stored_patient_score(window: WindowBag | None, classifier: Classifier) -> tuple[tuple[str, int], ...]:
    """Return the patient score of a window as a stored key and value; its words are not stored.

    It is stored with the evidence of the decision table; the key holds the version of the model.
    """
    if window is None:
        return ()
    return ((_patient_score_key(classifier), math.floor(PATIENT_SCALE * window.patient_score)),)


def patient_score_of(window: Window, stored: Mapping[str, int], classifier: Classifier) -> float:
    """Return the stored patient score of a window, or the cue model's if another version stored it."""
    score = stored.get(_patient_score_key(classifier))
    return classifier.cue_model.score(window) if score is None else score / PATIENT_SCALE


def _patient_score_key(classifier: Classifier) -> str:
    return f"told by {classifier.patient_model.version}"  # "told" is part of the stored format


@dataclass(frozen=True, slots=True)
class Example:
    """One reviewed file: the bag of its deciding window, its log-odds of PHI, and the verdict."""

    name: str
    counts: Mapping[str, int]
    n_chars: int
    is_phi: bool
    patient_score: float  # of the window, before any correction
    log_odds: float = 0.0  # of PHI, before any correction

    @property
    def window(self) -> Window:
        """The bag as a window."""
        return Window(0, self.n_chars, dict(self.counts))


@dataclass(frozen=True, slots=True)
class Learned:
    """The result: new prototypes, thresholds for every k, the correction, and the held-out predictions.

    ``before`` and ``after`` hold for each example whether it would be referred: by the shipped model, and by
    a model learned from the other examples. ``scores`` are the held-out scores of the latter.
    """

    prototypes: tuple[tuple[str, dict[str, int]], ...]
    thresholds: dict[str, tuple[float, float]]
    adjustment: Adjustment | None
    reason: str  # why there is no correction; "" when there is one
    before: Flags
    after: Flags
    scores: Floats
    p_phi: Floats  # held-out probabilities of PHI after learning
    groups: npt.NDArray[np.int64]


def learn(examples: Sequence[Example], classifier: Classifier, threshold: float) -> Learned:
    """Return what is learned from reviewed files, starting from the shipped ``classifier``.

    Prototypes and their leave-one-out thresholds need PHI files only. The correction needs files of both
    verdicts; it is returned only if, on held-out files, it refers fewer non-PHI files and loses no more PHI
    than ``MAY_LOSE`` allows. ``threshold`` is the probability of PHI from which a file is referred.

    Raises:
        ValueError: there is no example.
    """
    if not examples:
        message = "examples: expected at least one"
        raise ValueError(message)
    limit = math.log(threshold / (1.0 - threshold))
    data, tfidf = _prepare(examples, classifier)
    prototypes = _prototypes(examples, data)
    thresholds = _thresholds(prototypes, tfidf, classifier)
    no_files = np.zeros(len(examples), dtype=np.bool_)
    before = _referred(data, data.base(no_files), limit)
    n_phi, n_other = int(data.is_phi.sum()), int((~data.is_phi).sum())
    if n_phi < MIN_OF_EACH or n_other < MIN_OF_EACH:
        scores = hold_out(data, corrected=False)
        reason = (
            f"a correction needs {MIN_OF_EACH} reviewed files of each verdict;"
            f" there are {n_phi} phi and {n_other} not_phi"
        )
        return _learned(prototypes, thresholds, None, reason, before, scores, data=data, limit=limit)
    data.penalty = min(PENALTIES, key=lambda penalty: loss_of(data, penalty))
    scores = hold_out(data, corrected=True)
    after = _referred(data, scores, limit)
    lost = int((before & ~after & data.is_phi).sum()) - int((after & ~before & data.is_phi).sum())
    spared = int((before & ~data.is_phi).sum()) - int((after & ~data.is_phi).sum())
    if spared <= 0 or lost > max(1, math.ceil(2 * MAY_LOSE * n_phi)):
        reason = (
            f"on held-out files a correction would spare {spared} false referrals and lose {lost} PHI files"
        )
        scores = hold_out(data, corrected=False)
        return _learned(prototypes, thresholds, None, reason, before, scores, data=data, limit=limit)
    all_files = ~no_files
    weights, shift = fit(data, all_files, all_files), shift_of(data, all_files)
    adjustment = Adjustment(
        slope=round(float(weights[0]), 5),
        intercept=round(float(weights[1]) - shift, 5),
        weights={
            name: round(float(weight), 5)
            for name, weight in zip(data.names, weights[2:], strict=True)
            if round(float(weight), 5)
        },
    )
    return _learned(prototypes, thresholds, adjustment, "", before, scores, data=data, limit=limit)


def _prepare(examples: Sequence[Example], classifier: Classifier) -> tuple[TrainingData, ConceptTfidf]:
    tfidf = extended(classifier.tfidf, [example.counts for example in examples if example.is_phi])
    rows = tfidf.transform([example.counts for example in examples])
    shipped = tfidf.transform(classifier.bags)
    every = np.asarray((rows @ rows.T).todense())
    lengths = np.sqrt(np.maximum(np.diag(every), 1e-12))
    groups = near_duplicates(every / lengths[:, None] / lengths[None, :])
    both = np.hstack([np.asarray((rows @ shipped.T).todense()), every])
    squared = np.concatenate([np.asarray(shipped.multiply(shipped).sum(axis=1)).ravel(), np.diag(every)])
    distances = np.sqrt(np.maximum(np.diag(every)[:, None] + squared[None, :] - 2 * both, 0.0))
    described = [adjustment_features(example.window) for example in examples]
    names = sorted({name for one in described for name in one})
    features = np.array([[one.get(name, 0.0) for name in names] for one in described])
    n_files = np.array([len(set(groups[features[:, j] != 0].tolist())) for j in range(len(names))])
    frequent = n_files >= MIN_FILES
    return TrainingData(
        is_phi=np.array([example.is_phi for example in examples]),
        groups=groups,
        features=features[:, frequent],
        names=[name for name, keep in zip(names, frequent, strict=True) if keep],
        n_files=n_files[frequent],
        patient_scores=np.array([example.patient_score for example in examples]),
        distances=distances,
        n_shipped=len(classifier.bags),
        log_odds=np.array([example.log_odds for example in examples]),
        knn=classifier.knn,
        k=classifier.knn.k,
    ), tfidf


def extended(tfidf: ConceptTfidf, bags: Sequence[Mapping[str, int]]) -> ConceptTfidf:
    """Return ``tfidf`` with a column for every concept of ``bags``; new ones get the idf of unseen ones."""
    new = sorted({name for bag in bags for name in bag} - set(tfidf.vocabulary_))
    wider = ConceptTfidf(weights=tfidf.weights)
    wider.vocabulary_ = {**tfidf.vocabulary_, **{n: len(tfidf.vocabulary_) + i for i, n in enumerate(new)}}
    idf = [tfidf.unseen_ if block_of(name) == "concept" else 1.0 for name in new]
    wider.idf_ = np.concatenate([tfidf.idf_, idf])
    wider.unseen_ = tfidf.unseen_
    return wider


def near_duplicates(cosines: Floats) -> npt.NDArray[np.int64]:
    """Return a group number per file: that of the first earlier file with cosine similarity >= ``SAME``."""
    groups = np.arange(len(cosines))
    for index in range(1, len(cosines)):
        same = np.flatnonzero(cosines[index, :index] >= SAME)
        if len(same):
            groups[index] = groups[same[0]]
    return groups


def _prototypes(examples: Sequence[Example], data: TrainingData) -> tuple[tuple[str, dict[str, int]], ...]:
    """Return one prototype per group of near-duplicates, so that copies have no weight."""
    first = [
        index
        for index, example in enumerate(examples)
        if example.is_phi and not (data.is_phi[:index] & (data.groups[:index] == data.groups[index])).any()
    ]
    if len(first) > MAX_PROTOTYPES:
        draw = np.random.default_rng(SEED)
        first = sorted(draw.choice(first, MAX_PROTOTYPES, replace=False).tolist())
    return tuple((examples[index].name, dict(sorted(examples[index].counts.items()))) for index in first)


def _thresholds(
    prototypes: Sequence[tuple[str, dict[str, int]]], tfidf: ConceptTfidf, classifier: Classifier
) -> dict[str, tuple[float, float]]:
    """Return new leave-one-out thresholds for every k; never stricter, so that no known PHI file is lost."""
    rows = tfidf.transform([*classifier.bags, *(counts for _, counts in prototypes)])
    products = np.asarray((rows @ rows.T).todense())
    lengths = np.diag(products)
    distances = np.sqrt(np.maximum(lengths[:, None] + lengths[None, :] - 2 * products, 0.0))
    np.fill_diagonal(distances, np.inf)
    found = {}
    for name, (threshold, scale) in classifier.thresholds.items():
        left_out = np.partition(distances, int(name) - 1, axis=1)[:, int(name) - 1]
        wider = max(threshold, float(np.quantile(left_out, classifier.knn.quantile)))
        found[name] = (round(wider, 5), round(scale, 5))
    return found


def _log_odds(data: TrainingData, scores: Floats) -> Floats:
    """Return each file's log-odds of PHI, shifted by the change of its health score's log-odds."""
    shipped = data.base(np.zeros(len(data.is_phi), dtype=np.bool_))
    moved = np.array([log_odds(one) for one in scores]) - np.array([log_odds(one) for one in shipped])
    return np.asarray(data.log_odds + moved)


def _referred(data: TrainingData, scores: Floats, limit: float) -> Flags:
    """Return which files are referred with these health scores."""
    return np.asarray(_log_odds(data, scores) >= limit)


def _learned(  # noqa: PLR0917 (the fields of what is learned, in their order)
    prototypes: tuple[tuple[str, dict[str, int]], ...],
    thresholds: dict[str, tuple[float, float]],
    adjustment: Adjustment | None,
    reason: str,
    before: Flags,
    scores: Floats,
    *,
    data: TrainingData,
    limit: float,
) -> Learned:
    """Return the result with the held-out referrals and probabilities for these health scores."""
    p_phi = 1.0 / (1.0 + np.exp(-np.clip(_log_odds(data, scores), -30.0, 30.0)))
    after = _referred(data, scores, limit)
    return Learned(prototypes, thresholds, adjustment, reason, before, after, scores, p_phi, data.groups)


def model_of(learned: Learned, *, base: str) -> dict[str, Any]:
    """Return the learned model in the form of a model file; ``base``: the shipped version it extends."""
    adjustment = learned.adjustment
    return {
        "base": base,
        "prototypes": [{"name": name, "counts": counts} for name, counts in learned.prototypes],
        "thresholds": learned.thresholds,
        "adjustment": None
        if adjustment is None
        else {
            "slope": adjustment.slope,
            "intercept": adjustment.intercept,
            "weights": dict(adjustment.weights),
        },
    }
