"""Train phiscan/health/data/patient_classifier.npz: does a window describe a patient? (health-4).

Run from the checkout: ``python dictionaries/build/patient_classifier.py``. It learns from half of the
development texts (../shared/data/text) and from our own texts beside this script. Only weights are kept.
``--measure`` writes nothing and judges every text of ours by models that never saw it, or never saw its file.

Of a text about a patient some windows tell of nobody (the methods of a case report). Nobody has marked which:
the model is taught from all, then anew from those that it takes for a patient's and each text's likeliest.
"""

# ruff: noqa: INP001, T201 (a build command: no package, and it reports what it did)

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from prototypes import DATA, SEED, filed_texts, learned_documents, shares, written_texts
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from phiscan.health.classifier import PATIENT_MODEL_FILE, describes_patient
from phiscan.health.features import read, windows
from phiscan.health.patient_classifier import PatientModel, densities
from phiscan.health.term_lexicon import load_lexicon
from phiscan.health.word_hashes import N_BUCKETS, word_features, words_of

VERSION = "health-4"
# Our own texts by file, each with a side of texts about nobody and one of texts about a patient.
WRITTEN = ("learned", "office", "care", "agency", "long", "tables", "hard")
WRITTEN_BEFORE = (
    ("other", False),
    ("prices_minutes_rosters", False),
    ("phi", True),
    ("requests_lists_claims", True),
)
# What is taken of each file at most; visit notes without their name are written like those with it.
SOURCES = {
    "aci_bench_train_valid": 100,
    "fhir_synthea_dev": 60,
    "hl7v2_reportstream": 60,
    "ccda_hl7": 20,
    "medquad_dev": 400,
    "spamassassin_ham_dev": 400,
    "wnut17_train": 200,
    "state_union_inaugural": 40,
    "presidio_generated_large": 1200,
    "us_legislators_dev": 60,
}
# What fills a share (mail, posts, speeches) and speaks of health now and then must not be mistaken.
FAMILY_WEIGHT = dict.fromkeys(
    (
        "medquad_dev",
        "spamassassin_ham_dev",
        "wnut17_train",
        "state_union_inaugural",
        "presidio_generated_large",
    ),
    3.0,
)
MOST_WINDOWS = 8  # of one development text
MOST_OF_A_FAMILY = 40.0  # texts that a family may count for, however many it has
MIN_WINDOWS = 3  # a word of fewer is not learned
C = 10.0
N_ROUNDS = 3
N_FOLDS = 6
FALSE_RATE = 0.15  # share of our own texts about nobody above the threshold, by cross-validation: hard ones


@dataclass(frozen=True, slots=True)
class Sample:
    """One text to learn from."""

    family: str
    text: str
    is_phi: bool
    own: bool
    pair: str  # texts of one pair are left out together: neighbours that differ in what they tell


def samples() -> Iterator[Sample]:
    """Yield everything to learn from."""
    for name, most in SOURCES.items():
        for identifier, text, positive in learned_documents(name, most):
            yield Sample(name, text, positive, own=False, pair=identifier)
    for folder, positive in (("notes", True), ("papers", False)):
        for stem, number, text in filed_texts(folder):
            yield Sample(f"{folder}: {stem}", text, positive, own=True, pair=f"{stem} {number}")
    sides = [(f"{name}_{side}", side == "phi") for name in WRITTEN for side in ("other", "phi")]
    for name, positive in (*WRITTEN_BEFORE, *sides):
        for number, (kind, text) in enumerate(written_texts(name)):
            pair = f"{name.rsplit('_', 1)[0]} {number}"
            yield Sample(f"{name}: {kind}", text, positive, own=True, pair=pair)


@dataclass(frozen=True, slots=True)
class Rows:
    """The windows of all texts: their cues and, behind them, their words; and for each its text's number."""

    found: list[Sample]
    matrix: csr_matrix
    cue_names: list[str]
    text: np.ndarray

    @property
    def is_phi(self) -> np.ndarray:
        """Return the label of each window's text."""
        return np.array([sample.is_phi for sample in self.found])[self.text]


def collect(leave_out: frozenset[str] = frozenset()) -> Rows:
    """Read every text but those of some files or folders, cut its windows and hash their words."""
    lexicon = load_lexicon()
    columns: list[np.ndarray] = []
    values: list[np.ndarray] = []
    cues: list[dict[str, float]] = []
    text: list[int] = []
    found = [sample for sample in samples() if sample.family.split(": ")[0] not in leave_out]
    for number, sample in enumerate(found):
        reading = read(sample.text, lexicon)
        told = [window for window in windows(reading, lexicon) if describes_patient(window)]
        words = words_of(sample.text, reading, lexicon, told)
        for window in told if sample.own else told[:MOST_WINDOWS]:
            buckets, weights = word_features(words, window.start, window.end)
            columns.append(buckets)
            values.append(weights)
            cues.append(dict(densities(window)))
            text.append(number)
    ends = np.cumsum([0, *(len(part) for part in columns)])
    matrix = csr_matrix(
        (np.concatenate(values).astype(np.float64), np.concatenate(columns), ends),
        shape=(len(text), N_BUCKETS),
    )
    often = np.asarray((matrix > 0).sum(axis=0)).ravel() >= MIN_WINDOWS
    matrix = matrix.multiply(often[None, :]).tocsr()
    matrix.eliminate_zeros()
    vectorizer = DictVectorizer()
    both = hstack([vectorizer.fit_transform(cues), matrix]).tocsr()
    return Rows(found, both, list(vectorizer.get_feature_names_out()), np.array(text))


def weights_of(rows: Rows, chosen: np.ndarray) -> np.ndarray:
    """Return a weight per window: both sides the same, large families less, windows of one text less."""
    windows_of = Counter(rows.text[chosen].tolist())
    families = Counter(rows.found[number].family for number in windows_of)
    weights = np.array(
        [
            FAMILY_WEIGHT.get(family, 1.0)
            * min(1.0, MOST_OF_A_FAMILY / families[family])
            / np.sqrt(windows_of[number])
            for number in rows.text[chosen].tolist()
            for family in [rows.found[number].family]
        ]
    )
    for side in (rows.is_phi[chosen], ~rows.is_phi[chosen]):
        weights[side] *= 100 / weights[side].sum()
    return weights


def fit(rows: Rows, among: np.ndarray) -> LogisticRegression:
    """Fit on the windows ``among`` (indices), in ``N_ROUNDS`` rounds."""
    chosen = among
    for _ in range(N_ROUNDS):
        model = LogisticRegression(C=C, max_iter=500, random_state=SEED)
        model.fit(rows.matrix[chosen], rows.is_phi[chosen], sample_weight=weights_of(rows, chosen))
        scores = model.decision_function(rows.matrix[among])
        best = best_of_texts(scores, rows, among)[rows.text[among]]
        chosen = among[~rows.is_phi[among] | (scores >= 0) | (scores >= best)]
    return model


def best_of_texts(scores: np.ndarray, rows: Rows, among: np.ndarray) -> np.ndarray:
    """Return the highest score of each text's windows; minus infinity for a text that has none."""
    best = np.full(len(rows.found), -np.inf)
    np.maximum.at(best, rows.text[among], scores)
    return best


def unseen(rows: Rows, groups: np.ndarray) -> np.ndarray:
    """Return the log-odds of each text by a model taught without the texts of its group."""
    scores = np.full(len(rows.text), -np.inf)
    for group in np.unique(groups):
        held = groups[rows.text] == group
        if held.any():
            scores[held] = fit(rows, np.flatnonzero(~held)).decision_function(rows.matrix[held])
    return best_of_texts(scores, rows, np.arange(len(rows.text)))


def folds(rows: Rows) -> np.ndarray:
    """Return a fold for every text, pairs together."""
    pairs, of = np.unique([sample.pair for sample in rows.found], return_inverse=True)
    return (np.random.default_rng(SEED).permutation(len(pairs)) % N_FOLDS)[of]


def threshold_of(scores: np.ndarray, rows: Rows) -> float:
    """Return the log-odds that ``FALSE_RATE`` of our own texts about nobody reach."""
    others = np.array([sample.own and not sample.is_phi for sample in rows.found])
    return float(np.quantile(scores[others], 1 - FALSE_RATE))


def learned(rows: Rows) -> PatientModel:
    """Learn from all texts, the threshold by cross-validation; weights of half precision."""
    threshold = threshold_of(unseen(rows, folds(rows)), rows)
    model = fit(rows, np.arange(len(rows.text)))
    n_cues = len(rows.cue_names)
    cues = (round(weight, 4) for weight in model.coef_[0][:n_cues].tolist())
    return PatientModel(
        words=model.coef_[0][n_cues:].astype(np.float16),
        cues=dict(zip(rows.cue_names, cues, strict=True)),
        intercept=round(float(model.intercept_[0]) - threshold, 4),
        version=VERSION,
    )


def measure(rows: Rows) -> None:
    """Print what models say of our texts that they never saw: single texts left out, and whole files."""
    single = folds(rows)
    files = [sample.family.split(": ")[0].rsplit("_", 1)[0] for sample in rows.found]
    _, file = np.unique(files, return_inverse=True)
    taken = [scores >= threshold_of(scores, rows) for scores in (unseen(rows, g) for g in (single, file))]
    print("| texts | number | single texts left out | their file left out, on both sides |")
    print("| --- | --- | --- | --- |")
    names = [sample.family.split(": ")[0] for sample in rows.found]
    for name in sorted({n for n, sample in zip(names, rows.found, strict=True) if sample.own}):
        chosen = np.array([n == name for n in names])
        print(f"| {name} | {chosen.sum()} | " + shares(taken, chosen))


def main() -> None:
    """Learn, choose the threshold by cross-validation, write half-precision weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--measure", action="store_true", help="leave out texts and files; write nothing")
    options = parser.parse_args()
    if not DATA.is_dir():
        parser.error(f"{DATA}: expected the development texts there")
    rows = collect()
    if options.measure:
        measure(rows)
        return
    model = learned(rows)
    np.savez_compressed(
        PATIENT_MODEL_FILE,
        words=model.words,
        cue_names=np.array(list(model.cues)),
        cues=np.array(list(model.cues.values())),
        intercept=np.array(model.intercept),
        version=np.array(model.version),
    )
    print(f"{sum(s.is_phi for s in rows.found)} PHI and {sum(not s.is_phi for s in rows.found)} other texts")
    print(f"{len(rows.text)} windows, {np.count_nonzero(model.words)} words and pairs")
    print(f"{PATIENT_MODEL_FILE.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
