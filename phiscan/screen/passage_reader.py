"""A small network that reads passages forwards and backwards: what a word is by all that stands around it.

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
from phiscan.screen.tagger_features import REACH, Lexicon, Stream, own_names
from phiscan.screen.tagger_tokens import N_MODES, Ints
from phiscan.screen.viterbi import Floats

WEIGHTS: Final = "passages.npz"
WINDOW: Final = 128  # tokens of a passage, as in training
_OVERLAP = 16  # tokens that a window shares with the next, which knows more of the second half of them
_TOGETHER = 32  # windows read side by side: bounds the memory
_MAX_ROWS = 40_000  # words of which the vectors are kept; a new start beyond bounds the memory
_N_GATES = 4  # input, forget, output, and what is let in

Arrays = dict[str, npt.NDArray[Any]]


class PassageReader:
    """How likely each label is at every token of a text."""

    def __init__(self, names: tuple[str, ...], labels: tuple[str, ...], arrays: Arrays) -> None:
        """Join the tables for L ``labels``.

        ``names``: of the f features, as ``own_names`` has them for the token itself. ``arrays``:
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
        halved = np.ones(_N_GATES * n_hidden, dtype=np.float32)
        halved[:-n_hidden] = 0.5
        self._let_in, self._kept, self._bias = (real[name] * halved for name in ("let_in", "kept", "bias"))
        self._said = real["said"][: 2 * n_hidden].reshape(2, n_hidden, len(labels))
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
        some, row_of = np.unique(rows, return_inverse=True)
        row_of = row_of.reshape(rows.shape)
        words = self._words(lexicon, some)
        n_steps, n_passages = rows.shape
        n_hidden = self._n_hidden
        let_in = np.empty((n_steps, 2, n_passages, _N_GATES * n_hidden), dtype=np.float32)
        for way, order in enumerate((row_of, row_of[::-1])):
            let_in[:, way] = (words @ self._let_in[way] + self._bias[way])[order]
        hidden = np.zeros((2, n_passages, n_hidden), dtype=np.float32)
        memory = np.zeros_like(hidden)
        states = np.empty((n_steps, *hidden.shape), dtype=np.float32)
        for step, gates in enumerate(let_in):
            gates += np.matmul(hidden, self._kept)  # noqa: PLW2901 (in place)
            np.tanh(gates, out=gates)
            opened = gates[..., : 3 * n_hidden]
            opened *= 0.5
            opened += 0.5
            memory *= opened[..., n_hidden : 2 * n_hidden]
            memory += opened[..., :n_hidden] * gates[..., 3 * n_hidden :]
            np.tanh(memory, out=hidden)
            hidden *= opened[..., 2 * n_hidden :]
            states[step] = hidden
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
                kind = lexicon.kinds[row // N_MODES]
                names = own_names(kind, row % N_MODES, lexicon.vocabulary)[REACH]
                found = [self._names.get(name, 0) for name in names]
                known[row] = np.tanh(self._vectors[found].sum(axis=0))
        return np.stack([known[row] for row in rows.tolist()])


def _windows(n_tokens: int) -> Iterator[tuple[Ints, int]]:
    """Yield where windows of one size begin, some at a time; they overlap, the last ends with the text."""
    size = min(WINDOW, n_tokens)
    if not size:
        return
    starts = np.arange(0, max(n_tokens - size, 0) + 1, WINDOW - _OVERLAP)
    if starts[-1] + size < n_tokens:
        starts = np.append(starts, n_tokens - size)
    for begin in range(0, len(starts), _TOGETHER):
        yield starts[begin : begin + _TOGETHER], size
