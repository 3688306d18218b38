"""The network of the LSTM: trained in JAX, its weights written for numpy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.screen.ner.lstm import WEIGHTS, Arrays
from training.names.folds import Tell
from training.names.weights import packed
from training.names.windows import UNLABELLED, Passages, ReaderSettings
from training.needs import needed

_MOST: Final = 127  # of a vector's component in eight bits
_AVERAGED: Final = 10  # steps after which the running average begins to be one
_LAST_RATE: Final = 0.02  # of the learning rate, at the last step


def train_reader(
    passages: Passages, settings: ReaderSettings, *, labels: Sequence[str], seed: int, out: Path, tell: Tell
) -> None:
    """Train a reader that tells ``labels`` apart, and write its weights to ``out``."""
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
        tell(f"epoch {epoch} of {settings.n_epochs}: loss {float(np.mean(losses)):.4f}")
    _write(out, names, labels, learning.averages())


def _begun(draw: np.random.Generator, n_features: int, n_labels: int, settings: ReaderSettings) -> Arrays:
    """Return the weights before the first step; the memories forget little at first."""
    n_dims, n_hidden = settings.n_dims, settings.n_hidden

    def drawn(*shape: int) -> npt.NDArray[np.float32]:
        near = n_hidden**-0.5
        return draw.uniform(-near, near, shape).astype(np.float32)

    bias = np.zeros((2, 4 * n_hidden), dtype=np.float32)
    bias[:, n_hidden : 2 * n_hidden] = 1.0
    return {
        "vectors": draw.normal(0.0, 0.15, (n_features, n_dims)).astype(np.float32),
        "let_in": drawn(2, n_dims, 4 * n_hidden),
        "kept": drawn(2, n_hidden, 4 * n_hidden),
        "bias": bias,
        "said": drawn(2 * n_hidden + n_dims, n_labels),
        "said_bias": np.zeros(n_labels, dtype=np.float32),
    }


class _Learning:
    """The steps of a training: Adam, a rate that rises and falls, and the running average of the weights."""

    def __init__(self, begun: Arrays, settings: ReaderSettings, seed: int, n_steps: int) -> None:
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
        """Learn from passages, return the loss; ``tokens``: (t, b, features), ``wanted``: (t, b)."""
        self._state, loss = self._stepped(self._state, next(self._keys), (tokens, wanted))
        return loss

    def averages(self) -> Arrays:
        """Return the running average of the weights."""
        return {name: np.asarray(array) for name, array in self._state[1].items()}


def _loss(settings: ReaderSettings, weights: Mapping[str, Any], key: Any, tokens: Any, wanted: Any) -> Any:
    """Return the mean surprise at the labels."""
    jax = needed("jax")
    jnp = jax.numpy
    by_feature, by_token, by_state = jax.random.split(key, 3)
    there = tokens.any(axis=2, keepdims=True) | (wanted[:, :, None] >= 0)
    tokens = tokens * jax.random.bernoulli(by_feature, 1 - settings.feature_dropout, tokens.shape)
    vectors = jnp.concatenate((jnp.zeros((1, settings.n_dims)), weights["vectors"]))
    read = _dropped(by_token, jnp.tanh(vectors[tokens].sum(axis=2)), settings.dropout)
    forwards = _remembered(weights, 0, read, there)
    backwards = _remembered(weights, 1, read[::-1], there[::-1])[::-1]
    states = _dropped(by_state, jnp.concatenate((forwards, backwards), axis=2), settings.dropout)
    score = jnp.concatenate((states, read), axis=2) @ weights["said"] + weights["said_bias"]
    told = jax.nn.log_softmax(score)
    right = jnp.take_along_axis(told, jnp.maximum(wanted, 0)[:, :, None].astype(int), axis=2)[:, :, 0]
    counts = wanted >= 0
    return -(right * counts).sum() / jnp.maximum(counts.sum(), 1)


def _remembered(weights: Mapping[str, Any], way: int, read: Any, there: Any) -> Any:
    """Return the states of one memory, (t, b, h); padding is not remembered."""
    jax = needed("jax")
    jnp = jax.numpy
    let_in = read @ weights["let_in"][way] + weights["bias"][way]

    def step(state: tuple[Any, Any], now: tuple[Any, Any]) -> tuple[tuple[Any, Any], Any]:
        hidden, memory = state
        entry, keep, out, content = jnp.split(now[0] + hidden @ weights["kept"][way], 4, axis=1)
        memory = jax.nn.sigmoid(keep) * memory + jax.nn.sigmoid(entry) * jnp.tanh(content)
        memory = memory * now[1]
        hidden = jax.nn.sigmoid(out) * jnp.tanh(memory)
        return (hidden, memory), hidden

    start = jnp.zeros((read.shape[1], weights["kept"].shape[1]))
    return jax.lax.scan(step, (start, start), (let_in, there))[1]


def _dropped(key: Any, values: Any, share: float) -> Any:
    """Return values of which a share is nothing, and the others are so much larger."""
    return values * needed("jax").random.bernoulli(key, 1 - share, values.shape) / (1 - share)


def _write(out: Path, names: Sequence[str], labels: Sequence[str], learned: Arrays) -> None:
    """Write the vectors in eight bits, each with its own scale, and the rest in half precision."""
    vectors = learned["vectors"]
    scale = np.maximum(np.abs(vectors).max(axis=1) / _MOST, np.finfo(np.float16).tiny).astype(np.float16)
    eight = np.rint(vectors / scale[:, None].astype(np.float32)).clip(-_MOST, _MOST).astype(np.int8)
    arrays: Arrays = {name: array.astype(np.float16) for name, array in learned.items()}
    arrays |= {"names": packed(names), "labels": packed(labels), "vectors": eight, "scale": scale}
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / WEIGHTS, **arrays)  # type: ignore[arg-type]  # numpy's stub takes no mapping
