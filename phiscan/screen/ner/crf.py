"""The trained weights of the name tagger, read from .npz and JSON (no pickle), and its scores by numpy alone.

The model is a linear-chain conditional random field trained by CRFsuite (Okazaki, 2007). Scores of word
features are added up once per word and kept; context features are one table look-up per token and template.
"""

from __future__ import annotations

import json
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Self

import numpy as np
import numpy.typing as npt

from phiscan.errors import DAMAGED_ARRAYS, ModelError
from phiscan.screen.ner.features import OFFSETS, REACH, TEMPLATES, Inventory, Lexicon, Stream
from phiscan.screen.ner.tokens import N_MODES, Ints, Kinds
from phiscan.screen.ner.viterbi import Floats, decode

FORMAT = 2
_NOWHERE = (0,) * len(OFFSETS)  # the row of no weights, for each offset


class TaggerModel:
    """Labels for the tokens of a text, as CRFsuite would give them."""

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
        """Join the tables.

        ``weight``: (f, L), the first rows those of word features (``names`` gives the row), then one row per
        context feature; ``codes`` and ``templates``: of those further rows, in order.
        """
        self.lexicon = Lexicon(kinds, inventory)
        self.labels = labels
        self.transition = transition
        self._by_offset = _by_offset(names)
        self._weight = np.concatenate((np.zeros((1, len(labels)), dtype=np.float32), weight))
        self._tables: list[npt.NDArray[np.int32]] = []
        first_row = 1 + len(names)
        for number, size in enumerate(self.lexicon.sizes()):
            table = np.zeros(size, dtype=np.int32)
            chosen = np.flatnonzero(templates == number)
            table[codes[chosen]] = first_row + chosen
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
            message = (
                f"{folder}: expected names.npz and names.json of the name tagger: {type(error).__name__}"
            )
            raise ModelError(message) from None

    def _forget(self) -> None:
        self._generation = self.lexicon.generation
        self._scores = np.zeros((4096, len(OFFSETS), len(self.labels)), dtype=np.float32)
        self._known = np.zeros(4096, dtype=bool)

    def _learn(self, rows: Ints) -> None:
        """Add up the scores of the words not met before."""
        if self._generation != self.lexicon.generation:
            self._forget()
        needed = (len(self.lexicon.kinds) + 1) * N_MODES
        while needed > len(self._known):
            self._scores = np.concatenate((self._scores, np.zeros_like(self._scores)))
            self._known = np.concatenate((self._known, np.zeros_like(self._known)))
        new = np.unique(rows[~self._known[rows]])
        if not len(new):
            return
        # One sum over the features of all words: a sum for each word and offset costs more than its numbers.
        found: list[int] = []
        starts: list[int] = []
        for row in new.tolist():
            here, near, far = (
                [self._by_offset.get(name, _NOWHERE) for name in names]
                for names in self.lexicon.plain_names(row)
            )
            for place, offset in enumerate(OFFSETS):
                starts.append(len(found))
                some = here if not offset else near if abs(offset) < REACH else far
                found += [numbers[place] for numbers in some]
        sums = np.add.reduceat(self._weight[found], starts, axis=0)
        self._scores[new] = sums.reshape(len(new), len(OFFSETS), -1)
        self._known[new] = True

    def emission(self, stream: Stream) -> Floats:
        """Return the score of every label at every token of the units, (n, L)."""
        self._learn(stream.rows)
        index = stream.units.index
        total: Floats = self._scores[stream.rows[index + REACH], REACH]
        for place in range(len(OFFSETS)):
            if place != REACH:
                total += self._scores[stream.rows[index + place], place]
        for number in range(len(TEMPLATES)):
            total += self._weight[self._tables[number][stream.codes[number, index]]]
        return total

    def best(self, stream: Stream, emission: Floats) -> Ints:
        """Return the label that CRFsuite would give every token of the units, (n,)."""
        return decode(emission, self.transition, stream.units.starts, stream.units.lengths)


def _by_offset(names: dict[str, int]) -> dict[str, tuple[int, ...]]:
    """Return by the name of a feature without its offset the rows of its weights, one for each offset."""
    rows: dict[str, list[int]] = {}
    for name, row in names.items():
        n_chars = 2 if name.startswith("-") else 1
        rows.setdefault(name[n_chars:], list(_NOWHERE))[int(name[:n_chars]) + REACH] = row
    return {name: tuple(numbers) for name, numbers in rows.items()}


def _unpacked(given: npt.NDArray[np.uint8], weight: Floats, n_features: int) -> Floats:
    """Return the weights of all features, (f, L): four of five are nothing and were not written.

    ``given``: a bit per label and feature, whether its weight was written; ``weight``: those, label by label.
    """
    is_given = np.unpackbits(given, axis=1, count=n_features).astype(bool)
    whole = np.zeros(is_given.shape, dtype=np.float32)
    whole[is_given] = weight
    return np.ascontiguousarray(whole.T)
