"""Simulations: seeded, and honest about what does not exist."""

from papers.simulation import simulate


def test_reproduces_the_findings_of_the_source() -> None:
    # Boyd (2014): upper trapezoid, convex and max overestimate; cross-validation covers too rarely.
    run = simulate("binormal", n_examples=200, replicates=150, bootstrap=0, seed=1)
    ratio = {item.estimator: item.ratio for item in run.estimators}
    assert ratio["interpolated_convex"] > ratio["upper_trapezoid"] > 1.1
    assert abs(ratio["interpolated_median"] - 1) < abs(ratio["interpolated_max"] - 1)
    coverage = {(item.estimator, item.interval): item.coverage for item in run.intervals}
    assert coverage["average_precision", "cross_validation"] < 0.8
    assert coverage["lower_trapezoid", "logit"] > 0.9
    assert ("average_precision", "bootstrap") not in coverage


def test_is_seeded() -> None:
    one = simulate("bibeta", n_examples=50, replicates=3, bootstrap=10, seed=9)
    assert one == simulate("bibeta", n_examples=50, replicates=3, bootstrap=10, seed=9)
    assert one != simulate("bibeta", n_examples=50, replicates=3, bootstrap=10, seed=8)
