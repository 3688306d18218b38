"""P(PHI): logistic regression over the named evidence of a document's strongest passage, in numpy alone.

Two layers. A hashed linear model gives the log-odds of the words and cues of a passage; a small logistic
regression joins them with the identifiers of the passage and the text detector. Both are learned from texts
with and without PHI, as many of the one as of the other, and calibrated on families of texts that were left
out. The stated prevalence turns this into a probability on a share.

Each passage is judged twice: within its file, and by itself, as if it were a file. By itself nothing around
it counts, so that text added to a file cannot withdraw what a passage of it says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.decision.decided_examples import MESSAGE
from phiscan.decision.evidence import N_EVIDENCE, NAMES_OF_EVIDENCE, DocumentEvidence, counts_in
from phiscan.decision.reasons import applies
from phiscan.errors import ModelError
from phiscan.health.patient_classifier import log_odds_of, weighted_sum
from phiscan.health.text_detector import TextScores, arrays_of
from phiscan.health.word_hashes import N_BUCKETS, passage_features
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
# A short text with a name by a health term is a chat line, a caption or an entry; a shorter one counts more.
SHORT_TEXT_CHARS: Final = 400
WORDS_RANGE: Final = 8.0  # log-odds of the words are clipped to this range
TEXT_RANGE: Final = 4.0
MAX_ALONE: Final = 200  # passages of one document that the text detector reads by themselves
JOINT_RANGE: Final = 4.0  # log-odds of the words, where they are joined with a person
# How surely each kind of evidence says that a passage is about one person; the strongest counts.
PERSON_WEIGHTS: Final = (
    ("full_name", 1.0),
    ("record_number", 1.0),
    ("birth_date", 0.8),
    ("name", 0.7),
)
_AT: Final = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
_MOST_LOG_ODDS: Final = 30.0
_TEXT, _SHORT = INPUTS.index("text_detector"), INPUTS.index("short_text")
_BY_HEALTH: Final = INPUTS.index("name_by_health")


@dataclass(frozen=True, slots=True)
class Judgement:
    """How likely a document is PHI, by which passage, and what each input added to the log-odds.

    ``log_odds`` are those on a share of the stated prevalence; ``contributions`` are measured from the mean
    of texts without PHI, the strongest first, without those that no sentence can state (``reasons.applies``).
    """

    log_odds: float
    passage: Span | None
    contributions: tuple[tuple[str, float], ...] = ()
    message: str = ""  # which kind of message of care the document is, if it is one
    parts: tuple[tuple[str, float], ...] = ()  # what each input added, the lift of a message among them


def threshold_of(missed_file_cost: float) -> float:
    """Return the probability from which review costs less than a miss.

    A missed file costs as many minutes as ``missed_file_cost`` reviews, so that a file is worth reviewing
    when P * cost >= 1 - P.

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
    in_file: Joint = field(repr=False)  # judges a passage in its file
    alone: Joint = field(repr=False)  # judges a passage as if it were the file
    usual: Floats = field(repr=False)  # the mean of each input over texts without PHI
    message_log_odds: float  # of a message of care, balanced
    version: str
    prior: float = 0.0

    def at_prevalence(self, prevalence: float) -> Self:
        """Return the model for a share of which this part holds PHI."""
        return replace(self, prior=log_odds_of(prevalence))

    def inputs(self, evidence: DocumentEvidence) -> PassageInputs:
        """Return the inputs of all passages of a document, but for what the text detector says of it."""
        windows = evidence.windows()
        starts = np.array([window.start for window in windows], dtype=np.int64)
        ends = np.array([window.end for window in windows], dtype=np.int64)
        features = passage_features(evidence.words, starts, ends)
        words = [
            self.words_intercept + float(self.words[buckets] @ values) + weighted_sum(self.cues, window)
            for window, (buckets, values) in zip(windows, features, strict=True)
        ]
        vectors = evidence.vectors(windows)
        return PassageInputs(
            evidence.passages,
            np.array(words),
            vectors,
            counts_in(evidence.health_places(), starts, ends) > 0,
            len(evidence.document.text),
            evidence.message,
            *evidence.with_sender(vectors),
        )

    def reaches(
        self, least: float, rows: Floats, places: Sequence[tuple[int, int]], text: TextScores, message: str
    ) -> bool:
        """Tell whether the strongest of some passages, shape (passages, inputs), has these log-odds or more.

        ``places``: where each begins and ends. ``message``: which kind of message of care their document is,
        "" if it is none.
        """
        least -= self.prior
        if message and self.message_log_odds >= least:
            return True
        total = self.strongest(rows, places, text, least)[0].log_odds if len(rows) else -_MOST_LOG_ODDS / 2
        return total >= least

    def judge(
        self,
        inputs: PassageInputs,
        text: TextScores,
        *,
        encode: Callable[[Strong], tuple[float, float]] | None = None,
    ) -> Judgement:
        """Return the probability of a document: that of its strongest passage.

        A passage is judged in its file, where what the text detector says of the whole counts, and alone, as
        if it were the file; the higher of both counts.

        ``text``: what the text detector says. ``encode``: what the encoder says of a passage, and what that
        adds to its log-odds.
        """
        if not inputs.places:
            return Judgement(self.prior - _MOST_LOG_ODDS / 2, None)
        read = [
            (one, *((0.0, 0.0) if encode is None else encode(one)))
            for one in self.candidates(inputs, text, is_sent=encode is not None)
        ]
        read = [(one, encoded, change) for one, encoded, change in read if encoded > 0 or not one.is_sent]
        best, encoded, change = max(read, key=lambda item: item[0].log_odds + item[2])
        strongest = best.log_odds + change
        total = max(strongest, self.message_log_odds) if inputs.message else strongest
        row, parts = best.row, best.joint.weights * (best.row - self.usual)
        found = [
            (name, round(part, 3))
            for name, value, part in zip(
                (*INPUTS, "encoder"), (*row.tolist(), encoded), (*parts.tolist(), change), strict=True
            )
            if applies(name, value, part)
        ]
        start, end = inputs.places[best.index]
        return Judgement(
            log_odds=total + self.prior,
            passage=Span(min(start, int(inputs.senders[best.index])) if best.is_sent else start, end),
            contributions=tuple(sorted(found, key=lambda item: -abs(item[1]))),
            message=inputs.message,
            parts=(
                *zip(INPUTS, parts.tolist(), strict=True),
                ("encoder", change),
                (MESSAGE, total - strongest),
            ),
        )

    def candidates(self, inputs: PassageInputs, text: TextScores, *, is_sent: bool) -> list[Strong]:
        """Return the strongest passages of a document that has any, in their file or alone.

        ``is_sent``: also those with the sender of a message as a person named in it. These count where the
        encoder says that they tell of a person's health; by themselves they would refer every sender.
        """
        found = self.strongest(inputs.rows(inputs.vectors, text.document), inputs.places, text)
        if is_sent and (inputs.senders >= 0).any():
            rows = inputs.rows(inputs.sent, text.document)
            sent = self.strongest(rows, inputs.places, text)
            found += [replace(one, is_sent=True) for one in sent if inputs.senders[one.index] >= 0]
        return found

    def strongest(
        self, rows: Floats, places: Sequence[tuple[int, int]], text: TextScores, least: float | None = None
    ) -> list[Strong]:
        """Return the passage with the highest log-odds, then the highest of those that do not overlap it.

        The text detector reads a passage by itself only where its highest possible score would make that
        passage the strongest. ``least``: only whether any passage has as much is asked, so that it stops at
        the first that has, and reads none that cannot have it.
        """
        in_file = self.in_file.log_odds(rows)
        best = int(in_file.argmax())
        found = Strong(float(in_file[best]), best, self.in_file, rows[best])
        if least is not None and found.log_odds >= least:
            return [found]
        alone = alone_rows(rows, places)
        alone[:, _TEXT] = TEXT_RANGE
        bounds = self.alone.log_odds(alone)
        for index in np.argsort(-bounds, kind="stable")[:MAX_ALONE].tolist():
            if bounds[index] <= found.log_odds or (
                least is not None and not found.log_odds < least <= bounds[index]
            ):
                break
            alone[index, _TEXT] = clip(text.passage(*places[index]), TEXT_RANGE)
            log_odds = float(self.alone.log_odds(alone[index]))
            if log_odds > found.log_odds:
                found = Strong(log_odds, index, self.alone, alone[index])
        low, high = places[found.index]
        apart = [index for index, (start, end) in enumerate(places) if end <= low or start >= high]
        if not apart:
            return [found]
        second = max(apart, key=lambda index: float(in_file[index]))
        return [found, Strong(float(in_file[second]), second, self.in_file, rows[second])]


@dataclass(frozen=True, slots=True)
class Strong:
    """A strong passage: its log-odds, its number, and the judge and the inputs that gave them."""

    log_odds: float
    index: int
    joint: Joint
    row: Floats = field(repr=False)
    is_sent: bool = False  # the sender of its message counts as a person named in it

    @property
    def evidence(self) -> Floats:
        """The evidence of the passage, as ``NAMES_OF_EVIDENCE`` orders it."""
        return self.row[1 : 1 + N_EVIDENCE]


@dataclass(frozen=True, slots=True)
class Joint:
    """Calibrated logistic regression over ``INPUTS``: weights and intercept, both sides equally frequent."""

    weights: Floats
    intercept: float

    def log_odds(self, rows: Floats) -> Floats:
        """Return the log-odds of rows of inputs, shape (passages, inputs)."""
        return np.asarray(rows @ self.weights + self.intercept)


def clip(value: float, most: float) -> float:
    """Return a value clipped to ``[-most, most]``."""
    return max(min(value, most), -most)


@dataclass(frozen=True, slots=True)
class PassageInputs:
    """What P(PHI) is computed from, of all passages of one document; arrays have a row for each passage."""

    places: tuple[tuple[int, int], ...]  # where each begins and ends
    words: Floats = field(repr=False)  # log-odds of the words and cues
    vectors: Floats = field(repr=False)  # shape (passages, evidence)
    names_health: npt.NDArray[np.bool_] = field(repr=False)  # to their log-odds alone the encoder may add
    n_text_chars: int
    message: str  # which kind of message of care the document is, "" if it is none
    sent: Floats = field(repr=False)  # the vectors with the sender of a message as a person named in it
    senders: npt.NDArray[np.int64] = field(repr=False)  # where that name is, -1 where there is none

    def rows(self, vectors: Floats, text_log_odds: float) -> Floats:
        """Return the inputs of the second layer with this evidence, in the order of ``INPUTS``."""
        lengths = np.array([math.log1p((end - start) / 100) for start, end in self.places])
        return inputs_of(self.words, vectors, lengths, text_log_odds, self.n_text_chars)


def inputs_of(
    words: Floats, vectors: Floats, lengths: Floats, text_log_odds: float, n_text_chars: int
) -> Floats:
    """Return the inputs of the second layer, shape (passages, inputs), in the order of ``INPUTS``.

    ``lengths``: log(1 + characters / 100) of each passage; ``n_text_chars``: of the whole text.
    """
    rows = np.empty((len(words), len(INPUTS)))
    person = np.max([weight * (vectors[:, _AT[name]] > 0) for name, weight in PERSON_WEIGHTS], axis=0)
    rows[:, 0] = np.clip(words, -WORDS_RANGE, WORDS_RANGE)
    rows[:, 1 : 1 + N_EVIDENCE] = vectors
    after = 1 + N_EVIDENCE
    rows[:, after] = lengths
    rows[:, after + 1] = clip(text_log_odds, TEXT_RANGE)
    rows[:, after + 2] = person
    rows[:, after + 3] = person * np.clip(words, -JOINT_RANGE, JOINT_RANGE)
    rows[:, after + 4] = vectors[:, _AT["concepts"]] == 0
    rows[:, after + 5] = vectors[:, _AT["name_by_health"]] * max(0.0, 1.0 - n_text_chars / SHORT_TEXT_CHARS)
    return rows


def alone_rows(rows: Floats, places: Sequence[tuple[int, int]]) -> Floats:
    """Return the inputs of passages as if each were a file, but for what the text detector says of it.

    ``rows``: the inputs within their file, shape (passages, inputs); ``places``: begin and end of each.
    """
    found = rows.copy()
    lengths = np.array([end - start for start, end in places], dtype=float)
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
        in_file, alone, usual = (file[name].astype(float) for name in ("in_file", "alone", "usual"))
        constants = dict(zip(file["constant_names"].tolist(), file["constants"].tolist(), strict=True))
        version = str(file["version"])
    if tuple(names) != INPUTS or words.shape != (N_BUCKETS,):
        raise ModelError(path, "inputs: expected those of this version of phiscan")
    if not all(np.isfinite(part).all() for part in (words, in_file, alone, usual)):
        raise ModelError(path, "weights: expected finite numbers")
    return PhiModel(
        words=words,
        cues=cues,
        words_intercept=constants["words_intercept"],
        in_file=Joint(in_file, constants["in_file_intercept"]),
        alone=Joint(alone, constants["alone_intercept"]),
        usual=usual,
        message_log_odds=constants["message_log_odds"],
        version=version,
    )
