"""How well the scores order the decided files: from the verdicts, and null where one class is missing."""

from dataclasses import replace

import pytest

from phiscan.metrics.ranking import (
    auc_roc,
    average_precision,
    interpolated_median,
    logit_interval,
    lower_trapezoid,
    minimum_aucpr,
    minimum_average_precision,
    rank,
)
from phiscan.model import Referral, Verdict
from phiscan.report.gather import gather
from phiscan.report.pack import pack
from phiscan.report.rendering.html import plots
from phiscan.report.sections.screened import ScoreRanking
from phiscan.review.store import Store
from tests.report.page import visible_text
from tests.report.synthetic import NOW, Fill, Made, screened

SCORES = (0.9, 0.8, 0.7, 0.6, 0.5, 0.4)
LABELS = (1, 0, 1, 1, 0, 0)


def ordered(filled: Fill, labels: tuple[int, ...] = LABELS) -> Made:
    made = filled(
        [
            replace(screened(f"{n}.txt", Referral.REFERRED, number=n), health_score=score)
            for n, score in enumerate(SCORES)
        ]
    )
    verdicts = [(n + 1, Verdict.PHI if label else Verdict.NOT_PHI) for n, label in enumerate(labels)]
    Store(made.database).decide_all(verdicts, reviewer="A", now=NOW)
    return made


def ranking_of(made: Made, score: str = "health_score") -> ScoreRanking:
    return next(r for r in gather(made.database, now=NOW).data.rankings if r.score == score)


def test_takes_every_area_from_the_metrics(filled: Fill) -> None:
    found = {e.name.rpartition(", ")[2]: e for e in ranking_of(ordered(filled)).estimates}
    ranking = rank(SCORES, LABELS)
    assert found["Average precision"].value == average_precision(ranking)
    assert found["Average precision"].ci95 == logit_interval(average_precision(ranking), 3).ends
    assert found["lower trapezoid"].value == lower_trapezoid(ranking)
    assert found["interpolated median"].value == interpolated_median(ranking)
    assert found["Area under the ROC curve"].value == auc_roc(ranking) == pytest.approx(7 / 9)
    assert found["Skew"].value == 0.5
    assert found["Minimum area under the precision-recall curve"].value == minimum_aucpr(0.5)
    assert found["Minimum average precision"].value == minimum_average_precision(3, 3)


def test_ranks_by_the_order_of_the_queue(filled: Fill) -> None:
    made = ordered(filled)
    queue = Store(made.database).queue(made.scan, verdicts=None, limit=None, offset=0)
    expected = rank([item.risk for item in queue], [item.verdict is Verdict.PHI for item in queue])
    assert ranking_of(made, "risk").estimates[0].value == average_precision(expected)


@pytest.mark.parametrize("label", [0, 1])
def test_says_null_and_why_when_one_class_is_missing(filled: Fill, label: int) -> None:
    made = ordered(filled, (label,) * 6)
    found = ranking_of(made)
    assert found.estimates == found.curve == ()
    assert found.reason
    assert "needs both kinds" in visible_text(pack(gather(made.database, now=NOW))["report.html"])


def test_leaves_out_open_and_unsure_files_and_counts_the_unreferred(filled: Fill) -> None:
    made = filled(
        [screened(f"{n}.txt", Referral.REFERRED, number=n) for n in range(4)]
        + [screened("c.txt", Referral.CLEAR, number=9)]
    )
    verdicts = [(1, Verdict.PHI), (2, Verdict.NOT_PHI), (3, Verdict.UNSURE), (5, Verdict.NOT_PHI)]
    Store(made.database).decide_all(verdicts, reviewer="A", now=NOW)
    found = ranking_of(made)
    assert (found.phi, found.not_phi, found.not_referred) == (1, 2, 1)


def test_leaves_out_files_without_the_score(filled: Fill) -> None:
    results = [screened(f"{n}.txt", Referral.REFERRED, number=n) for n in range(2)]
    made = filled([*results, replace(screened("x", Referral.REFERRED, number=3), health_score=None)])
    verdicts = [(1, Verdict.PHI), (2, Verdict.NOT_PHI), (3, Verdict.PHI)]
    Store(made.database).decide_all(verdicts, reviewer="A", now=NOW)
    assert (ranking_of(made).phi, ranking_of(made).no_score) == (1, 1)
    assert (ranking_of(made, "risk").phi, ranking_of(made, "risk").no_score) == (2, 0)


def test_draws_the_curve_over_the_unachievable_region(filled: Fill) -> None:
    drawn = plots(gather(ordered(filled).database, now=NOW).data)["precision_recall_health_score"]
    assert "unachievable: area 0.307" in drawn
    assert "3 PHI, 3 not PHI: skew 0.500" in drawn


def test_says_that_the_screen_chose_the_files(filled: Fill) -> None:
    text = visible_text(pack(gather(ordered(filled).database, now=NOW))["report.html"])
    assert "verification bias" in text
    assert "not how well the score finds PHI on the whole share" in text
