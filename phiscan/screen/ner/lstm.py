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
_N_GATES = 4
_OUTPUT, _ENTRY, _FORGET, _CONTENT = range(_N_GATES)  # the order in which they are computed; three are sigmoids

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
        rows = list(enumerate(names, start=1))
        self._own_rows = {name[1:]: row for row, name in rows if name.startswith("0")}
        self._trigram_rows = {name[2:]: row for row, name in rows if name.startswith("g=")}
        self._vectors = np.concatenate((np.zeros((1, n_dims), dtype=np.float32), vectors))
        # A gate is the sigmoid of its activation, which is (1 + tanh(activation / 2)) / 2. Gates are computed at
        # twice their size, so hidden states are too (``_hidden_states``), and what multiplies them is halved.
        self._input_weights = 0.5 * _by_gate(np.concatenate((real["let_in"], real["bias"][:, None]), axis=1))
        self._input_weights[_CONTENT] *= 2
        self._recurrent_weights = 0.25 * _by_gate(real["kept"])
        self._recurrent_weights[_CONTENT] *= 2
        self._output_weights = 0.5 * real["said"][: 2 * n_hidden].reshape(2, n_hidden, len(labels))
        # The last component of an input is 1, which takes the bias.
        self._direct_weights = np.concatenate((real["said"][2 * n_hidden :], real["said_bias"][None]))
        self._n_hidden = n_hidden
        self._forget(0)

    def _forget(self, generation: int) -> None:
        self._generation = generation
        self._n_known = 0
        self._inputs = np.ones((4096, self._vectors.shape[1] + 1), dtype=np.float32)

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
        logits = self.logits(lexicon, stream)
        logits -= logits.max(axis=1, keepdims=True)
        logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
        return logits

    def logits(self, lexicon: Lexicon, stream: Stream) -> Floats:
        """Return the score of every label at every token of a text, (n, L).

        A text is read in windows of one size, some side by side.
        """
        self._embed_new(lexicon)
        entries = stream.entries[REACH : len(stream.entries) - REACH]
        result = np.empty((len(entries), len(self.labels)), dtype=np.float32)
        end = 0
        for starts, size in _windows(len(entries)):
            tokens = starts[None] + np.arange(size)[:, None]  # (size, b)
            scores = self._read(self._inputs[entries[tokens]])
            for column, start in enumerate(starts.tolist()):
                first = (end - start + 1) // 2  # where two overlap, each decides its half
                result[start + first : start + size] = scores[first:, column]
                end = start + size
        return result

    def _read(self, inputs: Floats) -> Floats:
        """Return the scores of the labels, (t, b, L), in b windows of t tokens; ``inputs``: (t, b, e + 1)."""
        n_steps, n_windows, n_dims = inputs.shape
        n_tokens, n_hidden = n_steps * n_windows, self._n_hidden
        projected = np.empty((_N_GATES, 2, n_tokens, n_hidden), dtype=np.float32)
        for direction, ordered in enumerate((inputs, inputs[::-1])):
            np.matmul(
                ordered.reshape(n_tokens, n_dims), self._input_weights[:, direction], out=projected[:, direction]
            )
        by_step = projected.reshape(_N_GATES, 2, n_steps, n_windows, n_hidden).transpose(2, 0, 1, 3, 4)
        states = self._hidden_states(np.ascontiguousarray(by_step))
        scores = states.swapaxes(0, 1).reshape(2, n_tokens, n_hidden) @ self._output_weights
        scores = scores.reshape(2, n_steps, n_windows, len(self.labels))
        total: Floats = scores[0] + scores[1, ::-1]
        total += inputs @ self._direct_weights
        return total

    def _hidden_states(self, projected: Floats) -> Floats:
        """Return twice the hidden states of both directions by the steps of each, (t, 2, b, h).

        ``projected``: (t, gates, 2, b, h), what the inputs add to the activations of the gates.
        """
        n_steps, _, _, n_windows, n_hidden = projected.shape
        # Gates and cells are parts of one array, in this order: two neighbours are multiplied by two in one call.
        parts = np.zeros((_N_GATES + 1, 2, n_windows, n_hidden), dtype=np.float32)
        gates, opened, output, cells = parts[:_N_GATES], parts[:_CONTENT], parts[_OUTPUT], parts[_N_GATES]
        entry_forget, content_cells = parts[_ENTRY : _FORGET + 1], parts[_CONTENT:]
        entry, forget = parts[_ENTRY], parts[_FORGET]
        states = np.empty((n_steps, 2, n_windows, n_hidden), dtype=np.float32)
        hidden = np.zeros_like(cells)
        weights = self._recurrent_weights
        matmul, add, multiply, tanh = np.matmul, np.add, np.multiply, np.tanh
        # Few calls on contiguous arrays: with few windows, a call costs more than its numbers.
        for step, state in zip(projected, states, strict=True):
            matmul(hidden, weights, gates)
            add(gates, step, gates)
            tanh(gates, gates)
            add(opened, 1, opened)
            multiply(entry_forget, content_cells, entry_forget)
            add(entry, forget, cells)
            multiply(cells, 0.5, cells)
            hidden = tanh(cells, state)
            multiply(hidden, output, hidden)
        return states

    def _embed_new(self, lexicon: Lexicon) -> None:
        """Compute the input vectors of the entries of the lexicon that are new."""
        if self._generation != lexicon.generation:
            self._forget(lexicon.generation)
        first, end = self._n_known, len(lexicon.entries)
        if first == end:
            return
        while end > len(self._inputs):
            self._inputs = np.concatenate((self._inputs, np.ones_like(self._inputs)))
        rows: list[int] = []
        starts: list[int] = []
        for entry in range(first, end):
            starts.append(len(rows))
            rows += [self._own_rows.get(name, 0) for name in lexicon.features(entry)[0]]
            rows += [self._trigram_rows.get(letters, 0) for letters in lexicon.trigrams(entry)]
        # One sum over the features of all words: a sum for each costs more than its numbers.
        self._inputs[first:end, :-1] = np.tanh(np.add.reduceat(self._vectors[rows], starts, axis=0))
        self._n_known = end


def _by_gate(weights: Floats) -> Floats:
    """Return weights as stored, (2, k, 4h), with input, forget, output and content side by side, as (4, 2, k, h).

    The first axis is in the order in which they are computed.
    """
    entry, forget, output, content = np.split(weights, _N_GATES, axis=2)
    return np.stack([output, entry, forget, content])


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
