"""The model of the name tagger: the weighted sum of the scores of a conditional random field and of an LSTM.

The field knows words and their neighbours, and scores a line alike wherever it is; the LSTM sees the topic
of a passage. Their errors differ, so that the sum is better than either (docs/decisions/0016).
"""

from __future__ import annotations

from importlib.resources.abc import Traversable
from typing import Self

import numpy as np

from phiscan.errors import ModelError
from phiscan.screen.ner.crf import ConditionalRandomField
from phiscan.screen.ner.features import Stream
from phiscan.screen.ner.lstm import WEIGHTS, BidirectionalLstm
from phiscan.screen.ner.tokens import Ints, Kinds
from phiscan.screen.ner.viterbi import Floats, decode, marginals

CRF_WEIGHT = 0.5  # of the scores of the field
LSTM_WEIGHT = 0.7  # of those of the LSTM
OUTSIDE = "O"  # the label of a token outside names
_FORBIDDEN = -50.0  # the score of a transition to the inside of a name that has not begun


class TaggerEnsemble:
    """Text to labels by both models."""

    def __init__(self, field: ConditionalRandomField, lstm: BidirectionalLstm) -> None:
        self._field = field
        self._lstm = lstm
        self.lexicon = field.lexicon
        self.labels = field.labels
        self._transition = CRF_WEIGHT * field.transition
        for row, before in enumerate(self.labels):
            for column, label in enumerate(self.labels):
                if label.startswith("I-") and before[2:] != label[2:]:
                    self._transition[row, column] = _FORBIDDEN
        self._outside = self.labels.index(OUTSIDE)
        stays = self._transition[self._outside, self._outside]
        self._least_gain = 2 * float(stays - self._transition.max())

    @classmethod
    def load(cls, kinds: Kinds, folder: Traversable | None = None) -> Self:
        """Read the weights of the package (or of ``folder``).

        Raises:
            ModelError: a file is missing, damaged or of another version; names the file.
        """
        field, lstm = ConditionalRandomField.load(kinds, folder), BidirectionalLstm.load(folder)
        if lstm.labels != field.labels:
            raise ModelError(
                WEIGHTS, f"expected the labels of the weights beside it, {', '.join(field.labels)}"
            )
        return cls(field, lstm)

    def emission(self, stream: Stream) -> Floats:
        """Return the score of every label at every token of the units, (n, L)."""
        score: Floats = CRF_WEIGHT * self._field.emission(stream)
        score += LSTM_WEIGHT * self._lstm.logits(self.lexicon, stream)[stream.units.index]
        return score

    def paths(self, emission: Floats, biases: Floats, starts: Ints, lengths: Ints) -> Ints:
        """Return the best labels of every token of units under each of k biases, (k, n).

        ``biases``: (k, L), added to the scores of the labels; zero for a token outside names.

        Most units of prose need no search. k tokens of a name have at most k + 1 transitions to, in and from
        them, and none gains more over staying outside than the best transition: where every token of a unit
        lacks more than two such gains, its best path stays outside.
        """
        highest = emission + biases.max(axis=0)
        gains = np.delete(highest, self._outside, axis=1).max(axis=1) - emission[:, self._outside]
        searched = np.maximum.reduceat(gains, starts) >= self._least_gain
        inside, chosen = np.repeat(searched, lengths), np.tile(lengths[searched], len(biases))
        # All paths in one batch: in short texts, the cost of decoding is the number of its steps.
        scores = (emission[inside] + biases[:, None]).reshape(-1, emission.shape[1])
        best = decode(scores, self._transition, np.cumsum(chosen) - chosen, chosen)
        labels = np.full((len(biases), len(emission)), self._outside, dtype=np.int64)
        labels[:, inside] = best.reshape(len(biases), -1)
        return labels

    def probabilities(self, emission: Floats, starts: Ints, lengths: Ints) -> Floats:
        """Return the probability of every label at every token of units, (n, L)."""
        return marginals(emission, self._transition, starts, lengths)
