"""The best path and its probabilities at the ends of what may be; tests/train compares with CRFsuite."""

import numpy as np

from phiscan.screen.ner.viterbi import decode, marginals


def test_marginals_stand_strong_scores_and_long_chains() -> None:
    emission = np.tile(np.array([[90, -90, 0]], dtype=np.float32), (500, 1))
    found = marginals(emission, np.zeros((3, 3), np.float32), np.array([0]), np.array([500]))
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-5)
    assert (found[:, 0] > 0.99).all()


def test_no_chain_gives_no_label() -> None:
    nothing = np.zeros(0, dtype=np.int64)
    assert decode(np.zeros((0, 3), np.float32), np.zeros((3, 3), np.float32), nothing, nothing).shape == (0,)
