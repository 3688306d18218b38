"""Fit P(PHI): the word model, the text detector, and the logistic regression over all evidence.

Passages have no labels, only documents. So each layer is fitted in rounds of multiple-instance learning:
first on random passages, then on those with the highest scores of their document in the last round.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize
from scipy.sparse import csr_matrix, diags, hstack
from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from phiscan.decision.model import INPUTS, TEXT_RANGE, alone_rows, inputs_of
from phiscan.health.text_detector import N_BUCKETS as N_TEXT_BUCKETS
from phiscan.health.text_detector import TextModel
from phiscan.health.word_hashes import N_BUCKETS
from training.decision.features import Described, Sparse

SEED = 2008
MAX_PASSAGES = 16  # of one document, drawn at random, to fit the words on
N_HARDEST = 4  # highest-scoring passages of one document in later rounds
MIN_PASSAGES = 4  # that contain a word, to learn its weight
N_ROUNDS = 3
WORDS_C, TEXT_C, JOINT_PENALTY = 3.0, 30.0, 1.0
# Inputs with non-negative weights: more of such evidence never lowers the probability.
NON_NEGATIVE = frozenset(
    (
        *("words", "concepts", "full_name", "name", "name_by_health", "record_number", "direct_identifier"),
        *("birth_date", "clinical", "name_by_clinical", "text_detector", "person", "person_and_words"),
        *("short_text",),
    )
)
CLOSE = 0.5  # largest distance in log-odds from its document's strongest passage for a training passage
# Limits of the effective number of documents of a family; ordinary files are the bulk of a share.
MAX_PER_FAMILY, MAX_ORDINARY = 60.0, 150.0
MAX_SHORT = 250.0  # for short texts

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def weights_of(documents: Sequence[Described]) -> Floats:
    """Return a weight per document, so that large families count less."""
    n_of = Counter(one.family for one in documents)
    most = dict.fromkeys(n_of, MAX_PER_FAMILY)
    for family in n_of:
        if family.startswith(("bg:", "ord:")):
            most[family] = MAX_ORDINARY
        elif family.startswith("short:"):
            most[family] = MAX_SHORT
    return np.array([min(1.0, most[one.family] / n_of[one.family]) for one in documents])


def balanced(weights: Floats, is_phi: Flags) -> Floats:
    """Return weights scaled so that both classes have the same sum."""
    result = weights.astype(float).copy()
    for side in (is_phi, ~is_phi):
        result[side] *= len(result) / 2 / result[side].sum()
    return result


@dataclass(frozen=True, slots=True)
class Rows:
    """One row per unit (a passage, or a piece of masked text): its features and its document's number."""

    matrix: csr_matrix
    document: Ints
    cue_names: tuple[str, ...] = ()


def drawn(rows: Rows) -> Flags:
    """Return the rows of the first round: up to ``MAX_PASSAGES`` random ones of each document."""
    order = np.random.default_rng(SEED).permutation(len(rows.document))
    taken = np.zeros(len(order), dtype=np.bool_)
    taken[order] = index_in_document(rows.document[order]) < MAX_PASSAGES
    return taken


def index_in_document(document: Ints) -> Ints:
    """Return for each row its index among the rows of its document."""
    order = np.argsort(document, kind="stable")
    ordered = document[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    indices = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.r_[starts, len(ordered)]))
    found = np.empty(len(order), dtype=np.int64)
    found[order] = indices
    return found


def word_rows(documents: Sequence[Described]) -> Rows:
    """Return all passages of each document as cues and, after them, words."""
    of = np.repeat(np.arange(len(documents)), [len(one.words) for one in documents])
    words = sparse_rows([row for one in documents for row in one.words], N_BUCKETS)
    vectorizer = DictVectorizer(dtype=np.float32)
    cues = vectorizer.fit_transform([cue for one in documents for cue in one.cues])
    both = hstack([cues, words]).tocsr()
    often = np.asarray((both > 0).sum(axis=0)).ravel() >= MIN_PASSAGES
    both = (both @ diags(often.astype(np.float32))).tocsr()
    both.eliminate_zeros()
    return Rows(both, of, tuple(vectorizer.get_feature_names_out()))


def sparse_rows(rows: Sequence[Sparse], n_columns: int) -> csr_matrix:
    """Return rows of (buckets, values) as one sparse matrix."""
    ends = np.cumsum([0, *(len(buckets) for buckets, _ in rows)])
    values = np.concatenate([part for _, part in rows]).astype(np.float32)
    return csr_matrix(
        (values, np.concatenate([buckets for buckets, _ in rows]), ends), (len(rows), n_columns)
    )


def text_rows(documents: Sequence[Described]) -> Rows:
    """Return the pieces of the masked texts as n-grams and layout."""
    pieces = [(number, piece) for number, one in enumerate(documents) for piece in one.pieces]
    matrix = sparse_rows([piece for _, piece in pieces], N_TEXT_BUCKETS)
    return Rows(matrix, np.array([number for number, _ in pieces]))


@dataclass(frozen=True, slots=True)
class Linear:
    """Weights and intercept of a linear model."""

    weights: Floats
    intercept: float


def fit_rows(rows: Rows, is_phi: Flags, weights: Floats, learn: Flags, strength: float) -> Linear:
    """Fit a linear model on the rows of the documents ``learn`` (flags), in ``N_ROUNDS`` rounds."""
    among = np.flatnonzero(learn[rows.document])
    matrix, document = rows.matrix[among], rows.document[among]
    phi = is_phi[document]
    at_random = drawn(rows)[among]
    chosen = np.flatnonzero(at_random)
    model = LogisticRegression(C=strength, max_iter=80, tol=1e-3, warm_start=True, random_state=SEED)
    for number in range(N_ROUNDS):
        of = document[chosen]
        n_of = np.bincount(of, minlength=len(is_phi))
        each = balanced(weights[of] / np.sqrt(n_of[of]), is_phi[of]) / len(of) * 200
        model.fit(matrix[chosen], is_phi[of], sample_weight=each.astype(np.float32))
        if number == N_ROUNDS - 1:
            break
        scores = model.decision_function(matrix)
        best = strongest(scores, document, len(is_phi))
        ranked = np.argsort(-scores, kind="stable")
        hardest = np.empty(len(scores), dtype=np.bool_)
        hardest[ranked] = index_in_document(document[ranked]) < N_HARDEST
        close = scores >= best[document] - CLOSE
        chosen = np.flatnonzero((phi & close) | (~phi & (hardest | at_random)))
    return Linear(model.coef_[0].astype(float), float(model.intercept_[0]))


def strongest(scores: Floats, document: Ints, n_documents: int) -> Floats:
    """Return the highest score of each document; minus infinity for one without rows."""
    best = np.full(n_documents, -np.inf)
    np.maximum.at(best, document, scores)
    return best


def passage_scores(rows: Rows, model: Linear, n_documents: int) -> list[Floats]:
    """Return the log-odds of every passage, one array per document."""
    scores = np.asarray(rows.matrix @ model.weights).ravel() + model.intercept
    return np.split(scores, np.searchsorted(rows.document, np.arange(1, n_documents)))


def text_scores(rows: Rows, model: Linear, n_documents: int) -> Floats:
    """Return the text detector's log-odds of every document; very low ones for those without text."""
    scores = np.asarray(rows.matrix @ model.weights).ravel() + model.intercept
    best = strongest(scores, rows.document, n_documents)
    return np.where(np.isfinite(best), best, -TEXT_RANGE)


def input_rows(documents: Sequence[Described], words: Sequence[Floats], text: Floats) -> list[Floats]:
    """Return the inputs of the joint model, one array (passages, inputs) per document."""
    return [
        inputs_of(of_words, one.evidence.astype(float), one.lengths.astype(float), of_text, one.n_chars)
        for one, of_words, of_text in zip(documents, words, text.tolist(), strict=True)
    ]


def passage_text_scores(one: Described, model: TextModel) -> Floats:
    """Return the text detector's log-odds of every passage of a document, each scored alone."""
    codes = one.codes.astype(np.uint32)
    return np.array([model.log_odds(codes[start:end]) for start, end in one.passages])


def rows_alone(
    documents: Sequence[Described], rows: Sequence[Floats], passage_text: Sequence[Floats]
) -> list[Floats]:
    """Return the inputs of every passage as if it were a file; ``rows``: its inputs within its file."""
    at = INPUTS.index("text_detector")
    found = []
    for one, of_file, of_text in zip(documents, rows, passage_text, strict=True):
        alone = alone_rows(of_file, one.passages)
        alone[:, at] = np.clip(of_text, -TEXT_RANGE, TEXT_RANGE)
        found.append(alone)
    return found


@dataclass(frozen=True, slots=True)
class Joint:
    """The joint model on raw inputs, and the mean inputs of documents without PHI."""

    weights: Floats
    intercept: float
    usual: Floats

    def score(self, rows: Floats) -> Floats:
        """Return the log-odds of each row."""
        return np.asarray(rows @ self.weights + self.intercept)


def fit_joint(rows: Sequence[Floats], is_phi: Flags, weights: Floats, learn: Ints) -> Joint:
    """Fit on the strongest passage of each document, selected again in every round."""
    learn = np.array([number for number in learn if len(rows[number])])
    at = {name: index for index, name in enumerate(INPUTS)}
    pick = {
        number: int(
            np.argmax(
                rows[number][:, at["words"]]
                + 2.5 * rows[number][:, at["person"]]
                + 2 * rows[number][:, at["name_by_health"]]
            )
        )
        for number in learn.tolist()
    }
    each = balanced(weights[learn], is_phi[learn])
    stacked = np.concatenate([rows[number] for number in learn.tolist()])
    for _ in range(N_ROUNDS):
        chosen = np.array([rows[number][pick[number]] for number in learn.tolist()])
        coefficients, intercept = fit_non_negative(chosen, is_phi[learn], each)
        scores = stacked @ coefficients
        first = 0
        for number in learn.tolist():
            last = first + len(rows[number])
            pick[number] = int(scores[first:last].argmax())
            first = last
    usual = np.average(chosen[~is_phi[learn]], axis=0, weights=each[~is_phi[learn]])
    return Joint(coefficients, intercept, usual)


def fit_non_negative(rows: Floats, is_phi: Flags, weights: Floats) -> tuple[Floats, float]:
    """Return weights and intercept of a ridge logistic regression; those of ``NON_NEGATIVE`` are >= 0."""
    mean, scale = rows.mean(axis=0), rows.std(axis=0) + 1e-6
    standard = np.column_stack([(rows - mean) / scale, np.ones(len(rows))])
    signs = np.where(is_phi, 1.0, -1.0)

    def loss(values: Floats) -> tuple[float, Floats]:
        margins = signs * (standard @ values)
        slope = standard.T @ (-weights * signs / (1.0 + np.exp(np.clip(margins, -40, 40))))
        slope[:-1] += JOINT_PENALTY * values[:-1]
        total = float((weights * np.logaddexp(0.0, -margins)).sum())
        return total + 0.5 * JOINT_PENALTY * float(values[:-1] @ values[:-1]), slope

    bounds: list[tuple[float | None, float | None]] = [
        (0.0, None) if name in NON_NEGATIVE else (None, None) for name in INPUTS
    ]
    bounds.append((None, None))
    found = minimize(loss, np.zeros(standard.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds).x
    coefficients = found[:-1] / scale
    return coefficients, float(found[-1] - (coefficients * mean).sum())


def document_scores(rows: Sequence[Floats], model: Joint) -> Floats:
    """Return the log-odds of each document: that of its strongest passage."""
    return np.array([float(model.score(row).max()) if len(row) else -15.0 for row in rows])
