"""Measure the health model on texts that it did not learn from: the tables of its model card. Writes nothing.

Run from the checkout: ``python dictionaries/build/prototypes_measured.py``. First the choice of k, on the
prototypes left out one at a time and on all windows about nobody. Then our own texts, judged by models that
never saw the text (an eighth left out at a time) and by models that never saw its kind on either side. The
score is the smaller one of the distance score (kNN to the prototypes) and the score of the cue model.
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from prototypes import (
    NEGATIVE_SOURCES,
    QUANTILE,
    SEED,
    SOURCES,
    collect,
    filed_texts,
    fit_person,
    negatives,
    scored_windows,
    short_texts,
    vocabulary,
)
from sklearn.metrics import roc_auc_score

from phiscan.health.features import Window
from phiscan.health.file_evidence import HEALTH
from phiscan.health.knn import ConceptTfidf, OneClassKnn
from phiscan.health.patient_classifier import CueModel
from phiscan.metrics.intervals import clopper_pearson

K = 3
N_FOLDS = 8
KS = (1, 2, 3, 5, 7, 9)


@dataclass(frozen=True, slots=True)
class Own:
    """One text of ours: its kind, its family in training, its side, its windows that say something."""

    kind: str
    family: str
    is_phi: bool
    windows: list[Window]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A health model in memory."""

    tfidf: ConceptTfidf
    knn: OneClassKnn
    person: CueModel

    def scores(self, windows: list[Window]) -> tuple[float, float, float]:
        """Return the highest window scores: the smaller of both, the distance alone, the cue model alone."""
        if not windows:
            return 0.0, 0.0, 0.0
        near = self.knn.score(self.knn.nearest(self.tfidf.rows(window.counts for window in windows))[0])
        cues = np.array([self.person.score(window) for window in windows])
        return float(np.minimum(near, cues).max()), float(near.max()), float(cues.max())


def own_texts() -> Iterator[Own]:
    """Yield our own texts of both sides."""
    for folder, is_phi in (("notes", True), ("papers", False)):
        for stem, _, text in filed_texts(folder):
            yield Own(stem, stem if is_phi else f"papers_{stem}", is_phi, scored_windows(text))
    for side, is_phi in (("phi", True), ("other", False)):
        for kind, text in short_texts(side):
            yield Own(kind, f"written_{kind}", is_phi, scored_windows(text))


def fit(texts: list[Own], foreign: tuple[list[tuple[str, Window]], list[tuple[str, Window]]]) -> Fitted:
    """Learn from texts of ours and from the foreign windows of both sides."""
    sides = []
    for is_phi, more in zip((True, False), foreign, strict=True):
        named = [(text.family, window) for text in texts if text.is_phi is is_phi for window in text.windows]
        sides.append([*named, *more])
    positive, negative = sides
    bags = [window.counts for _, window in positive]
    tfidf = vocabulary(bags, [window.counts for _, window in negative])
    person = fit_person(positive, negative)
    return Fitted(
        tfidf,
        OneClassKnn(k=K, quantile=QUANTILE).fit(tfidf.transform(bags)),
        CueModel(person["weights"], person["intercept"]),
    )


def print_choice_of_k(positive: list[tuple[str, Window]], negative: list[tuple[str, Window]]) -> None:
    """Print threshold, acceptance of both sides by the distance alone, and the area under the ROC curve."""
    bags = [window.counts for _, window in positive]
    others = [window.counts for _, window in negative]
    tfidf = vocabulary(bags, others)
    rows = tfidf.transform(bags)
    print("| k | threshold | prototypes accepted, left out | windows about nobody accepted | AUC |")
    print("| --- | --- | --- | --- | --- |")
    for k in KS:
        knn = OneClassKnn(k=k, quantile=QUANTILE).fit(rows)
        left_out = knn._leave_one_out()  # noqa: SLF001 (what the threshold was learned from)
        distances = knn.nearest(tfidf.rows(others))[0]
        labels = [True] * len(left_out) + [False] * len(distances)
        area = roc_auc_score(labels, -np.concatenate([left_out, distances]))
        accepted = (float((part <= knn.threshold_).mean()) for part in (left_out, distances))
        print(f"| {k} | {knn.threshold_:.3f} | " + " | ".join(f"{x:.3f}" for x in (*accepted, area)) + " |")


def print_left_out(texts: list[Own], scores: list[np.ndarray]) -> None:
    """Print the share of each side at 0.5 or more, with 95% Clopper-Pearson intervals, and the areas."""
    print("| texts | number | single texts left out | their kind left out, on both sides |")
    print("| --- | --- | --- | --- |")
    is_phi = np.array([text.is_phi for text in texts])
    kind = np.array([text.kind for text in texts])
    for side, title in ((is_phi, "PHI"), (~is_phi, "other")):
        for name in [*sorted(set(kind[side].tolist())), "all"]:
            chosen = side & ((kind == name) | (name == "all"))
            cells = []
            for found in scores:
                yes = int((found[chosen] >= HEALTH).sum())
                low, high = clopper_pearson(yes, int(chosen.sum()))
                cells.append(f"{yes / chosen.sum():.2f} [{low:.2f}, {high:.2f}]")
            print(f"| {title}: {name} | {chosen.sum()} | " + " | ".join(cells) + " |")
    print(
        "| area under the ROC curve | | "
        + " | ".join(f"{roc_auc_score(is_phi, s):.3f}" for s in scores)
        + " |"
    )


def print_halves(texts: list[Own], scores: np.ndarray) -> None:
    """Print recall and false positives of each half of the score, single texts left out."""
    is_phi = np.array([text.is_phi for text in texts])
    print("| score | PHI at 0.5 or more | others | area under the ROC curve |")
    print("| --- | --- | --- | --- |")
    for title, found in zip(
        ("the smaller of both", "distance alone", "cue model alone"), scores.T, strict=True
    ):
        yes = found >= HEALTH
        area = roc_auc_score(is_phi, found)
        print(f"| {title} | {yes[is_phi].mean():.2f} | {yes[~is_phi].mean():.2f} | {area:.3f} |")


def main() -> None:
    """Print the three tables."""
    positive, negative = collect(), negatives()
    print_choice_of_k(positive, negative)
    sources = {name.split("_")[0] for name in SOURCES}
    foreign = (
        [item for item in positive if item[0].split("/")[0] in sources],
        [item for item in negative if item[0] in NEGATIVE_SOURCES],
    )
    texts = list(own_texts())
    single = np.random.default_rng(SEED).permutation(len(texts)) % N_FOLDS
    _, kind = np.unique([text.kind for text in texts], return_inverse=True)
    scores = []
    for groups in (single, kind):
        found = np.zeros((len(texts), 3))
        for group in np.unique(groups).tolist():
            model = fit([t for t, of in zip(texts, groups, strict=True) if of != group], foreign)
            for index in np.flatnonzero(groups == group).tolist():
                found[index] = model.scores(texts[index].windows)
        scores.append(found)
    print_left_out(texts, [found[:, 0] for found in scores])
    print_halves(texts, scores[0])


if __name__ == "__main__":
    main()
