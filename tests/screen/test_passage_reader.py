from importlib import resources
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from phiscan.errors import ModelError
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.ner.crf import ConditionalRandomField
from phiscan.screen.ner.ensemble import TaggerEnsemble
from phiscan.screen.ner.features import REACH, Lexicon
from phiscan.screen.ner.lstm import NETWORK, WEIGHTS, WINDOW, Arrays, BidirectionalLstm, _windows
from phiscan.screen.ner.tagger import load_kinds
from phiscan.screen.ner.viterbi import decode
from phiscan.text.onnx_network import network_of
from training.names.network import graph_of

N_DIMS, N_HIDDEN, LABELS = 5, 4, ("O", "B-PER", "I-PER")
N_LABELS = len(LABELS)


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return ConditionalRandomField.load(load_kinds(load_gazetteer())).lexicon


def drawn(n_features: int, seed: int = 1) -> Arrays:
    draw = np.random.default_rng(seed)

    def some(*shape: int) -> np.ndarray:
        return draw.normal(0, 0.5, shape).astype(np.float16).astype(np.float32)

    return {
        "embeddings": some(n_features, N_DIMS), "embedding_scale": np.full(n_features, 0.7, np.float32),
        "input_weights": some(2, N_DIMS, 4 * N_HIDDEN), "recurrent_weights": some(2, N_HIDDEN, 4 * N_HIDDEN),
        "bias": some(2, 4 * N_HIDDEN), "output_weights": some(2 * N_HIDDEN + N_DIMS, N_LABELS),
        "output_bias": some(N_LABELS),
    }  # fmt: skip


def reader(names: tuple[str, ...], arrays: Arrays) -> BidirectionalLstm:
    pytest.importorskip("onnx")
    vectors = arrays["embeddings"] * arrays["embedding_scale"][:, None]
    return BidirectionalLstm(names, LABELS, vectors, network_of(graph_of(arrays)))


def features(text: str, lexicon: Lexicon) -> list[list[str]]:
    stream = lexicon.read(text)
    entries = stream.entries[REACH : len(stream.entries) - REACH].tolist()
    return [list(lexicon.features_by_offset(entry)[REACH]) for entry in entries]


def reference_log_probabilities(
    tokens: list[list[str]], names: tuple[str, ...], arrays: Arrays
) -> np.ndarray:
    """Both directions token by token, with sigmoids, in double precision."""
    real = {name: array.astype(np.float64) for name, array in arrays.items()}

    def sigmoid(x: np.ndarray) -> np.ndarray:
        result: np.ndarray = 1 / (1 + np.exp(-x))
        return result

    vectors = real["embeddings"] * real["embedding_scale"][:, None]
    words = [
        np.tanh(sum((vectors[names.index(n)] for n in has if n in names), np.zeros(N_DIMS))) for has in tokens
    ]
    states = np.zeros((2, len(words), N_HIDDEN))
    for direction in range(2):
        hidden = cells = np.zeros(N_HIDDEN)
        for number in range(len(words)) if direction == 0 else reversed(range(len(words))):
            gates = (
                words[number] @ real["input_weights"][direction]
                + hidden @ real["recurrent_weights"][direction]
                + real["bias"][direction]
            )
            entry, forget, out, content = np.split(gates, 4)
            cells = sigmoid(forget) * cells + sigmoid(entry) * np.tanh(content)
            hidden = sigmoid(out) * np.tanh(cells)
            states[direction, number] = hidden
    score = (
        np.concatenate((states[0], states[1], np.array(words)), axis=1) @ real["output_weights"]
        + real["output_bias"]
    )
    found: np.ndarray = score - np.log(np.exp(score).sum(axis=1, keepdims=True))
    return found


def test_log_probabilities_equal_those_of_the_equations(lexicon: Lexicon) -> None:
    text = "Seen by Dr. Ann Roy on Monday.\nMRN 4471, Gimli"
    tokens = features(text, lexicon)
    names = tuple(sorted({name for has in tokens for name in has}))[::2]  # the others are unknown
    arrays = drawn(len(names))
    found = reader(names, arrays).log_probabilities(lexicon, lexicon.read(text))
    np.testing.assert_allclose(found, reference_log_probabilities(tokens, names, arrays), atol=1e-5)


def test_a_long_text_is_labelled_in_windows_around_each_token(lexicon: Lexicon) -> None:
    text = "".join(f"line {n} of Ann Roy\n" for n in range(300))
    tokens = features(text, lexicon)
    names = tuple(sorted({name for has in tokens for name in has}))
    arrays = drawn(len(names))
    lstm = reader(names, arrays)
    found = lstm.log_probabilities(lexicon, lexicon.read(text))
    assert found.shape == (len(tokens), N_LABELS)
    np.testing.assert_allclose(np.exp(found).sum(axis=1), 1, atol=1e-5)
    first = reference_log_probabilities(tokens[:WINDOW], names, arrays)
    np.testing.assert_allclose(found[: WINDOW - 20], first[: WINDOW - 20], atol=1e-5)
    last = reference_log_probabilities(tokens[-WINDOW:], names, arrays)
    np.testing.assert_allclose(found[-WINDOW + 20 :], last[20:], atol=1e-5)


@pytest.mark.parametrize("n_tokens", [1, 2, 176, 177, 319, 320, 321, 500, 671, 672, 673, 1000, 4100, 18_000])
def test_windows_of_one_size_cover_a_text_and_overlap(n_tokens: int) -> None:
    batches = list(_windows(n_tokens))
    starts = np.concatenate([some for some, _ in batches])
    (size,) = {size for _, size in batches}
    assert starts[0] == 0
    assert starts[-1] + size == n_tokens
    assert len(starts) in {1, 2} or len(starts) % 4 == 0
    assert (starts[1:] - starts[:-1] <= size - 15).all()
    assert size == n_tokens <= 176 or 80 < size < 192
    assert all(len(some) <= 32 for some, _ in batches)


def test_a_lexicon_that_starts_anew_gives_the_same_log_probabilities(
    lexicon: Lexicon, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "Ann Roy of Gimli was seen"
    names = tuple(sorted({name for has in features(text, lexicon) for name in has}))
    lstm = reader(names, drawn(len(names)))
    before = lstm.log_probabilities(lexicon, lexicon.read(text))
    monkeypatch.setattr("phiscan.screen.ner.features._MAX_ENTRIES", 1)
    np.testing.assert_array_equal(lstm.log_probabilities(lexicon, lexicon.read(text)), before)


@pytest.mark.parametrize("name", [WEIGHTS, NETWORK])
def test_damaged_weights_are_refused_by_name(tmp_path: Path, name: str) -> None:
    data = resources.files("phiscan.screen") / "data"
    for each in (WEIGHTS, NETWORK):
        (tmp_path / each).write_bytes((data / each).read_bytes())
    whole = (data / name).read_bytes()
    middle = len(whole) // 2
    flipped = (
        whole[:middle] + bytes(byte ^ 255 for byte in whole[middle : middle + 64]) + whole[middle + 64 :]
    )
    for content in (b"", b"PK no archive", whole[:middle], *[flipped] * (name == WEIGHTS)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(ModelError, match=rf"{name}: expected the LSTM of the name tagger"):
            BidirectionalLstm.load(tmp_path)


@pytest.mark.parametrize(
    ("names", "vectors"),
    [
        (("0b", "0k=b"), np.zeros((2, 3), np.float32)),
        (("0b",), np.zeros((2, 48), np.float32)),
        (("0b",), np.full((1, 48), np.nan, np.float32)),
    ],
)
def test_weights_that_do_not_fit_are_refused(names: tuple[str, ...], vectors: np.ndarray) -> None:
    network = network_of((resources.files("phiscan.screen") / "data" / NETWORK).read_bytes())
    with pytest.raises(ValueError, match="embeddings: expected numbers of the shape"):
        BidirectionalLstm(names, tuple("O" * 9), vectors, network)


def test_an_lstm_with_other_labels_is_refused(tmp_path: Path) -> None:
    data = resources.files("phiscan.screen") / "data"
    for name in ("names.npz", "names.json", NETWORK):
        (tmp_path / name).write_bytes((data / name).read_bytes())
    with np.load(str(data / WEIGHTS)) as stored:
        arrays = {name: stored[name] for name in stored.files}
    arrays["labels"] = np.frombuffer("\0".join("ABCDEFGHI").encode(), np.uint8)
    np.savez(tmp_path / WEIGHTS, **arrays)  # type: ignore[arg-type]
    with pytest.raises(
        ModelError, match=r"passages\.npz: expected the labels of the weights beside it, O, B-ADR"
    ):
        TaggerEnsemble.load(load_kinds(load_gazetteer()), tmp_path)


def test_units_that_are_not_searched_have_no_name_on_their_best_path() -> None:
    model = TaggerEnsemble.load(load_kinds(load_gazetteer()))
    draw = np.random.default_rng(4)
    lengths = draw.integers(1, 9, 4000)
    scores = draw.normal(0, 1.5, (lengths.sum(), len(model.labels))).astype(np.float32)
    scores[:, model.labels.index("O")] += np.repeat(draw.uniform(0, 9, len(lengths)), lengths)
    starts = np.cumsum(lengths) - lengths
    best = decode(scores, model._transition, starts, lengths)
    biases = np.zeros((2, len(model.labels)), dtype=np.float32)
    biases[1, model.labels.index("B-PER")] = 1.0
    found, biased = model.paths(scores, biases, starts, lengths)
    np.testing.assert_array_equal(found, best)
    np.testing.assert_array_equal(biased, decode(scores + biases[1], model._transition, starts, lengths))
    assert (biased != best).any()
    named = np.add.reduceat(best != model.labels.index("O"), starts) > 0
    assert 0.2 < named.mean() < 0.8


def test_a_name_is_never_entered_from_within_another_kind() -> None:
    model = TaggerEnsemble.load(load_kinds(load_gazetteer()))
    stream = model.lexicon.read("Ann Roy, 12 Main St., Gimli Hospital\nDr. P. Ng saw her in Brandon")
    starts, lengths = stream.units.starts, stream.units.lengths
    bias = np.array([[5.0 * label.startswith("I-") for label in model.labels]], dtype=np.float32)
    path = [model.labels[i] for i in model.paths(model.emission(stream), bias, starts, lengths)[0]]
    for start, length in zip(starts.tolist(), lengths.tolist(), strict=True):
        labels = path[start : start + length]
        for before, label in pairwise(labels):
            assert not label.startswith("I-") or before[2:] == label[2:]
