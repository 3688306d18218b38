"""The name tagger's model: a random field and a reader of passages, weighed against each other.

The field knows words and their next neighbours well, and gives the same answer wherever a line stands; the
reader knows what a passage is about. Their errors differ: what both say together is better than either
(docs/decisions/0048).
"""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Self

import numpy as np

from phiscan.errors import ModelError
from phiscan.screen.ner.crf import TaggerModel
from phiscan.screen.ner.features import Stream
from phiscan.screen.ner.lstm import WEIGHTS, PassageReader
from phiscan.screen.ner.tokens import Ints, Kinds
from phiscan.screen.ner.viterbi import Floats, decode, marginals

FIELD_SHARE = 0.5  # what the field's scores are multiplied by
READER_SHARE = 0.7  # and the reader's
OUTSIDE = "O"  # the label of a token of no name
_NEVER = -50.0  # the score of a step to the inside of a name that has not begun


class NameModel:
    """Labels for the tokens of a text, by both."""

    def __init__(self, field: TaggerModel, reader: PassageReader) -> None:
        self._field = field
        self._reader = reader
        self.lexicon = field.lexicon
        self.labels = field.labels
        self._transition = FIELD_SHARE * field.transition
        for row, before in enumerate(self.labels):
            for column, label in enumerate(self.labels):
                if label.startswith("I-") and before[2:] != label[2:]:
                    self._transition[row, column] = _NEVER
        self._outside = self.labels.index(OUTSIDE)
        stays = self._transition[self._outside, self._outside]
        self._least_gain = 2 * float(stays - self._transition.max())

    @classmethod
    def load(cls, kinds: Kinds, folder: Traversable | None = None) -> Self:
        """Read the weights of the package (or of ``folder``).

        Raises:
            ModelError: a file is missing, damaged or of another version; names the file.
        """
        field, reader = TaggerModel.load(kinds, folder), PassageReader.load(folder)
        if reader.labels != field.labels:
            message = f"{WEIGHTS}: expected the labels of the weights beside it, {', '.join(field.labels)}"
            raise ModelError(message)
        return cls(field, reader)

    def emission(self, stream: Stream) -> Floats:
        """Return the score of every label at every token of the units, (n, L)."""
        score: Floats = FIELD_SHARE * self._field.emission(stream)
        score += READER_SHARE * self._reader.logits(self.lexicon, stream)[stream.units.index]
        return score

    def path(self, scores: Floats, starts: Ints, lengths: Ints) -> Ints:
        """Return the best label of every token of units, (n,).

        Most units of prose need no search. k tokens of a name have at most k + 1 steps to, in and from them,
        and no step gains more over staying outside than the best one does: where every token of a unit lacks
        more than two such gains, its best path stays outside.
        """
        gains = np.delete(scores, self._outside, axis=1).max(axis=1) - scores[:, self._outside]
        searched = np.maximum.reduceat(gains, starts) >= self._least_gain
        inside, kept = np.repeat(searched, lengths), lengths[searched]
        labels = np.full(len(scores), self._outside, dtype=np.int64)
        labels[inside] = decode(scores[inside], self._transition, np.cumsum(kept) - kept, kept)
        return labels

    def probabilities(self, emission: Floats, starts: Ints, lengths: Ints) -> Floats:
        """Return the probability of every label at every token of units, (n, L)."""
        return marginals(emission, self._transition, starts, lengths)
