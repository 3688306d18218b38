import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.health.knn import ConceptTfidf, OneClassKnn

NAMES = ("dx:asthma", "dx:gout", "rx:insulin", "cue:dose", "kind:dx", "sx:cough")
BAGS = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.integers(1, 9), min_size=1), min_size=6, max_size=20
)


@given(BAGS)
@settings(max_examples=40, deadline=None)
def test_euclidean_order_is_cosine_order(bags: list[dict[str, int]]) -> None:
    rows = ConceptTfidf().fit(bags).transform(bags).toarray()
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0)
    cosine = rows @ rows[0]
    distance = np.linalg.norm(rows - rows[0], axis=1)
    assert np.allclose(distance**2, 2 - 2 * cosine)


@given(BAGS)
@settings(max_examples=25, deadline=None)
def test_distances_equal_those_computed_by_hand(bags: list[dict[str, int]]) -> None:
    tfidf = ConceptTfidf().fit(bags)
    rows = tfidf.transform(bags)
    knn = OneClassKnn(k=2).fit(rows)
    dense = rows.toarray()
    between = np.linalg.norm(dense[:, None] - dense[None], axis=2)
    distances, _ = knn.nearest(tfidf.rows(bags))
    assert np.allclose(distances, np.sort(between, axis=1)[:, 1], atol=1e-6)
    np.fill_diagonal(between, np.inf)
    left_out = np.sort(between, axis=1)[:, 1]
    assert math.isclose(knn.threshold_, float(np.quantile(left_out, knn.quantile)), abs_tol=1e-6)


def test_score_is_half_at_the_threshold_and_falls_with_distance() -> None:
    knn = OneClassKnn(k=1).restore(None, 1.0, 0.2)
    scores = knn.score(np.array([0.0, 0.9, 1.0, 1.1, 1.4]))
    assert scores[2] == 0.5
    assert (np.diff(scores) < 0).all()
    assert ((scores >= 0) & (scores <= 1)).all()


def test_an_unknown_concept_moves_a_row_away() -> None:
    bags = [{"dx:asthma": 1, "cue:dose": 1}] * 4
    tfidf = ConceptTfidf().fit(bags)
    knn = OneClassKnn(k=1).fit(tfidf.transform(bags))
    near, _ = knn.nearest(tfidf.rows([bags[0]]))
    far, _ = knn.nearest(tfidf.rows([{**bags[0], "dx:unheard-of": 3}]))
    assert far[0] > near[0]
