"""Learn from reviewed files: new prototypes, a correction of the score, and how both do on held-out files.

Everything here works on counts of ids of our own dictionaries. Held-out means: predicted by a model that saw
neither the file nor any near-duplicate of it.
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
    Material,
    fit,
    hold_out,
    loss_of,
    shift_of,
)
from phiscan.health.features import Window
from phiscan.health.knn import ConceptTfidf, block_of
from phiscan.health.review_correction import Adjustment, adjustment_features, log_odds
from phiscan.model import WindowBag

LOG_ODDS: Final = "log-odds of PHI"  # under which they are kept, before what reviewers taught
LOG_ODDS_SCALE: Final = 1000
PATIENT_SCALE: Final = 1_000_000  # of what is kept of how likely a window tells of a patient
MIN_OF_EACH: Final = 10  # reviewed PHI files and others: fewer teach no correction
MIN_FILES: Final = 5  # a feature gets a weight of its own only if that many different files hold it
SAME: Final = 0.97  # cosine from which two windows count as near-duplicates
MAX_PROTOTYPES: Final = 500  # learned ones, so that search time does not grow with the reviews


def stored_patient_score(window: WindowBag | None, classifier: Classifier) -> tuple[tuple[str, int], ...]:
    """Return what is stored of how likely a window tells of a patient, since its words are not kept.

    It is beside the evidence of the decision table, under the version of the model that says it.
    """
    return (
        () if window is None else ((_patient_score_key(classifier), math.floor(PATIENT_SCALE * window.told)),)
    )


def patient_score_of(window: Window, kept: Mapping[str, int], classifier: Classifier) -> float:
    """Return how likely a stored window tells of a patient; by its cues if another version read its words."""
    told = kept.get(_patient_score_key(classifier))
    return classifier.person.score(window) if told is None else told / PATIENT_SCALE


def _patient_score_key(classifier: Classifier) -> str:
    return f"told by {classifier.told.version}"


@dataclass(frozen=True, slots=True)
class Example:
    """One reviewed file: the bag of its deciding window, its log-odds of PHI, and the verdict."""

    name: str
    counts: Mapping[str, int]
    n_chars: int
    is_phi: bool
    told: float  # how likely the window tells of a patient, before any correction
    log_odds: float = 0.0  # of PHI, before any correction

    @property
    def window(self) -> Window:
        """The bag as a window."""
        return Window(0, self.n_chars, dict(self.counts))


@dataclass(frozen=True, slots=True)
class Learned:
    """What came out: new prototypes, thresholds for every k, the correction, and the held-out predictions.

    ``before`` and ``after`` tell for each example whether it would be referred: by the shipped model, and by
    a model that learned from the others. ``scores`` are the held-out scores after ``after``.
    """

    prototypes: tuple[tuple[str, dict[str, int]], ...]
    thresholds: dict[str, tuple[float, float]]
    adjustment: Adjustment | None
    reason: str  # why there is no correction; "" when there is one
    before: Flags
    after: Flags
    scores: Floats
    p_phi: Floats  # held-out probabilities of PHI after ``after``
    groups: npt.NDArray[np.int64]


def learn(examples: Sequence[Example], classifier: Classifier, threshold: float) -> Learned:
    """Learn from reviewed files, starting from the shipped ``classifier``.

    Prototypes and their leave-one-out thresholds need PHI files only. The correction needs files of both
    verdicts; it is given only if, on held-out files, it refers fewer of the others and loses no more PHI than
    ``MAY_LOSE`` allows. ``threshold`` is the probability of PHI from which a file is referred.

    Raises:
        ValueError: there is no example.
    """
    if not examples:
        message = "examples: expected at least one"
        raise ValueError(message)
    limit = math.log(threshold / (1.0 - threshold))
    material, tfidf = _prepare(examples, classifier)
    prototypes = _prototypes(examples, material)
    thresholds = _thresholds(prototypes, tfidf, classifier)
    nobody = np.zeros(len(examples), dtype=np.bool_)
    before = _referred(material, material.base(nobody), limit)
    n_phi, n_other = int(material.is_phi.sum()), int((~material.is_phi).sum())
    if n_phi < MIN_OF_EACH or n_other < MIN_OF_EACH:
        scores = hold_out(material, corrected=False)
        reason = (
            f"a correction needs {MIN_OF_EACH} reviewed files of each verdict;"
            f" there are {n_phi} phi and {n_other} not_phi"
        )
        return _learned(prototypes, thresholds, None, reason, before, scores, material=material, limit=limit)
    material.penalty = min(PENALTIES, key=lambda penalty: loss_of(material, penalty))
    scores = hold_out(material, corrected=True)
    after = _referred(material, scores, limit)
    lost = int((before & ~after & material.is_phi).sum()) - int((after & ~before & material.is_phi).sum())
    spared = int((before & ~material.is_phi).sum()) - int((after & ~material.is_phi).sum())
    if spared <= 0 or lost > max(1, math.ceil(2 * MAY_LOSE * n_phi)):
        reason = (
            f"on held-out files a correction would spare {spared} false referrals and lose {lost} PHI files"
        )
        scores = hold_out(material, corrected=False)
        return _learned(prototypes, thresholds, None, reason, before, scores, material=material, limit=limit)
    everybody = ~nobody
    weights, shift = fit(material, everybody, everybody), shift_of(material, everybody)
    adjustment = Adjustment(
        slope=round(float(weights[0]), 5),
        intercept=round(float(weights[1]) - shift, 5),
        weights={
            name: round(float(weight), 5)
            for name, weight in zip(material.names, weights[2:], strict=True)
            if round(float(weight), 5)
        },
    )
    return _learned(prototypes, thresholds, adjustment, "", before, scores, material=material, limit=limit)


def _prepare(examples: Sequence[Example], classifier: Classifier) -> tuple[Material, ConceptTfidf]:
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
    kept = n_files >= MIN_FILES
    return Material(
        is_phi=np.array([example.is_phi for example in examples]),
        groups=groups,
        features=features[:, kept],
        names=[name for name, keep in zip(names, kept, strict=True) if keep],
        n_files=n_files[kept],
        about=np.array([example.told for example in examples]),
        distances=distances,
        n_shipped=len(classifier.bags),
        log_odds=np.array([example.log_odds for example in examples]),
        knn=classifier.knn,
        k=classifier.knn.k,
    ), tfidf


def extended(tfidf: ConceptTfidf, bags: Sequence[Mapping[str, int]]) -> ConceptTfidf:
    """Return the same weighing with a column for every concept of ``bags``; new ones weigh as unseen."""
    new = sorted({name for bag in bags for name in bag} - set(tfidf.vocabulary_))
    wider = ConceptTfidf(weights=tfidf.weights)
    wider.vocabulary_ = {**tfidf.vocabulary_, **{n: len(tfidf.vocabulary_) + i for i, n in enumerate(new)}}
    idf = [tfidf.unseen_ if block_of(name) == "concept" else 1.0 for name in new]
    wider.idf_ = np.concatenate([tfidf.idf_, idf])
    wider.unseen_ = tfidf.unseen_
    return wider


def near_duplicates(cosines: Floats) -> npt.NDArray[np.int64]:
    """Number groups of near-duplicates: a file joins the first earlier one that is the same to ``SAME``."""
    groups = np.arange(len(cosines))
    for index in range(1, len(cosines)):
        same = np.flatnonzero(cosines[index, :index] >= SAME)
        if len(same):
            groups[index] = groups[same[0]]
    return groups


def _prototypes(examples: Sequence[Example], material: Material) -> tuple[tuple[str, dict[str, int]], ...]:
    """Take one prototype per group of near-duplicates, so that copies weigh nothing."""
    first = [
        index
        for index, example in enumerate(examples)
        if example.is_phi
        and not (material.is_phi[:index] & (material.groups[:index] == material.groups[index])).any()
    ]
    if len(first) > MAX_PROTOTYPES:
        draw = np.random.default_rng(SEED)
        first = sorted(draw.choice(first, MAX_PROTOTYPES, replace=False).tolist())
    return tuple((examples[index].name, dict(sorted(examples[index].counts.items()))) for index in first)


def _thresholds(
    prototypes: Sequence[tuple[str, dict[str, int]]], tfidf: ConceptTfidf, classifier: Classifier
) -> dict[str, tuple[float, float]]:
    """Learn the leave-one-out threshold of every k again; it may only widen: no known PHI file falls out."""
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


def _log_odds(material: Material, scores: Floats) -> Floats:
    """Return each file's log-odds of PHI with these health scores: they move as the scores do."""
    shipped = material.base(np.zeros(len(material.is_phi), dtype=np.bool_))
    moved = np.array([log_odds(one) for one in scores]) - np.array([log_odds(one) for one in shipped])
    return np.asarray(material.log_odds + moved)


def _referred(material: Material, scores: Floats, limit: float) -> Flags:
    """Tell which files are referred with these health scores."""
    return np.asarray(_log_odds(material, scores) >= limit)


def _learned(  # noqa: PLR0917 (the fields of what is learned, in their order)
    prototypes: tuple[tuple[str, dict[str, int]], ...],
    thresholds: dict[str, tuple[float, float]],
    adjustment: Adjustment | None,
    reason: str,
    before: Flags,
    scores: Floats,
    *,
    material: Material,
    limit: float,
) -> Learned:
    """Gather what was learned, with the held-out referrals and probabilities of these health scores."""
    p_phi = 1.0 / (1.0 + np.exp(-np.clip(_log_odds(material, scores), -30.0, 30.0)))
    after = _referred(material, scores, limit)
    return Learned(prototypes, thresholds, adjustment, reason, before, after, scores, p_phi, material.groups)


def model_of(learned: Learned, *, base: str) -> dict[str, Any]:
    """Return what was learned as a model file holds it; ``base``: the shipped version it is on."""
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
