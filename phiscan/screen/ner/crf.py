"""A linear-chain conditional random field over the tokens of a text, trained by CRFsuite (Okazaki, 2007).

The weights are read from .npz and JSON (no pickle), and the scores computed by numpy. Those of word features
are summed once per word and cached; a context feature is one table look-up per token and template.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Self

import numpy as np
import numpy.typing as npt

from phiscan.errors import DAMAGED_ARRAYS, ModelError
from phiscan.screen.ner.features import OFFSETS, REACH, TEMPLATES, Inventory, Lexicon, Stream
from phiscan.screen.ner.tokens import Ints, Kinds
from phiscan.screen.ner.viterbi import Floats, decode

FORMAT = 2


class ConditionalRandomField:
    """Text to the scores of labels at every token, as CRFsuite computes them."""

    def __init__(
        self,
        *,
        kinds: Kinds,
        inventory: Inventory,
        labels: tuple[str, ...],
        transition: Floats,
        weight: Floats,
        names: dict[str, int],
        codes: Ints,
        templates: Ints,
    ) -> None:
        """Take the weights.

        ``weight``: (f, L), the first rows those of word features (``names`` gives the row), then one row per
        context feature; ``codes`` and ``templates``: of those further rows, in order.
        """
        self.lexicon = Lexicon(kinds, inventory)
        self.labels = labels
        self.transition = transition
        self._own, self._around = _word_weights(names, weight)
        self._context_weights = np.concatenate(
            (np.zeros((1, len(labels)), dtype=np.float32), weight[len(names) :])
        )
        self._tables: list[npt.NDArray[np.int32]] = []
        for number, size in enumerate(self.lexicon.sizes()):
            table = np.zeros(size, dtype=np.int32)
            chosen = np.flatnonzero(templates == number)
            table[codes[chosen]] = 1 + chosen
            self._tables.append(table)
        self._generation = 0
        self._forget()

    @classmethod
    def load(cls, kinds: Kinds, folder: Traversable | None = None) -> Self:
        """Read ``names.npz`` and ``names.json`` of the package (or of ``folder``).

        Raises:
            ModelError: a file is missing, damaged or of another version; names the file.
        """
        folder = folder or resources.files("phiscan.screen") / "data"
        try:
            card = json.loads((folder / "names.json").read_text(encoding="utf-8"))
            with (folder / "names.npz").open("rb") as stream, np.load(stream, allow_pickle=False) as arrays:
                data = {name: arrays[name] for name in arrays.files}
            if card["format"] != FORMAT:
                message = f"{folder}/names.json: expected format {FORMAT}"
                raise ModelError(message)
            texts = {key: data[key].tobytes().decode("utf-8") for key in ("names", "words", "fine", "coarse")}
            names = {name: row for row, name in enumerate(texts["names"].split("\0"), start=1)}
            return cls(
                kinds=kinds,
                inventory=Inventory(
                    tuple(texts["words"].split("\0")),
                    tuple(texts["fine"].split("\0")),
                    tuple(texts["coarse"].split("\0")),
                ),
                labels=tuple(card["labels"]),
                transition=data["transition"].astype(np.float32),
                weight=_unpacked(data["given"], data["weight"], len(names) + len(data["codes"])),
                names=names,
                codes=data["codes"].astype(np.int64),
                templates=data["templates"].astype(np.int64),
            )
        except DAMAGED_ARRAYS as error:
            raise ModelError(
                folder, f"expected names.npz and names.json of the name tagger: {type(error).__name__}"
            ) from None

    def _forget(self) -> None:
        self._generation = self.lexicon.generation
        self._n_known = 0
        self._scores = np.zeros((4096, len(OFFSETS), len(self.labels)), dtype=np.float32)

    def _score_new(self) -> None:
        """Sum the weights of the features of the entries of the lexicon that are new."""
        if self._generation != self.lexicon.generation:
            self._forget()
        first, end = self._n_known, len(self.lexicon.entries)
        if first == end:
            return
        while end > len(self._scores):
            self._scores = np.concatenate((self._scores, np.zeros_like(self._scores)))
        features = [self.lexicon.features(entry) for entry in range(first, end)]
        self._scores[first:end] = self._around.sums([near for _, near, _ in features])
        self._scores[first:end, REACH] = self._own.sums([here for here, _, _ in features])
        self._n_known = end

    def emission(self, stream: Stream) -> Floats:
        """Return the score of every label at every token of the units, (n, L)."""
        self._score_new()
        index = stream.units.index
        total: Floats = self._scores[stream.entries[index + REACH], REACH]
        for place in range(len(OFFSETS)):
            if place != REACH:
                total += self._scores[stream.entries[index + place], place]
        for number in range(len(TEMPLATES)):
            total += self._context_weights[self._tables[number][stream.codes[number, index]]]
        return total

    def best(self, stream: Stream, emission: Floats) -> Ints:
        """Return the label that CRFsuite would give every token of the units, (n,)."""
        return decode(emission, self.transition, stream.units.starts, stream.units.lengths)


@dataclass(frozen=True, eq=False)
class _Weights:
    """The weights of features by their names; row 0 is of those that have none."""

    rows: dict[str, int] = field(repr=False)
    weights: Floats = field(repr=False)  # (1 + rows, ...)

    def sums(self, features: Sequence[Sequence[str]]) -> Floats:
        """Return the sum of the weights of each item, (items, ...); every item has a feature."""
        # One sum over all: a sum for each item costs more than its numbers.
        starts = np.cumsum([0, *map(len, features[:-1])])
        rows = [self.rows.get(name, 0) for names in features for name in names]
        sums: Floats = np.add.reduceat(self.weights[rows], starts, axis=0)
        return sums


def _word_weights(names: dict[str, int], weight: Floats) -> tuple[_Weights, _Weights]:
    """Return the weights of word features at the word itself, (rows, L), and around it, (rows, offsets, L).

    ``names``: of features with their offsets, and their rows, from 1, in ``weight`` (f, L).
    """
    own: dict[str, int] = {}
    around: dict[str, int] = {}
    own_rows, around_rows, offsets = [0], [], []
    for name, row in names.items():
        n_chars = 2 if name.startswith("-") else 1
        offset, feature = int(name[:n_chars]), name[n_chars:]
        if offset:
            around_rows.append((row, around.setdefault(feature, len(around) + 1)))
            offsets.append(offset + REACH)
        else:
            own[feature] = len(own_rows)
            own_rows.append(row)
    by_offset = np.zeros((len(around) + 1, len(OFFSETS), weight.shape[1]), dtype=np.float32)
    if offsets:
        source, target = np.array(around_rows).T
        by_offset[target, offsets] = weight[source - 1]
    by_row = weight[np.array(own_rows) - 1]
    by_row[0] = 0
    return _Weights(own, by_row), _Weights(around, by_offset)


def _unpacked(is_stored: npt.NDArray[np.uint8], weight: Floats, n_features: int) -> Floats:
    """Return the weights of all features, (f, L), of which the four of five that are zero are not stored.

    ``is_stored``: a bit per label and feature; ``weight``: the stored weights, label by label.
    """
    stored = np.unpackbits(is_stored, axis=1, count=n_features).astype(bool)
    whole = np.zeros(stored.shape, dtype=np.float32)
    whole[stored] = weight
    return np.ascontiguousarray(whole.T)
