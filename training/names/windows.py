"""Labelled passages on which the LSTM is trained: features of tokens, in windows of few sizes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from phiscan.screen.ner.features import REACH, Lexicon, Stream
from phiscan.screen.ner.lstm import WINDOW
from training.names.examples import MIN_WORD_DOCUMENTS, Unit

UNLABELLED: Final = -1
_HALVINGS: Final = (
    3  # number of smaller window sizes (halvings) that passages are padded to; each is compiled
)


@dataclass(frozen=True)
class LstmSettings:
    """The hyperparameters of the LSTM."""

    window: int = WINDOW  # tokens of a passage, as the program reads it
    n_draws: int = 4  # times that the texts are generated, each with other names and case
    n_epochs: int = 8  # epoch n uses draw n modulo n_draws
    n_dims: int = 48
    n_hidden: int = 96
    min_feature_tokens: int = 60  # a feature of fewer tokens is left out
    min_feature_documents: int = MIN_WORD_DOCUMENTS  # as is one of fewer documents
    dropout: float = 0.3  # of a token's vector, and of the hidden states
    feature_dropout: float = 0.1
    batch_tokens: int = 2048
    learn_rate: float = 0.003
    warmup_steps: int = 300  # the learning rate increases over these, then decreases
    average: float = 0.998  # factor of the running average of the weights over the steps


class Window(NamedTuple):
    """A part of a document, in tokens."""

    document: int
    start: int
    end: int


@dataclass
class Passages:
    """Labelled tokens of documents, as training data of the LSTM."""

    labels: dict[str, int] = field(default_factory=dict)  # with their numbers in ``wanted``
    features: dict[tuple[str, ...], int] = field(default_factory=dict, repr=False)  # of a token: its number
    n_documents: Counter[str] = field(default_factory=Counter, repr=False)  # of the first draw, by feature
    tokens: list[npt.NDArray[np.int32]] = field(default_factory=list, repr=False)  # numbers, per document
    wanted: list[npt.NDArray[np.int8]] = field(default_factory=list, repr=False)  # labels, per document
    draws: list[int] = field(default_factory=lambda: [0])  # first document of each draw of the texts

    def draw(self) -> None:
        """Begin another draw of the texts. Only the first one counts for the frequency of features."""
        self.draws.append(len(self.tokens))

    def add(self, learned: Iterable[Unit], stream: Stream, lexicon: Lexicon) -> None:
        """Add a document: the features of all tokens, and the labels of those in ``learned`` units."""
        wanted = np.full(len(stream.sizes), UNLABELLED, dtype=np.int8)
        for unit in learned:
            for token, label in zip(unit.tokens, unit.labels, strict=True):
                wanted[token] = self.labels.setdefault(label, len(self.labels))
        rows = stream.rows[REACH : len(stream.rows) - REACH]
        unique_rows, row_of = np.unique(rows, return_inverse=True)
        numbers = []
        met: set[str] = set()
        for row in unique_rows.tolist():
            names = lexicon.names_here(row)
            numbers.append(self.features.setdefault(names, len(self.features)))
            met.update(names)
        if len(self.draws) == 1:
            self.n_documents.update(met)
        self.tokens.append(np.array(numbers, dtype=np.int32)[row_of])
        self.wanted.append(wanted)

    def names(self, settings: LstmSettings) -> tuple[str, ...]:
        """Return the frequent features, so that no text can be recovered from the weights."""
        first = np.concatenate(self.tokens[slice(*self._bounds(0))])
        n_tokens = np.bincount(first, minlength=len(self.features)).tolist()
        count: Counter[str] = Counter()
        for names, number in self.features.items():
            for name in names:
                count[name] += n_tokens[number]
        least = settings.min_feature_documents
        enough = (name for name, n in self.n_documents.items() if n >= least)
        return tuple(sorted(name for name in enough if count[name] >= settings.min_feature_tokens))

    def table(self, names: Sequence[str]) -> npt.NDArray[np.int32]:
        """Return the feature numbers of every distinct token, padded with 0; the last row is padding."""
        row = {name: number for number, name in enumerate(names, start=1)}
        table = np.zeros((len(self.features) + 1, max(map(len, self.features), default=1)), dtype=np.int32)
        for has, number in self.features.items():
            found = [row[name] for name in has if name in row]
            table[number, : len(found)] = found
        return table

    def batches(
        self, settings: LstmSettings, chance: Random, draw: int
    ) -> Iterator[tuple[int, list[Window]]]:
        """Yield batches of windows of a draw, shuffled, with the size to which they are padded.

        Long documents are cut at a random offset.
        """
        whole = settings.window
        by_size: dict[int, list[Window]] = {whole >> n: [] for n in range(_HALVINGS, -1, -1)}
        for number in range(*self._bounds(draw)):
            tokens = self.tokens[number]
            first = -chance.randrange(whole // 2) if len(tokens) > whole else 0
            for start in range(first, len(tokens), whole):
                window = Window(number, max(start, 0), min(start + whole, len(tokens)))
                by_size[next(size for size in by_size if size >= window.end - window.start)].append(window)
        batches = []
        for size, windows in by_size.items():
            chance.shuffle(windows)
            together = settings.batch_tokens // size
            batches += [(size, windows[i : i + together]) for i in range(0, len(windows), together)]
        chance.shuffle(batches)
        yield from batches

    def _bounds(self, draw: int) -> tuple[int, int]:
        """Return the first document of a draw and the one after its last."""
        return self.draws[draw], [*self.draws[1:], len(self.tokens)][draw]

    def arrays(
        self, size: int, windows: Sequence[Window], settings: LstmSettings
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int8]]:
        """Return the numbers of tokens and their labels, (size, b), padded to a fixed batch size."""
        shape = (size, settings.batch_tokens // size)
        tokens = np.full(shape, len(self.features), dtype=np.int32)
        wanted = np.full(shape, UNLABELLED, dtype=np.int8)
        for column, (document, start, end) in enumerate(windows):
            tokens[: end - start, column] = self.tokens[document][start:end]
            wanted[: end - start, column] = self.wanted[document][start:end]
        return tokens, wanted
