"""A bidirectional LSTM over the tokens of a text: a score for every label at every token, by numpy alone.

The conditional random field (``crf``) sees three tokens to each side; this network sees a window of about
128. The input of a token is tanh of the sum of the embeddings of its features; the logits are linear in the
hidden states of both directions and the input itself. Trained by ``phiscan train names``.

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
WINDOW: Final = 128  # tokens of a window in training, and about as many in inference
_MAX_IN_ONE_WINDOW = 176  # tokens
_MAX_IN_TWO_WINDOWS = 320  # tokens; two windows take hardly longer than one
_WINDOWS_MULTIPLE = 4  # matrix products with one to three rows more than a multiple of it take longer
_OVERLAP = 16  # tokens that two windows share: each labels its half of them
_MAX_BATCH = 32  # windows in one batch: bounds the memory
_N_GATES = 4
# The order in which gates are computed, of which three are sigmoids, and after them the cells.
_OUTPUT, _ENTRY, _FORGET, _CONTENT, _CELLS = range(_N_GATES + 1)
_PROJECTED = 128  # tokens whose inputs are multiplied at once: the product fits in a processor cache

Arrays = dict[str, npt.NDArray[Any]]


class BidirectionalLstm:
    """Text to the logits of labels at every token."""

    def __init__(self, names: tuple[str, ...], labels: tuple[str, ...], arrays: Arrays) -> None:
        """Take the weights for L ``labels``.

        ``names``: of the f features, as ``Lexicon.recurrent_features`` has them. ``arrays``: ``embeddings``
        (f, e), to be multiplied by ``embedding_scale`` (f,); for the two directions ``input_weights``
        (2, e, 4h), ``recurrent_weights`` (2, h, 4h) and ``bias`` (2, 4h), with the gates in the order input,
        forget, output, content; ``output_weights`` (2h + e, L) and ``output_bias`` (L,).

        Raises:
            ValueError: a shape does not fit, or a number is not finite.
        """
        real = {name: array.astype(np.float32) for name, array in arrays.items()}
        n_dims, n_hidden = real["embeddings"].shape[-1], real["recurrent_weights"].shape[1]
        shapes = {
            "embeddings": (len(names), n_dims),
            "embedding_scale": (len(names),),
            "input_weights": (2, n_dims, _N_GATES * n_hidden),
            "recurrent_weights": (2, n_hidden, _N_GATES * n_hidden),
            "bias": (2, _N_GATES * n_hidden),
            "output_weights": (2 * n_hidden + n_dims, len(labels)),
            "output_bias": (len(labels),),
        }
        for name, shape in shapes.items():
            if real[name].shape != shape or not np.isfinite(real[name]).all():
                message = f"{name}: expected numbers of the shape {shape}, got {real[name].shape}"
                raise ValueError(message)
        vectors = real["embeddings"] * real["embedding_scale"][:, None]
        self.labels = labels
        rows = list(enumerate(names, start=1))
        self._own_rows = {name[1:]: row for row, name in rows if name.startswith("0")}
        self._trigram_rows = {name[2:]: row for row, name in rows if name.startswith("g=")}
        self._vectors = np.concatenate((np.zeros((1, n_dims), dtype=np.float32), vectors))
        # A gate is the sigmoid of its activation, (1 + tanh(activation / 2)) / 2. Gates are computed at twice
        # their size, so hidden states are too (``_step``), and what multiplies these is halved.
        self._input_weights = 0.5 * _by_gate(
            np.concatenate((real["input_weights"], real["bias"][:, None]), axis=1)
        )
        self._input_weights[_CONTENT] *= 2
        self._recurrent_weights = 0.25 * _by_gate(real["recurrent_weights"])
        self._recurrent_weights[_CONTENT] *= 2
        self._output_weights = 0.5 * real["output_weights"][: 2 * n_hidden].reshape(2, n_hidden, len(labels))
        # The last component of an input is 1, which takes the bias.
        self._direct_weights = np.concatenate(
            (real["output_weights"][2 * n_hidden :], real["output_bias"][None])
        )
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
            message = f"{path}: expected the LSTM of the name tagger: {type(error).__name__}"
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
        n_steps, n_windows, _ = inputs.shape
        states = np.empty((n_steps, 2, n_windows, self._n_hidden), dtype=np.float32)
        # Gates and cells are parts of one array in this order, so that one call multiplies two by two.
        parts = np.zeros((_N_GATES + 1, 2, n_windows, self._n_hidden), dtype=np.float32)
        hidden = parts[_CELLS]  # of nothing read yet
        size = max(1, _PROJECTED // n_windows)
        backwards = inputs[::-1]
        for start in range(0, n_steps, size):
            block = slice(start, start + size)
            projected = self._projected(inputs[block], backwards[block])
            hidden = self._step(projected, parts, hidden, states[block])
        scores = states.swapaxes(0, 1).reshape(2, n_steps * n_windows, -1) @ self._output_weights
        scores = scores.reshape(2, n_steps, n_windows, len(self.labels))
        total: Floats = scores[0] + scores[1, ::-1]
        total += inputs @ self._direct_weights
        return total

    def _projected(self, forwards: Floats, backwards: Floats) -> Floats:
        """Return what inputs add to the activations of the gates, (t, gates, 2, b, h).

        ``forwards`` and ``backwards``: (t, b, e + 1), the inputs in the order of each direction.
        """
        n_steps, n_windows, n_dims = forwards.shape
        n_tokens = n_steps * n_windows
        projected = np.empty((_N_GATES, 2, n_tokens, self._n_hidden), dtype=np.float32)
        for direction, inputs in enumerate((forwards, backwards)):
            weights = self._input_weights[:, direction]
            np.matmul(inputs.reshape(n_tokens, n_dims), weights, out=projected[:, direction])
        by_step = projected.reshape(_N_GATES, 2, n_steps, n_windows, -1).transpose(2, 0, 1, 3, 4)
        return np.ascontiguousarray(by_step)

    def _step(self, projected: Floats, parts: Floats, hidden: Floats, states: Floats) -> Floats:
        """Write twice the hidden states of both directions to ``states``, (t, 2, b, h); return the last.

        ``parts``: (gates and cells, 2, b, h), of which the cells are read and left for the next steps.
        """
        gates, opened, output, cells = parts[:_N_GATES], parts[:_CONTENT], parts[_OUTPUT], parts[_CELLS]
        entry, forget = parts[_ENTRY], parts[_FORGET]
        entry_forget, content_cells = parts[_ENTRY : _FORGET + 1], parts[_CONTENT : _CELLS + 1]
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
        return hidden

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
    """Return stored weights, (2, k, 4h), of the gates in the order of computation, (4, 2, k, h)."""
    entry, forget, output, content = np.split(weights, _N_GATES, axis=2)
    return np.stack([output, entry, forget, content])


def _windows(n_tokens: int) -> Iterator[tuple[Ints, int]]:
    """Yield the starts of overlapping windows and their one size, in batches; the last ends with the text."""
    if not n_tokens:
        return
    if n_tokens <= _MAX_IN_TWO_WINDOWS:
        n_windows = 1 if n_tokens <= _MAX_IN_ONE_WINDOW else 2
    else:
        n_windows = _WINDOWS_MULTIPLE * round(n_tokens / (_WINDOWS_MULTIPLE * (WINDOW - _OVERLAP)))
    size = -(-(n_tokens + (n_windows - 1) * _OVERLAP) // n_windows)
    starts = np.arange(n_windows) * (n_tokens - size) // max(n_windows - 1, 1)
    for begin in range(0, n_windows, _MAX_BATCH):
        yield starts[begin : begin + _MAX_BATCH], size
