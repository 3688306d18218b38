"""A bidirectional LSTM over the tokens of a text: a score for every label at every token, by onnxruntime.

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
from phiscan.text.onnx_network import network_of

WEIGHTS: Final = "passages.npz"  # the embeddings of features
NETWORK: Final = "passages.onnx"  # what reads the sums of these
WINDOW: Final = 128  # tokens of a window in training, and about as many in inference
_MAX_IN_ONE_WINDOW = 176  # tokens
_MAX_IN_TWO_WINDOWS = 320  # tokens
_WINDOWS_MULTIPLE = 4  # of windows read side by side
_OVERLAP = 16  # tokens that two windows share: each labels its half of them
_MAX_BATCH = 32  # windows in one batch: bounds the memory

Arrays = dict[str, npt.NDArray[Any]]


class BidirectionalLstm:
    """Text to the logits of labels at every token."""

    def __init__(
        self, names: tuple[str, ...], labels: tuple[str, ...], vectors: Floats, network: Any
    ) -> None:
        """Take the weights for L ``labels``.

        ``names``: of the f features, as ``Lexicon.recurrent_features`` has them. ``vectors``: their
        embeddings, (f, e). ``network``: inputs of tokens, (t, b, e), to logits, (t, b, L).

        Raises:
            ValueError: a shape does not fit, or a number is not finite.
        """
        n_dims, n_labels = network.get_inputs()[0].shape[-1], network.get_outputs()[0].shape[-1]
        if vectors.shape != (len(names), n_dims) or n_labels != len(labels) or not np.isfinite(vectors).all():
            message = f"embeddings: expected numbers of the shape {(len(names), n_dims)}, got {vectors.shape}"
            raise ValueError(message)
        self.labels = labels
        self._network = network
        rows = list(enumerate(names, start=1))
        self._own_rows = {name[1:]: row for row, name in rows if name.startswith("0")}
        self._trigram_rows = {name[2:]: row for row, name in rows if name.startswith("g=")}
        self._vectors = np.concatenate((np.zeros((1, n_dims), dtype=np.float32), vectors))
        self._forget(0)

    def _forget(self, generation: int) -> None:
        self._generation = generation
        self._n_known = 0
        self._inputs = np.empty((4096, self._vectors.shape[1]), dtype=np.float32)

    @classmethod
    def load(cls, folder: Traversable | None = None) -> Self:
        """Read ``passages.npz`` and ``passages.onnx`` of the package (or of ``folder``).

        Raises:
            ModelError: one is missing or damaged; names the file.
        """
        folder = folder or resources.files("phiscan.screen") / "data"
        path = folder / WEIGHTS
        try:
            with path.open("rb") as stream, np.load(stream, allow_pickle=False) as stored:
                names, labels = (
                    tuple(stored[key].tobytes().decode("utf-8").split("\0")) for key in ("names", "labels")
                )
                scale = stored["embedding_scale"].astype(np.float32)
                vectors = stored["embeddings"].astype(np.float32) * scale[:, None]
            path = folder / NETWORK
            return cls(names, labels, vectors, network_of(path.read_bytes()))
        except DAMAGED_ARRAYS as error:
            raise ModelError(path, f"expected the LSTM of the name tagger: {type(error).__name__}") from None

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
            (scores,) = self._network.run(None, {"inputs": self._inputs[entries[tokens]]})
            for column, start in enumerate(starts.tolist()):
                first = (end - start + 1) // 2  # where two overlap, each decides its half
                result[start + first : start + size] = scores[first:, column]
                end = start + size
        return result

    def _embed_new(self, lexicon: Lexicon) -> None:
        """Compute the input vectors of the entries of the lexicon that are new."""
        if self._generation != lexicon.generation:
            self._forget(lexicon.generation)
        first, end = self._n_known, len(lexicon.entries)
        if first == end:
            return
        while end > len(self._inputs):
            self._inputs = np.concatenate((self._inputs, np.empty_like(self._inputs)))
        rows: list[int] = []
        starts: list[int] = []
        for entry in range(first, end):
            starts.append(len(rows))
            rows += [self._own_rows.get(name, 0) for name in lexicon.features(entry)[0]]
            rows += [self._trigram_rows.get(letters, 0) for letters in lexicon.trigrams(entry)]
        # One sum over the features of all words: a sum for each costs more than its numbers.
        self._inputs[first:end] = np.tanh(np.add.reduceat(self._vectors[rows], starts, axis=0))
        self._n_known = end


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
