from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.ner.crf import ConditionalRandomField
from phiscan.screen.ner.features import Lexicon
from phiscan.screen.ner.lstm import NETWORK, WEIGHTS, BidirectionalLstm
from phiscan.screen.ner.tagger import load_kinds
from training.corpora.documents import Labelled
from training.corpora.marked_texts import written
from training.names import network as passage_network
from training.names.examples import units
from training.names.network import train_lstm
from training.names.windows import UNLABELLED, LstmSettings, Passages

SETTINGS = LstmSettings(
    window=32, n_dims=12, n_hidden=12, min_feature_tokens=2, min_feature_documents=1, batch_tokens=256
)
LABELS = ("O", "B-ADR", "B-LOC", "B-ORG", "B-PER", "I-ADR", "I-LOC", "I-ORG", "I-PER")


@pytest.fixture(scope="module")
def lexicon() -> Lexicon:
    return ConditionalRandomField.load(load_kinds(load_gazetteer())).lexicon


@pytest.fixture(scope="module")
def passages(lexicon: Lexicon) -> Passages:
    passages = Passages()
    for document in written()[:40]:
        add(passages, document, lexicon)
    return passages


def add(passages: Passages, document: Labelled, lexicon: Lexicon, source: str = "marked") -> None:
    stream = lexicon.read(document.text)
    passages.add(units(document, stream, source), stream, lexicon)


def test_tokens_are_kept_with_their_labels(lexicon: Lexicon) -> None:
    passages = Passages()
    document = Labelled("Seen by Ann Roy.", ((8, 15, "PER"),))
    add(passages, document, lexicon)
    label = {number: name for name, number in passages.labels.items()}
    assert [label[n] for n in passages.wanted[0].tolist()] == ["O", "O", "B-PER", "I-PER", "O"]


def test_lines_that_may_hold_an_unmarked_name_are_read_and_not_learned(lexicon: Lexicon) -> None:
    passages = Passages()
    document = Labelled("Dr. Finlay wrote this.\n\nTake it with water.", ())
    add(passages, document, lexicon, "medquad_dev")
    wanted = passages.wanted[0].tolist()
    assert wanted[0] == UNLABELLED
    assert wanted[-1] == 0
    assert len(passages.tokens[0]) == len(wanted)


def test_rare_features_are_none(passages: Passages) -> None:
    some, all_, of_few_texts = (
        passages.names(LstmSettings(min_feature_tokens=tokens, min_feature_documents=documents))
        for tokens, documents in ((30, 1), (1, 1), (1, 6))
    )
    assert 0 < len(some) < len(all_)
    assert 0 < len(of_few_texts) < len(all_)
    table = passages.table(some)
    assert table.max() == len(some)
    assert not table[-1].any()  # of no token
    assert len(table) == len(passages.features) + 1


def test_every_token_is_learned_once_in_an_epoch_and_long_texts_are_cut_elsewhere_in_the_next(
    passages: Passages,
) -> None:
    chance = Random(1)
    cuts = []
    for _ in range(2):
        seen = [np.zeros(len(tokens), dtype=int) for tokens in passages.tokens]
        for size, windows in passages.batches(SETTINGS, chance, 0):
            tokens, wanted = passages.arrays(size, windows, SETTINGS)
            assert tokens.shape == wanted.shape == (size, SETTINGS.batch_tokens // size)
            assert (tokens < len(passages.features)).sum() == sum(end - start for _, start, end in windows)
            for column, (document, start, end) in enumerate(windows):
                seen[document][start:end] += 1
                assert tokens[: end - start, column].tolist() == passages.tokens[document][start:end].tolist()
                assert not (wanted[end - start :, column] != UNLABELLED).any()
        assert all((times == 1).all() for times in seen)
        cuts.append({window for _, windows in passages.batches(SETTINGS, chance, 0) for window in windows})
    assert cuts[0] != cuts[1]


def test_draws_take_turns_and_the_first_alone_says_which_features_are_frequent(lexicon: Lexicon) -> None:
    passages = Passages()
    for document in written()[:6]:
        add(passages, document, lexicon)
    names = passages.names(SETTINGS)
    passages.draw()
    for document in written()[6:10]:
        add(passages, document, lexicon)
    assert passages.names(SETTINGS) == names
    for draw, documents in ((0, range(6)), (1, range(6, 10))):
        windows = [w for _, some in passages.batches(SETTINGS, Random(1), draw) for w in some]
        assert {window.document for window in windows} == set(documents)


@pytest.mark.slow
def test_a_reader_learns_and_is_read_as_it_was_learned(
    lexicon: Lexicon, passages: Passages, tmp_path: Path
) -> None:
    pytest.importorskip("optax")
    messages: list[str] = []
    settings = replace(SETTINGS, n_epochs=8, learn_rate=0.02, warmup_steps=10, average=0.9)
    train_lstm(passages, settings, labels=LABELS, seed=1, out=tmp_path, log=messages.append)
    losses = [float(line.rpartition(" ")[2]) for line in messages]
    assert len(losses) == 8
    assert losses[-1] < losses[0] / 2
    reader = BidirectionalLstm.load(tmp_path)
    right = total = 0
    for document, wanted in zip(written()[:40], passages.wanted, strict=True):
        best = reader.log_probabilities(lexicon, lexicon.read(document.text)).argmax(axis=1)
        label = {number: name for name, number in passages.labels.items()}
        named = [(LABELS[b], label[w]) for b, w in zip(best.tolist(), wanted.tolist(), strict=True) if w >= 0]
        right += sum(b == w != "O" for b, w in named)
        total += sum(w != "O" for _, w in named)
    assert right > 0.3 * total > 100

    # The network itself, with the weights as they were written and nothing dropped.
    with np.load(tmp_path / WEIGHTS) as stored:
        names = tuple(stored["names"].tobytes().decode().split("\0"))
        arrays = {"embeddings": stored["embeddings"] * stored["embedding_scale"].astype(float)[:, None]}
    onnx = pytest.importorskip("onnx")
    written_as = {
        array.name.removeprefix("half_"): onnx.numpy_helper.to_array(array).astype(np.float32)
        for array in onnx.load(tmp_path / NETWORK).graph.initializer
    }
    arrays |= {
        "input_weights": _as_learned(written_as["weights"]),
        "recurrent_weights": _as_learned(written_as["recurrent"]),
        "bias": _as_learned(written_as["bias"][:, : 4 * settings.n_hidden, None])[:, 0],
        "output_weights": np.concatenate((written_as["of_states"], written_as["of_inputs"])),
        "output_bias": written_as["offset"],
    }
    text = "Seen by Ann Roy of Gimli, 12 Main Street."
    alone = Passages(features=dict(passages.features))
    add(alone, Labelled(text, ((8, 15, "PER"),)), lexicon)
    tokens = alone.table(names)[alone.tokens[0]][:, None]
    label_of = {number: LABELS.index(name) for name, number in alone.labels.items()}
    wanted = np.array([label_of[n] for n in alone.wanted[0].tolist()])
    still = replace(settings, dropout=0.0, feature_dropout=0.0)
    key = pytest.importorskip("jax").random.key(0)
    loss = passage_network._loss(still, arrays, key, tokens, wanted[:, None].astype(np.int8))
    mine = reader.log_probabilities(lexicon, lexicon.read(text))
    assert float(loss) == pytest.approx(-mine[np.arange(len(wanted)), wanted].mean(), abs=1e-4)


def _as_learned(weights: np.ndarray) -> np.ndarray:
    """Return the weights of gates in the order input, forget, output, content: (2, k, 4h)."""
    entry, out, forget, content = np.split(weights.transpose(0, 2, 1), 4, axis=2)
    return np.concatenate((entry, forget, out, content), axis=2)
