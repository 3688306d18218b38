"""The experiments of Boyd (2014): attack, private error, cost and Brier curves."""

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.metrics import brier_score_loss

from papers.commands.benchmark import benchmark
from papers.cost_curves import brier_curve, brier_score, cost_curve
from papers.evaluation.adult import read_adult, simulated_data
from papers.evaluation.attack import attack
from papers.evaluation.private import private_errors, scored_half
from phiscan.errors import InputError
from phiscan.metrics.ranking import rank

ROW = "39, State-gov, 1, Bachelors, 13, Single, Clerical, Other, White, Male, {}, 0, 40, X, {}"


def test_an_exact_area_betrays_class_and_membership_and_a_private_one_does_not() -> None:
    random = np.random.default_rng(1)
    labels = random.random(80) < 0.4
    results = {item.published: item for item in attack(random.normal(labels, 1), labels, epsilons=(0.1,))}
    nothing, exact, private = (results[name] for name in ("nothing", "exact", "private, epsilon 0.1"))
    assert exact.label > 0.95
    assert exact.membership > 0.95
    assert exact.score_range < 0.2
    assert abs(private.label - nothing.label) < 0.15
    assert abs(private.membership - 0.5) < 0.2


def test_the_error_of_private_figures_falls_with_epsilon_and_with_examples() -> None:
    scored = scored_half(simulated_data(n=12_000))
    errors = private_errors(scored, sizes=(500, 4_000), epsilons=(0.3, 3.0), repetitions=60)
    rmse = {(e.metric, e.noise, e.examples, e.epsilon): e.rmse for e in errors}
    for metric in ("accuracy", "sensitivity", "specificity", "auc_roc", "average_precision"):
        assert rmse[metric, "laplace", 4_000, 3.0] < rmse[metric, "laplace", 4_000, 0.3]
        assert rmse[metric, "laplace", 4_000, 3.0] < rmse[metric, "laplace", 500, 3.0]
    # The plain mechanism: standard deviation sqrt(2)/((n+m) epsilon).
    assert rmse["accuracy", "laplace", 4_000, 3.0] == pytest.approx(2**0.5 / (4_000 * 3), rel=0.5)


def test_the_area_of_the_brier_curve_is_the_brier_score() -> None:
    random = np.random.default_rng(3)
    p = random.random(300)
    y = random.random(300) < p
    grid, loss = brier_curve(p, y.tolist(), np.linspace(0, 1, 200_001).tolist())
    assert np.trapezoid(loss, grid) == pytest.approx(brier_score(p, y.tolist()), abs=1e-4)
    assert brier_score(p, y.tolist()) == pytest.approx(brier_score_loss(y, p))
    with pytest.raises(ValueError, match="probabilities"):
        brier_score([1.5], [True])


def test_the_cost_curve_is_the_least_cost_of_any_threshold() -> None:
    random = np.random.default_rng(4)
    labels = random.random(120) < 0.3
    scores = random.normal(labels, 1).round(1)
    grid, costs = cost_curve(rank(scores.tolist(), labels.tolist()), [0.2, 0.5, 0.9])
    for x, cost in zip(grid, costs, strict=True):
        naive = min(
            (1 - (scores[labels] >= t).mean()) * x + (scores[~labels] >= t).mean() * (1 - x)
            for t in [*scores, np.inf]
        )
        assert cost == pytest.approx(naive)


def test_reads_the_adult_files_and_names_what_is_wrong(tmp_path: Path) -> None:
    good = tmp_path / "adult.test"
    good.write_text(
        "|1x3 Cross validator\n" + ROW.format(2174, "<=50K.") + "\n" + ROW.format(0, ">50K") + "\n\n"
    )
    found = read_adult([good])
    assert found.y.tolist() == [False, True]
    assert len(found.sha256[0]) == 64
    assert found.x[0, 0] == pytest.approx(np.log1p(2174))
    for content, words in (
        ("a,b\n", "line 1: expected 15"),
        (ROW.format("x", ">50K"), "numbers"),
        ("", "none"),
    ):
        bad = tmp_path / "bad.csv"
        bad.write_text(content)
        with pytest.raises(InputError, match=words):
            read_adult([bad])


def test_writes_plots_and_results(tmp_path: Path) -> None:
    out = tmp_path / "boyd"
    result = CliRunner().invoke(benchmark, ["thresholdless", "--repetitions", "20", "--out", str(out)])
    assert result.exit_code == 0, result.output
    names = {"rmse.svg", "attack.svg", "curves.svg", "sensitivity.svg", "results.json", "results.md"}
    assert {path.name for path in out.iterdir()} == names
    assert "| exact | " in result.output
