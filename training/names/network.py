"""Training of the LSTM of the name tagger in JAX; it is written for onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.screen.ner.lstm import NETWORK, WEIGHTS, Arrays
from training.names.folds import Log
from training.names.weights import packed
from training.names.windows import UNLABELLED, LstmSettings, Passages
from training.needs import needed

_MAX_COMPONENT: Final = 127  # of an embedding in eight bits
_AVERAGED: Final = 10  # steps after which the running average begins to be one
_LAST_RATE: Final = 0.02  # of the learning rate, at the last step


def train_lstm(
    passages: Passages, settings: LstmSettings, *, labels: Sequence[str], seed: int, out: Path, log: Log
) -> None:
    """Train an LSTM for ``labels``, and write its weights to ``out``."""
    names = passages.names(settings)
    table = passages.table(names)
    column = np.full(len(labels) + 1, UNLABELLED, dtype=np.int8)  # the last is what -1 asks for
    for label, number in passages.labels.items():
        column[number] = labels.index(label)
    chance = Random(seed)
    n_draws = len(passages.draws)
    epochs = [list(passages.batches(settings, chance, n % n_draws)) for n in range(settings.n_epochs)]
    begun = _begun(np.random.default_rng(seed), len(names), len(labels), settings)
    learning = _Learning(begun, settings, seed, sum(map(len, epochs)))
    for epoch, batches in enumerate(epochs, start=1):
        losses = []
        for size, windows in batches:
            tokens, wanted = passages.arrays(size, windows, settings)
            losses.append(learning.step(table[tokens], column[wanted]))
        log(f"epoch {epoch} of {settings.n_epochs}: loss {float(np.mean(losses)):.4f}")
    _write(out, names, labels, learning.averages())


def _begun(draw: np.random.Generator, n_features: int, n_labels: int, settings: LstmSettings) -> Arrays:
    """Return the initial weights; the forget gates are open at first."""
    n_dims, n_hidden = settings.n_dims, settings.n_hidden

    def drawn(*shape: int) -> npt.NDArray[np.float32]:
        near = n_hidden**-0.5
        return draw.uniform(-near, near, shape).astype(np.float32)

    bias = np.zeros((2, 4 * n_hidden), dtype=np.float32)
    bias[:, n_hidden : 2 * n_hidden] = 1.0
    return {
        "embeddings": draw.normal(0.0, 0.15, (n_features, n_dims)).astype(np.float32),
        "input_weights": drawn(2, n_dims, 4 * n_hidden),
        "recurrent_weights": drawn(2, n_hidden, 4 * n_hidden),
        "bias": bias,
        "output_weights": drawn(2 * n_hidden + n_dims, n_labels),
        "output_bias": np.zeros(n_labels, dtype=np.float32),
    }


class _Learning:
    """The steps of a training: Adam, a rate that rises and falls, and the running average of the weights."""

    def __init__(self, begun: Arrays, settings: LstmSettings, seed: int, n_steps: int) -> None:
        jax, optax = needed("jax"), needed("optax")
        rate = optax.warmup_cosine_decay_schedule(
            0.0,
            settings.learn_rate,
            min(settings.warmup_steps, n_steps // 2),
            n_steps,
            settings.learn_rate * _LAST_RATE,
        )
        optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adam(rate, b2=0.99))
        self._state: tuple[Any, ...] = (begun, begun, optimizer.init(begun), 0)
        self._keys = iter(jax.random.split(jax.random.key(seed), n_steps))

        def stepped(state: tuple[Any, ...], key: Any, batch: tuple[Any, Any]) -> tuple[tuple[Any, ...], Any]:
            weights, average, moments, number = state
            loss, slope = jax.value_and_grad(partial(_loss, settings))(weights, key, *batch)
            change, moments = optimizer.update(slope, moments)
            weights = optax.apply_updates(weights, change)
            share = jax.numpy.minimum(settings.average, (1 + number) / (_AVERAGED + number))
            average = jax.tree.map(lambda old, new: share * old + (1 - share) * new, average, weights)
            return (weights, average, moments, number + 1), loss

        self._stepped = jax.jit(stepped)

    def step(self, tokens: npt.NDArray[np.int32], wanted: npt.NDArray[np.int8]) -> Any:
        """Take one step of training and return the loss; ``tokens``: (t, b, features), ``wanted``: (t, b)."""
        self._state, loss = self._stepped(self._state, next(self._keys), (tokens, wanted))
        return loss

    def averages(self) -> Arrays:
        """Return the running average of the weights."""
        return {name: np.asarray(array) for name, array in self._state[1].items()}


def _loss(settings: LstmSettings, weights: Mapping[str, Any], key: Any, tokens: Any, wanted: Any) -> Any:
    """Return the mean negative log probability of the labels."""
    jax = needed("jax")
    jnp = jax.numpy
    by_feature, by_token, by_state = jax.random.split(key, 3)
    there = tokens.any(axis=2, keepdims=True) | (wanted[:, :, None] >= 0)
    tokens = tokens * jax.random.bernoulli(by_feature, 1 - settings.feature_dropout, tokens.shape)
    vectors = jnp.concatenate((jnp.zeros((1, settings.n_dims)), weights["embeddings"]))
    inputs = _dropped(by_token, jnp.tanh(vectors[tokens].sum(axis=2)), settings.dropout)
    forwards = _hidden_states(weights, 0, inputs, there)
    backwards = _hidden_states(weights, 1, inputs[::-1], there[::-1])[::-1]
    states = _dropped(by_state, jnp.concatenate((forwards, backwards), axis=2), settings.dropout)
    logits = jnp.concatenate((states, inputs), axis=2) @ weights["output_weights"] + weights["output_bias"]
    log_probabilities = jax.nn.log_softmax(logits)
    right = jnp.take_along_axis(log_probabilities, jnp.maximum(wanted, 0)[:, :, None].astype(int), axis=2)[
        :, :, 0
    ]
    counts = wanted >= 0
    return -(right * counts).sum() / jnp.maximum(counts.sum(), 1)


def _hidden_states(weights: Mapping[str, Any], direction: int, inputs: Any, there: Any) -> Any:
    """Return the hidden states of one direction, (t, b, h); padding leaves the cells at zero."""
    jax = needed("jax")
    jnp = jax.numpy
    projected = inputs @ weights["input_weights"][direction] + weights["bias"][direction]

    def step(state: tuple[Any, Any], now: tuple[Any, Any]) -> tuple[tuple[Any, Any], Any]:
        hidden, cells = state
        entry, forget, out, content = jnp.split(
            now[0] + hidden @ weights["recurrent_weights"][direction], 4, axis=1
        )
        cells = jax.nn.sigmoid(forget) * cells + jax.nn.sigmoid(entry) * jnp.tanh(content)
        cells = cells * now[1]
        hidden = jax.nn.sigmoid(out) * jnp.tanh(cells)
        return (hidden, cells), hidden

    start = jnp.zeros((inputs.shape[1], weights["recurrent_weights"].shape[1]))
    return jax.lax.scan(step, (start, start), (projected, there))[1]


def _dropped(key: Any, values: Any, share: float) -> Any:
    """Return values after dropout of a share."""
    return values * needed("jax").random.bernoulli(key, 1 - share, values.shape) / (1 - share)


def _write(out: Path, names: Sequence[str], labels: Sequence[str], learned: Arrays) -> None:
    """Write the embeddings in eight bits, each with its own scale, and the network that reads their sums."""
    vectors = learned["embeddings"]
    scale = np.maximum(np.abs(vectors).max(axis=1) / _MAX_COMPONENT, np.finfo(np.float16).tiny).astype(
        np.float16
    )
    eight = (
        np.rint(vectors / scale[:, None].astype(np.float32))
        .clip(-_MAX_COMPONENT, _MAX_COMPONENT)
        .astype(np.int8)
    )
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / WEIGHTS,
        names=packed(names),
        labels=packed(labels),
        embeddings=eight,
        embedding_scale=scale,
    )
    (out / NETWORK).write_bytes(graph_of(learned))


def graph_of(learned: Arrays) -> bytes:
    """Return the network as an ONNX graph: inputs of tokens, (t, b, e), to logits, (t, b, L).

    ``learned``: for the two directions ``input_weights`` (2, e, 4h), ``recurrent_weights`` (2, h, 4h) and
    ``bias`` (2, 4h), with the gates in the order input, forget, output, content; ``output_weights``
    (2h + e, L) and ``output_bias`` (L,). They are kept in half precision.
    """
    onnx = needed("onnx")
    make, real = onnx.helper, onnx.TensorProto.FLOAT
    n_states = 2 * learned["recurrent_weights"].shape[1]
    n_dims, n_labels = learned["input_weights"].shape[1], learned["output_weights"].shape[1]
    bias = _in_order(learned["bias"][:, None])[:, :, 0]
    half = {
        "weights": _in_order(learned["input_weights"]),
        "recurrent": _in_order(learned["recurrent_weights"]),
        "bias": np.concatenate((bias, np.zeros_like(bias)), axis=1),  # ONNX has a second one
        "of_states": learned["output_weights"][:n_states],
        "of_inputs": learned["output_weights"][n_states:],
        "offset": learned["output_bias"],
    }
    constants = [
        onnx.numpy_helper.from_array(array.astype(np.float16), f"half_{name}") for name, array in half.items()
    ]
    constants.append(make.make_tensor("shape", onnx.TensorProto.INT64, [3], [0, 0, n_states]))
    nodes = [make.make_node("Cast", [f"half_{name}"], [name], to=real) for name in half]
    for operator, taken, given, settings in (
        (
            "LSTM",
            ("inputs", "weights", "recurrent", "bias"),
            "states",
            {"direction": "bidirectional", "hidden_size": n_states // 2},
        ),
        ("Transpose", ("states",), "by_window", {"perm": [0, 2, 1, 3]}),
        ("Reshape", ("by_window", "shape"), "both", {}),
        ("MatMul", ("both", "of_states"), "first", {}),
        ("MatMul", ("inputs", "of_inputs"), "second", {}),
        ("Add", ("first", "second"), "sum", {}),
        ("Add", ("sum", "offset"), "logits", {}),
    ):
        nodes.append(make.make_node(operator, list(taken), [given], **settings))
    ends = [
        [make.make_tensor_value_info(name, real, ["t", "b", size])]
        for name, size in (("inputs", n_dims), ("logits", n_labels))
    ]
    graph = make.make_graph(nodes, "passages", *ends, constants)
    model = make.make_model(graph, opset_imports=[make.make_opsetid("", 17)], ir_version=8)
    return bytes(model.SerializeToString())


def _in_order(weights: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return weights, (2, k, 4h), with the gates in the order of ONNX (input, output, forget), (2, 4h, k)."""
    entry, forget, out, content = np.split(weights, 4, axis=2)
    return np.concatenate((entry, out, forget, content), axis=2).transpose(0, 2, 1)
