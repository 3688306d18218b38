"""P(PHI): logistic regression over the named evidence of a document's strongest passage, in numpy alone.

Two layers: a hashed linear model computes the log-odds of the words and cues of a passage; a small logistic
regression combines them with the identifiers of the passage and the text detector. Both are trained on equal
numbers of texts with and without PHI, and calibrated on held-out families of texts. The configured prevalence
adjusts the intercept to the share.

Each passage is scored twice: within its file, and alone, as if it were a file. Alone, nothing around it
counts, so that text added to a file cannot lower the score of a passage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.decision.evidence import N_EVIDENCE, NAMES_OF_EVIDENCE, DocumentEvidence
from phiscan.decision.text_scores import TextScores
from phiscan.errors import ModelError
from phiscan.health.features import Window
from phiscan.health.patient_cues import weighted_sum
from phiscan.health.text_detector import arrays_of
from phiscan.health.word_hashes import N_BUCKETS, word_features
from phiscan.model import Span

Floats = npt.NDArray[np.float64]

MODEL_FILE: Final = Path(__file__).parent / "data" / "phi_probability.npz"
INPUTS: Final = (
    "words",
    *NAMES_OF_EVIDENCE,
    "length",
    "text_detector",
    "person",
    "person_and_words",
    "no_concept",
    "short_text",
)
# A short text with a name near a health term is a chat line, a caption or an entry; shorter ones weigh more.
SHORT_TEXT_CHARS: Final = 400
WORDS_RANGE: Final = 8.0  # log-odds of the words are clipped to this range
TEXT_RANGE: Final = 4.0
MAX_ALONE: Final = 200  # passages of one document that the text detector scores alone
JOINT_RANGE: Final = 4.0  # log-odds of the words in the interaction with a person
# Weight of each kind of evidence for a passage about one person; the maximum counts.
PERSON_WEIGHTS: Final = (
    ("full_name", 1.0),
    ("record_number", 1.0),
    ("birth_date", 0.8),
    ("name", 0.7),
)
_AT: Final = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
_OF_NAME: Final = [_AT[name] for name in ("full_name", "name", "name_by_health", "name_by_clinical")]
_MOST_LOG_ODDS: Final = 30.0
_TEXT, _SHORT = INPUTS.index("text_detector"), INPUTS.index("short_text")
_BY_HEALTH: Final = INPUTS.index("name_by_health")


@dataclass(frozen=True, slots=True)
class Judgement:
    """P(PHI) of a document, its strongest passage, and the contribution of each input to the log-odds.

    ``log_odds`` are at the configured prevalence; ``contributions`` are relative to the mean of texts without
    PHI, the largest first.
    """

    log_odds: float
    passage: Span | None
    contributions: tuple[tuple[str, float], ...] = ()
    message: str = ""  # the kind of message of care, if it is one

    @property
    def probability(self) -> float:
        """The probability, in (0, 1)."""
        return probability_of(self.log_odds)


def probability_of(log_odds: float) -> float:
    """Return the probability of log-odds.

    >>> probability_of(0.0)
    0.5
    """
    return 1.0 / (1.0 + math.exp(-max(min(log_odds, _MOST_LOG_ODDS), -_MOST_LOG_ODDS)))


def log_odds_of(probability: float) -> float:
    """Return the log-odds of a probability in (0, 1).

    >>> log_odds_of(0.5)
    0.0
    """
    return math.log(probability / (1.0 - probability))


def threshold_of(missed_file_cost: float) -> float:
    """Return the probability from which a review costs less than a missed file.

    A missed file costs as much as ``missed_file_cost`` reviews, so a file is worth reviewing when
    P * cost >= 1 - P.

    >>> threshold_of(49.0)
    0.02
    """
    return 1.0 / (1.0 + missed_file_cost)


@dataclass(frozen=True, slots=True)
class PhiModel:
    """The weights of both layers; ``prior`` are the log-odds of PHI on the share."""

    words: npt.NDArray[np.float32] = field(repr=False)
    cues: Mapping[str, float] = field(repr=False)
    words_intercept: float
    in_file: Joint = field(repr=False)  # for a passage in its file
    alone: Joint = field(repr=False)  # for a passage as if it were the file
    input_means: Floats = field(repr=False)  # over texts without PHI
    message_log_odds: float  # of a message of care, balanced
    version: str
    prior: float = 0.0

    def at_prevalence(self, prevalence: float) -> Self:
        """Return the model for a share with this prevalence of PHI."""
        return replace(self, prior=log_odds_of(prevalence))

    def words_log_odds(self, evidence: DocumentEvidence, window: Window) -> float:
        """Return the log-odds of the words and cues of a passage."""
        buckets, values = word_features(evidence.words, window.start, window.end)
        return self.words_intercept + float(self.words[buckets] @ values) + weighted_sum(self.cues, window)

    def highest(
        self, rows: Floats, passages: Sequence[tuple[int, int]], text: TextScores, message: str
    ) -> float:
        """Return the log-odds of the strongest of several passages, given as rows (passages, inputs).

        ``passages``: start and end of each. ``message``: the document's kind of message of care, "" if none.
        """
        total = -_MOST_LOG_ODDS / 2
        if len(rows):
            total = self._strongest(rows, passages, text)[0]
        return self.prior + (max(total, self.message_log_odds) if message else total)

    def judge(self, evidence: DocumentEvidence, text: TextScores, *, assume_name: bool = False) -> Judgement:
        """Return the probability of a document: that of its strongest passage.

        A passage is scored in its file, with the text detector's score of the whole text, and alone, as if it
        were the file; the higher score counts.

        ``text``: the text detector's scores. ``assume_name``: as if a full name were next to a health term in
        every passage.
        """
        if not evidence.passages:
            return Judgement(self.prior - _MOST_LOG_ODDS / 2, None)
        rows = np.array(
            [self._inputs(evidence, passage, text.document, assume_name) for passage in evidence.passages]
        )
        total, best, joint, row = self._strongest(rows, evidence.passages, text)
        if evidence.message:
            total = max(total, self.message_log_odds)
        parts = joint.weights * (row - self.input_means)
        order = np.argsort(-np.abs(parts), kind="stable").tolist()
        return Judgement(
            log_odds=total + self.prior,
            passage=Span(*evidence.passages[best]),
            contributions=tuple((INPUTS[index], round(float(parts[index]), 3)) for index in order),
            message=evidence.message,
        )

    def _strongest(
        self, rows: Floats, passages: Sequence[tuple[int, int]], text: TextScores
    ) -> tuple[float, int, Joint, Floats]:
        """Return the highest log-odds of any passage, its index, and the regression and inputs of that score.

        The text detector scores a passage alone only if its highest possible score would make that passage
        the strongest.
        """
        in_file = self.in_file.log_odds(rows)
        best = int(in_file.argmax())
        found = float(in_file[best]), best, self.in_file, rows[best]
        alone = alone_rows(rows, passages)
        alone[:, _TEXT] = TEXT_RANGE
        bounds = self.alone.log_odds(alone)
        for index in np.argsort(-bounds, kind="stable")[:MAX_ALONE].tolist():
            if bounds[index] <= found[0]:
                break
            alone[index, _TEXT] = clip(text.passage(*passages[index]), TEXT_RANGE)
            log_odds = float(self.alone.log_odds(alone[index]))
            if log_odds > found[0]:
                found = log_odds, index, self.alone, alone[index]
        return found

    def _inputs(
        self,
        evidence: DocumentEvidence,
        passage: tuple[int, int],
        text: float,
        assume_name: bool,
    ) -> Floats:
        window = evidence.window(*passage)
        words, vector = self.words_log_odds(evidence, window), evidence.vector(window)
        if assume_name:
            vector[_OF_NAME] = 1.0
        return inputs_of(words, vector, passage[1] - passage[0], text, len(evidence.document.text))


@dataclass(frozen=True, slots=True)
class Joint:
    """Calibrated logistic regression over ``INPUTS``: weights and intercept, at a prevalence of one half."""

    weights: Floats
    intercept: float

    def log_odds(self, rows: Floats) -> Floats:
        """Return the log-odds of rows of inputs, shape (passages, inputs)."""
        return np.asarray(rows @ self.weights + self.intercept)


def clip(value: float, limit: float) -> float:
    """Return a value clipped to ``[-limit, limit]``."""
    return max(min(value, limit), -limit)


def inputs_of(words: float, vector: Floats, n_chars: int, text_log_odds: float, n_text_chars: int) -> Floats:
    """Return the inputs of the second layer, in the order of ``INPUTS``.

    ``n_chars``: of the passage; ``n_text_chars``: of the whole text.
    """
    person = max(weight * float(vector[_AT[name]] > 0) for name, weight in PERSON_WEIGHTS)
    row = np.empty(len(INPUTS))
    row[0], row[1 : 1 + N_EVIDENCE] = clip(words, WORDS_RANGE), vector
    row[1 + N_EVIDENCE :] = (
        math.log1p(n_chars / 100),
        clip(text_log_odds, TEXT_RANGE),
        person,
        person * clip(words, JOINT_RANGE),
        float(vector[_AT["concepts"]] == 0),
        float(vector[_AT["name_by_health"]]) * max(0.0, 1.0 - n_text_chars / SHORT_TEXT_CHARS),
    )
    return row


def alone_rows(rows: Floats, passages: Sequence[tuple[int, int]]) -> Floats:
    """Return the inputs of passages as if each were a file, except for the text detector's score.

    ``rows``: the inputs within their file, shape (passages, inputs); ``passages``: start and end of each.
    """
    found = rows.copy()
    lengths = np.array([end - start for start, end in passages], dtype=float)
    found[:, _SHORT] = rows[:, _BY_HEALTH] * np.maximum(0.0, 1.0 - lengths / SHORT_TEXT_CHARS)
    return found


def load_phi_model(path: Path = MODEL_FILE) -> PhiModel:
    """Read the weights.

    Raises:
        ModelError: names the file and what was expected.
    """
    with arrays_of(path, "a model of P(PHI)") as file:
        words = file["words"].astype(np.float32)
        cues = dict(zip(file["cue_names"].tolist(), file["cues"].tolist(), strict=True))
        names: Sequence[str] = file["inputs"].tolist()
        in_file, alone, input_means = (file[name].astype(float) for name in ("in_file", "alone", "usual"))
        constants = dict(zip(file["constant_names"].tolist(), file["constants"].tolist(), strict=True))
        version = str(file["version"])
    if tuple(names) != INPUTS or words.shape != (N_BUCKETS,):
        message = f"{path}: inputs: expected those of this version of phiscan"
        raise ModelError(message)
    if not all(np.isfinite(part).all() for part in (words, in_file, alone, input_means)):
        message = f"{path}: weights: expected finite numbers"
        raise ModelError(message)
    return PhiModel(
        words=words,
        cues=cues,
        words_intercept=constants["words_intercept"],
        in_file=Joint(in_file, constants["in_file_intercept"]),
        alone=Joint(alone, constants["alone_intercept"]),
        input_means=input_means,
        message_log_odds=constants["message_log_odds"],
        version=version,
    )
