"""Train detector C: phiscan/health/data/text_detector.npz, the weights of the text classifier.

Run from the checkout: ``python dictionaries/build/text_detector.py``. Learns from the training half of the
development texts and from our own texts beside this script: notes/ and written/phi.txt (positive), papers/
and written/other.txt (negative). Findings, health terms and digits are masked, as they are when it runs.
``--measure`` writes nothing: it judges every text by models that never saw it, and by models that never saw
its kind of text.
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import fill

import numpy as np
from prototypes import DATA, SEED, filed_texts, learned_documents, shares, written_texts
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold

from phiscan import screen
from phiscan.config import Config
from phiscan.health.classifier import TEXT_MODEL_FILE
from phiscan.health.features import read
from phiscan.health.term_lexicon import load_lexicon
from phiscan.health.text_detector import N_BUCKETS, features, masked, pieces
from phiscan.model import Document, Segment, Span

VERSION = "text-3"
LIMITS = {
    "presidio_generated_large": 150,
    "presidio_synth_v2": 150,
    "us_legislators_dev": 80,
    "medquad_dev": 300,
}
PIECES_OF_ONE = 4
N_FOLDS = 8
FALSE_RATE = 0.01  # share of the negatives that may lie above the threshold, by cross-validation
C = 30.0
MOST_OF_A_FAMILY = 40.0  # texts that a family may count for, however many it has


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to learn from; ``own`` texts are also learned in other layouts."""

    family: str
    text: str
    is_phi: bool
    own: bool


def samples() -> Iterator[Sample]:
    """Yield everything to learn from."""
    for path in sorted(DATA.glob("*.jsonl")):
        for _, text, positive in learned_documents(path.stem, LIMITS.get(path.stem, 10_000)):
            yield Sample(path.stem, text, positive, own=False)
    for folder, positive in (("notes", True), ("papers", False)):
        for stem, _, text in filed_texts(folder):
            yield Sample(stem if positive else f"papers: {stem}", text, positive, own=True)
    for name, positive in (("phi", True), ("other", False)):
        for kind, text in written_texts(name):
            yield Sample(kind if positive else f"other: {kind}", text, positive, own=True)


def laid_out(sample: Sample) -> list[str]:
    """Return a text as it is and, of our own, as one line, as wrapped lines and as a mail's body.

    The same is done to both sides, so that no layout of ours stands for either.
    """
    if not sample.own:
        return [sample.text]
    flat = " ".join(sample.text.split())
    wrapped = fill(flat, 66)
    header = "From: a\nTo: b\nDate: 3 May 2021\nSubject: note\n\n"
    return [sample.text, flat, wrapped, header + wrapped]


@dataclass(frozen=True, slots=True)
class Rows:
    """The pieces of all texts: features, and for each piece its text's number and its layout's."""

    found: list[Sample]
    matrix: csr_matrix
    text: np.ndarray
    layout: np.ndarray

    @property
    def is_phi(self) -> np.ndarray:
        """Return the label of each piece."""
        return np.array([sample.is_phi for sample in self.found])[self.text]


def collect() -> Rows:
    """Screen, mask and hash every text."""
    lexicon, screener = load_lexicon(), screen.build_screener(Config())
    values: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    text: list[int] = []
    layout: list[int] = []
    found = list(samples())
    for number, sample in enumerate(found):
        for way, words in enumerate(laid_out(sample)):
            hits = read(words, lexicon).health
            spans = [
                Span(start, end) for start, end in zip(hits.starts.tolist(), hits.ends.tolist(), strict=True)
            ]
            document = Document(words, (Segment("", 0, len(words)),), "text/plain")
            spans += [finding.span for finding in screen.screen(document, screener).findings]
            for piece in pieces(masked(words, spans))[:PIECES_OF_ONE]:
                buckets, weights = features(piece)
                columns.append(buckets)
                values.append(weights)
                text.append(number)
                layout.append(way)
    ends = np.cumsum([0, *(len(part) for part in columns)])
    matrix = csr_matrix(
        (np.concatenate(values).astype(np.float64), np.concatenate(columns), ends),
        shape=(len(text), N_BUCKETS),
    )
    return Rows(found, matrix, np.array(text), np.array(layout))


def coordinates(matrix: csr_matrix) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows in as many dimensions as there are rows, and the way back to buckets.

    A penalised linear model lies in the span of its rows, so nothing is lost and every fit is quick.
    """
    size, directions = np.linalg.eigh((matrix @ matrix.T).toarray())
    kept = size > size[-1] * 1e-9
    root = np.sqrt(size[kept])
    return directions[:, kept] * root, matrix.T @ (directions[:, kept] / root)


def weights_of(rows: Rows, among: np.ndarray, *, even: bool) -> np.ndarray:
    """Return a weight per piece: both sides the same; with ``even``, families alike and texts alike."""
    weights = np.zeros(len(rows.text))
    pieces_of = Counter(rows.text[among].tolist())
    families = Counter(rows.found[number].family for number in pieces_of)
    for row in np.flatnonzero(among).tolist():
        number = rows.text[row]
        size = families[rows.found[number].family]
        weights[row] = min(1.0, MOST_OF_A_FAMILY / size) / pieces_of[number] if even else 1.0
    for side in (rows.is_phi, ~rows.is_phi):
        weights[side] *= among.sum() / 2 / max(weights[side].sum(), 1e-9)
    return weights


def fit(points: np.ndarray, rows: Rows, among: np.ndarray, *, even: bool) -> LogisticRegression:
    """Fit on the pieces ``among``."""
    weights = weights_of(rows, among, even=even)
    model = LogisticRegression(C=C, max_iter=3000, random_state=SEED)
    return model.fit(points[among], rows.is_phi[among], sample_weight=weights[among])


def text_scores(scores: np.ndarray, rows: Rows) -> np.ndarray:
    """Return the highest score of each text's pieces in the layout it was written in."""
    best = np.full(len(rows.found), -np.inf)
    plain = rows.layout == 0
    np.maximum.at(best, rows.text[plain], scores[plain])
    return best


def threshold_of(points: np.ndarray, rows: Rows, among: np.ndarray, *, even: bool) -> float:
    """Choose the threshold by five-fold cross-validation; the layouts of a text stay together."""
    scores = np.full(len(rows.text), -np.inf)
    where = np.flatnonzero(among)
    order = np.random.default_rng(SEED).permutation(len(rows.found))[rows.text[where]]
    for taught, held in GroupKFold(5).split(where, groups=order):
        chosen = np.zeros(len(rows.text), dtype=bool)
        chosen[where[taught]] = True
        model = fit(points, rows, chosen, even=even)
        scores[where[held]] = model.decision_function(points[where[held]])
    of_text = text_scores(scores, rows)
    others = np.array([not sample.is_phi for sample in rows.found]) & np.isfinite(of_text)
    return float(np.quantile(of_text[others], 1 - FALSE_RATE))


def measure(rows: Rows) -> None:
    """Print what models say of texts that they never saw: single texts left out, and whole kinds.

    A kind is left out on both sides, an eighth of the kinds at a time. Left out on one side alone, the mails
    that are no PHI would be the only mails that a model ever saw, and it would know a mail by them: that
    measured the gap, not the detector.
    """
    is_phi = np.array([sample.is_phi for sample in rows.found])
    family = np.array([sample.family for sample in rows.found])
    kinds, kind = np.unique([name.removeprefix("other: ") for name in family], return_inverse=True)
    points, _ = coordinates(rows.matrix)
    everything = np.ones(len(rows.text), dtype=bool)
    threshold = threshold_of(points, rows, everything, even=True)
    single = np.random.default_rng(SEED).permutation(len(rows.found)) % N_FOLDS
    taken = [unseen(points, rows, groups) >= threshold for groups in (single, kind % N_FOLDS)]
    print("| texts | number | single texts left out | their kind left out, on both sides |")
    print("| --- | --- | --- | --- |")
    for side, title in ((is_phi, "PHI"), (~is_phi, "other")):
        for number, name in enumerate(kinds):
            chosen = (kind == number) & side
            if chosen.any():
                print(f"| {title}: {name} | {chosen.sum()} | " + shares(taken, chosen))
        own = side & np.array([sample.own for sample in rows.found])
        print(f"| our own {title} | {own.sum()} | " + shares(taken, own))
        print(f"| all {title} | {side.sum()} | " + shares(taken, side))


def unseen(points: np.ndarray, rows: Rows, groups: np.ndarray) -> np.ndarray:
    """Return the score of each text by a model taught without the texts of its group."""
    scores = np.full(len(rows.text), -np.inf)
    of_piece = groups[rows.text]
    for group in np.unique(groups):
        held = of_piece == group
        scores[held] = fit(points, rows, ~held, even=True).decision_function(points[held])
    return text_scores(scores, rows)


def main() -> None:
    """Learn, choose the threshold by cross-validation, write half-precision weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="leave out texts and kinds; write nothing")
    options = parser.parse_args()
    rows = collect()
    if options.measure:
        measure(rows)
        return
    points, back = coordinates(rows.matrix)
    everything = np.ones(len(rows.text), dtype=bool)
    threshold = threshold_of(points, rows, everything, even=True)
    model = fit(points, rows, everything, even=True)
    weights = (back @ model.coef_[0]).astype(np.float16)
    constants = np.array([model.intercept_[0], threshold])
    np.savez_compressed(TEXT_MODEL_FILE, weights=weights, constants=constants, version=np.array(VERSION))
    print(f"{sum(s.is_phi for s in rows.found)} PHI and {sum(not s.is_phi for s in rows.found)} other texts")
    print(f"{len(rows.text)} pieces; threshold {threshold:.3f}")


if __name__ == "__main__":
    main()
