"""A small network that reads passages forwards and backwards: what a word is by all that is around it.

The random field (``tagger_model``) sees three tokens to each side. This sees the passage: a token is the sum
of its features' vectors, one memory reads the tokens forwards and one backwards, and both together with the
token itself say how likely each label is. Trained by ``phiscan train names``, run by numpy alone.

Source: Hochreiter & Schmidhuber (1997), "Long short-term memory"; Graves & Schmidhuber (2005), "Framewise
phoneme classification with bidirectional LSTM".
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from phiscan.errors import DAMAGED_ARRAYS, ModelError
from phiscan.screen.ner.features import REACH, Lexicon, Stream
from phiscan.screen.ner.tokens import Ints
from phiscan.screen.ner.viterbi import Floats

WEIGHTS: Final = "passages.npz"
WINDOW: Final = 128  # tokens of a passage in training, and about as many in reading
_ALONE = 176  # tokens of a text that is read as one passage
_AS_TWO = 320  # as two, a row more for hardly more time
_ROWS = 4  # products of matrices with one to three rows more than a multiple of these take longer
_OVERLAP = 16  # tokens that a window shares with the next, which knows more of the second half of them
_TOGETHER = 32  # windows read side by side: bounds the memory
_MAX_ROWS = 40_000  # words of which the vectors are kept; a new start beyond bounds the memory
_N_GATES = 4  # input, forget, output, and what is let in

Arrays = dict[str, npt.NDArray[Any]]


class PassageReader:
    """How likely each label is at every token of a text."""

    def __init__(self, names: tuple[str, ...], labels: tuple[str, ...], arrays: Arrays) -> None:
        """Join the tables for L ``labels``.

        ``names``: of the f features, as ``Lexicon.names_here`` has them. ``arrays``:
        ``vectors`` (f, e) and ``scale`` (f,), by which they are multiplied; of the memories forwards and
        backwards ``let_in`` (2, e, 4h), ``kept`` (2, h, 4h) and ``bias`` (2, 4h), with the gates in the order
        input, forget, output, content; ``said`` (2h + e, L) and ``said_bias`` (L,).

        Raises:
            ValueError: the shapes do not fit, or a number is none.
        """
        real = {name: array.astype(np.float32) for name, array in arrays.items()}
        n_dims, n_hidden = real["vectors"].shape[-1], real["kept"].shape[1]
        shapes = {
            "vectors": (len(names), n_dims),
            "scale": (len(names),),
            "let_in": (2, n_dims, _N_GATES * n_hidden),
            "kept": (2, n_hidden, _N_GATES * n_hidden),
            "bias": (2, _N_GATES * n_hidden),
            "said": (2 * n_hidden + n_dims, len(labels)),
            "said_bias": (len(labels),),
        }
        for name, shape in shapes.items():
            if real[name].shape != shape or not np.isfinite(real[name]).all():
                message = f"{name}: expected numbers of the shape {shape}, got {real[name].shape}"
                raise ValueError(message)
        vectors = real["vectors"] * real["scale"][:, None]
        self.labels = labels
        self._names = {name: row for row, name in enumerate(names, start=1)}
        self._vectors = np.concatenate((np.zeros((1, n_dims), dtype=np.float32), vectors))
        # A gate is open by a sigmoid, which is half a hyperbolic tangent of half its argument, and a half.
        # States are read at twice their size (``_read``).
        halved = np.ones(_N_GATES * n_hidden, dtype=np.float32)
        halved[:-n_hidden] = 0.5
        self._let_in, self._kept, self._bias = (real[name] * halved for name in ("let_in", "kept", "bias"))
        self._kept *= 0.5
        self._said = 0.5 * real["said"][: 2 * n_hidden].reshape(2, n_hidden, len(labels))
        self._said_here = real["said"][2 * n_hidden :]
        self._said_bias = real["said_bias"]
        self._n_hidden = n_hidden
        self._generation = 0
        self._known: dict[int, Floats] = {}

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """Read ``passages.npz`` of the package (or of ``folder``).

        Raises:
            ModelError: it is missing or damaged; names the file.
        """
        path = (folder or resources.files("phiscan.screen") / "data") / WEIGHTS
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                arrays = {name: stored[name] for name in stored.files}
            names, labels = (
                tuple(arrays.pop(key).tobytes().decode("utf-8").split("\0")) for key in ("names", "labels")
            )
            return cls(names, labels, arrays)
        except DAMAGED_ARRAYS as error:
            message = f"{path}: expected the reader of passages of the name tagger: {type(error).__name__}"
            raise ModelError(message) from None

    def log_probabilities(self, lexicon: Lexicon, stream: Stream) -> Floats:
        """Return the logarithm of the probability of every label at every token of a text, (n, L)."""
        rows = stream.rows[REACH : len(stream.rows) - REACH]
        result = np.empty((len(rows), len(self.labels)), dtype=np.float32)
        end = 0
        for starts, size in _windows(len(rows)):
            places = starts[None] + np.arange(size)[:, None]  # (size, b)
            told = self._read(lexicon, rows[places])
            for column, start in enumerate(starts.tolist()):
                first = (end - start + 1) // 2  # where two overlap, each is asked about its half
                result[start + first : start + size] = told[first:, column]
                end = start + size
        return result

    def _read(self, lexicon: Lexicon, rows: Ints) -> Floats:
        """Return the log probabilities of b passages of t tokens side by side; ``rows``: (t, b)."""
        some, row_of = _in_order_of_text(rows)
        words = self._words(lexicon, some)
        n_steps, n_passages = rows.shape
        n_hidden = self._n_hidden
        let_in = np.empty((2, n_steps, n_passages, _N_GATES * n_hidden), dtype=np.float32)
        for way, order in enumerate((row_of, row_of[::-1])):
            told = words @ self._let_in[way]
            told += self._bias[way]
            told.take(order, axis=0, out=let_in[way], mode="clip")  # no other mode writes straight there
        gates = np.empty((2, n_passages, _N_GATES * n_hidden), dtype=np.float32)
        opened, entry = gates[..., : 3 * n_hidden], gates[..., :n_hidden]
        keep, out = gates[..., n_hidden : 2 * n_hidden], gates[..., 2 * n_hidden : 3 * n_hidden]
        content = gates[..., 3 * n_hidden :]
        memory = np.zeros((2, n_passages, n_hidden), dtype=np.float32)
        states = np.empty((n_steps, *memory.shape), dtype=np.float32)
        hidden = memory
        # Few calls, for each costs as much as some passages: gates are open by 0 to 2, and what is twice as
        # large for it is halved in the memory, and in ``_kept`` and ``_said``.
        for told, state in zip(let_in.swapaxes(0, 1), states, strict=True):
            np.matmul(hidden, self._kept, out=gates)
            gates += told
            np.tanh(gates, out=gates)
            opened += 1
            memory *= keep
            content *= entry
            memory += content
            memory *= 0.5
            hidden = np.tanh(memory, out=state)
            hidden *= out
        score: Floats = states[:, 0] @ self._said[0] + states[::-1, 1] @ self._said[1]
        score += (words @ self._said_here + self._said_bias)[row_of]
        score -= score.max(axis=2, keepdims=True)
        score -= np.log(np.exp(score).sum(axis=2, keepdims=True))
        return score

    def _words(self, lexicon: Lexicon, rows: Ints) -> Floats:
        """Return the vectors of words, (u, e); those of words not met before are made."""
        if self._generation != lexicon.generation or len(self._known) > _MAX_ROWS:
            self._generation = lexicon.generation
            self._known = {}
        known = self._known
        for row in rows.tolist():
            if row not in known:
                found = [self._names.get(name, 0) for name in lexicon.names_here(row)]
                known[row] = np.tanh(self._vectors[found].sum(axis=0))
        return np.stack([known[row] for row in rows.tolist()])


def _in_order_of_text(rows: Ints) -> tuple[Ints, Ints]:
    """Return the different rows by their first place, and which of them is at each place.

    The numbers of words depend on what was read before; in their order, a product of matrices could add up
    in another order too, and the scores of one text would differ from process to process in the last digits.
    """
    numbers, first, of_number = np.unique(rows, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return numbers[order], rank[of_number.reshape(rows.shape)]


def _windows(n_tokens: int) -> Iterator[tuple[Ints, int]]:
    """Yield where windows of one size begin, some at a time; they overlap, the last ends with the text."""
    if not n_tokens:
        return
    if n_tokens <= _AS_TWO:
        n_windows = 1 if n_tokens <= _ALONE else 2
    else:
        n_windows = _ROWS * round(n_tokens / (_ROWS * (WINDOW - _OVERLAP)))
    size = -(-(n_tokens + (n_windows - 1) * _OVERLAP) // n_windows)
    starts = np.arange(n_windows) * (n_tokens - size) // max(n_windows - 1, 1)
    for begin in range(0, n_windows, _TOGETHER):
        yield starts[begin : begin + _TOGETHER], size
