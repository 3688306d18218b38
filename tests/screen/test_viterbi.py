import itertools
from collections.abc import Iterator

import numpy as np
import pytest

from phiscan.screen.ner.viterbi import Floats, Ints, decode, marginals

N_LABELS = 3


def chains(seed: int, lengths: list[int]) -> tuple[Floats, Floats, Ints, Ints]:
    random = np.random.default_rng(seed)
    emission = random.normal(size=(sum(lengths), N_LABELS)).astype(np.float32)
    transition = random.normal(size=(N_LABELS, N_LABELS)).astype(np.float32)
    starts = np.cumsum([0, *lengths[:-1]])
    return emission, transition, starts, np.array(lengths)


def every_path(emission: Floats, transition: Floats) -> Iterator[tuple[tuple[int, ...], float]]:
    for path in itertools.product(range(N_LABELS), repeat=len(emission)):
        score = sum(emission[i, y] for i, y in enumerate(path))
        yield path, score + sum(transition[a, b] for a, b in itertools.pairwise(path))


@pytest.mark.parametrize("seed", range(5))
def test_decode_finds_the_best_of_all_paths(seed: int) -> None:
    emission, transition, starts, lengths = chains(seed, [1, 5, 2, 6, 3, 1])
    found = decode(emission, transition, starts, lengths)
    for start, length in zip(starts, lengths, strict=True):
        best = max(every_path(emission[start : start + length], transition), key=lambda item: item[1])[0]
        assert tuple(found[start : start + length]) == best


@pytest.mark.parametrize("seed", range(5))
def test_marginals_are_the_shares_of_all_paths(seed: int) -> None:
    emission, transition, starts, lengths = chains(seed, [4, 1, 5, 2])
    found = marginals(emission, transition, starts, lengths)
    for start, length in zip(starts, lengths, strict=True):
        expected = np.zeros((length, N_LABELS))
        for path, score in every_path(emission[start : start + length], transition):
            expected[np.arange(length), path] += np.exp(score)
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(found[start : start + length], expected, rtol=1e-4, atol=1e-5)


def test_marginals_stand_strong_scores_and_long_chains() -> None:
    emission = np.tile(np.array([[90, -90, 0]], dtype=np.float32), (500, 1))
    found = marginals(emission, np.zeros((3, 3), np.float32), np.array([0]), np.array([500]))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    assert (found[:, 0] > 0.99).all()


def test_no_chain_gives_no_label() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert decode(np.zeros((0, 3), np.float32), np.zeros((3, 3), np.float32), nothing, nothing).shape == (0,)
