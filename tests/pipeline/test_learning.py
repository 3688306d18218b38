"""What a version may learn from screened positives, and what is said of it, from evidence alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from phiscan.decision.calibration import fit_line, inverse_probabilities
from phiscan.decision.decided_examples import SIZE, DecidedExamples, LearnedDecision, Line, stored_point
from phiscan.decision.model import threshold_of
from phiscan.health.patient_classifier import log_odds_of, probability_of
from phiscan.model import PiiVector, ScannedFile, Verdict
from phiscan.pipeline.learning.effect import Share, effect_of
from phiscan.pipeline.learning.learn import Decided, learn, warnings_of
from phiscan.review.decisions.learning import ReviewedFile
from tests.review.results import NOW

LIMIT = log_odds_of(threshold_of(60.0))
N_PHI, N_FALSE, N_OTHER = 28, 25, 2950  # referred and unreferred files of the share that was seen
REVIEWERS = ("ada", "bea", "cyd")


def scanned(
    file_id: int, log_odds: float, size: float, verdict: Verdict | None = None, *, second: bool = False
) -> ScannedFile:
    point = {"words": log_odds + 7.0, SIZE: size}
    return ScannedFile(
        file_id=file_id,
        root="/share",
        path=f"{file_id}.txt",
        is_referred=log_odds >= LIMIT,
        second_look=second,
        probability=probability_of(log_odds),
        verdict=verdict,
        since=NOW,
        evidence=dict(stored_point(point, log_odds, 0.0)),
    )


def share_of(*, first: int = 1, decided: bool = True, seed: int = 1) -> list[ScannedFile]:
    """Return PHI well above the threshold, long others just above it, and a falling number of files below."""
    draw = np.random.default_rng(seed)
    log_odds = [
        *draw.normal(-0.5, 1.0, N_PHI).clip(-3.0, 2.0),
        *draw.uniform(LIMIT, -2.5, N_FALSE),
        *(LIMIT - draw.exponential(1.2, N_OTHER) - 0.01),
    ]
    sizes = [*draw.normal(7, 0.7, N_PHI), *draw.normal(11, 0.7, N_FALSE), *draw.normal(9, 1.5, N_OTHER)]
    verdicts = [*[Verdict.PHI] * N_PHI, *[Verdict.NOT_PHI] * N_FALSE, *[None] * N_OTHER]
    return [
        scanned(first + number, float(at), float(size), verdict if decided else None)
        for number, (at, size, verdict) in enumerate(zip(log_odds, sizes, verdicts, strict=True))
    ]


def reviewed(files: Sequence[ScannedFile]) -> list[ReviewedFile]:
    return [
        ReviewedFile(
            file.file_id,
            f"{file.file_id:064}",
            file.verdict is Verdict.PHI,
            REVIEWERS[number % len(REVIEWERS)],
            PiiVector(),
            {},
            file.evidence,
        )
        for number, file in enumerate(one for one in files if one.verdict is not None)
    ]


def whole(files: Sequence[ScannedFile], random: Sequence[int] = ()) -> Share:
    return Share.of(files, random=random, drawn=None)


def test_decided_referrals_of_one_share_add_none_on_the_next() -> None:
    """As it was seen: 53 referred files decided rightly; the next scan referred 190 files and not 53."""
    files = share_of()
    learned = learn(Decided.of(reviewed(files)), whole(files), LIMIT)
    assert learned.line.start == LIMIT  # fitted above the threshold alone, through it
    other = whole(share_of(first=10_000, decided=False, seed=2))
    counts = effect_of(learned, other, is_knn_alone=False)["share"]["referred"]["unreviewed"]
    assert counts["before"] == N_PHI + N_FALSE
    assert counts["added"] == 0
    assert counts["after"] < N_PHI + N_FALSE / 2
    kept = [
        learned.corrected(float(log_odds), {"words": float(log_odds) + 7.0, SIZE: 7.0})
        for log_odds in other.log_odds[:N_PHI]
    ]
    assert min(kept) >= LIMIT


def test_a_line_for_all_files_from_referred_ones_is_seen_before_it_is_used() -> None:
    bad = LearnedDecision(LIMIT, DecidedExamples.of((), (), ()), Line(0.82, 0.96))
    told = effect_of(bad, whole(share_of()), is_knn_alone=False)
    counts = told["share"]["referred"]["unreviewed"]
    assert counts["added"] > 3 * (N_PHI + N_FALSE)
    assert told["accept"][0] == f"it refers {counts['added']} more unreviewed files and spares 0"
    assert len(told["changes"]) == 20
    assert all(item["referred_after"] and not item["referred_before"] for item in told["changes"])


def test_weights_are_files_per_reviewed_file_of_each_stratum() -> None:
    strata = ["rest"] * 8 + ["second list"] * 4
    is_reviewed = np.array([True, False] * 4 + [True] * 2 + [False] * 2)
    weights = inverse_probabilities(strata, np.zeros(12), is_reviewed)
    assert weights.tolist() == [2.0, 0.0] * 4 + [2.0, 2.0, 0.0, 0.0]
    ranges = inverse_probabilities(["referred"] * 8, np.arange(8.0), np.arange(8) >= 4)
    assert ranges.tolist() == [0.0] * 4 + [1.0] * 4  # where nothing was reviewed nothing is known
    assert weights.sum() == 12


def test_the_line_finds_the_slope_above_the_threshold_and_stays_at_it() -> None:
    draw = np.random.default_rng(5)
    log_odds = draw.uniform(LIMIT, 3, 4000)
    is_phi = draw.random(4000) < 1 / (1 + np.exp(-(LIMIT + 1.6 * (log_odds - LIMIT))))
    line = fit_line(log_odds, is_phi, np.ones(4000), LIMIT)
    assert line.slope == pytest.approx(1.6, abs=0.1)
    assert line(LIMIT) == pytest.approx(LIMIT)
    assert line(LIMIT - 1) == LIMIT - 1
    assert fit_line(log_odds[:9], is_phi[:9], np.ones(9), LIMIT) == Line()


def test_an_intercept_needs_phi_and_others_of_a_random_sample_below() -> None:
    draw = np.random.default_rng(6)
    log_odds = draw.uniform(-7, 3, 6000)
    is_phi = draw.random(6000) < 1 / (1 + np.exp(-(0.8 * log_odds + 1.0)))
    line = fit_line(log_odds, is_phi, np.ones(6000), LIMIT)
    assert line.start is None
    assert (line.slope, line.intercept) == (pytest.approx(0.8, abs=0.06), pytest.approx(1.0, abs=0.15))
    not_drawn = np.where(log_odds >= LIMIT, 1.0, 0.0)
    assert fit_line(log_odds, is_phi, not_drawn, LIMIT).start == LIMIT


def test_missed_phi_is_bounded_by_a_sample_of_every_stratum() -> None:
    files = share_of()
    learned = LearnedDecision(LIMIT, DecidedExamples.of((), (), ()))
    unbounded = effect_of(learned, whole(files), is_knn_alone=False)
    assert unbounded["estimates"]["missed_phi"]["after"]["upper"] is None
    assert unbounded["accept"] == [
        "missed PHI cannot be bounded: no file of a random sample was reviewed of: rest"
    ]
    drawn = [file.file_id for file in files[-300:]]
    sampled = [
        file if file.file_id not in drawn else scanned(file.file_id, -6.0, 9.0, Verdict.NOT_PHI)
        for file in files
    ]
    sampled[-1] = scanned(files[-1].file_id, -6.0, 9.0, Verdict.PHI)
    missed = effect_of(learned, whole(sampled, drawn), is_knn_alone=False)
    after = missed["estimates"]["missed_phi"]["after"]
    assert missed["accept"] == []
    assert after["value"] == pytest.approx(N_OTHER / 300)
    assert N_OTHER / 300 < after["upper"] < 60
    later = Share.of(
        [*sampled[:-300], *(file for file in sampled[-300:])], random=drawn, drawn=NOW - timedelta(days=1)
    )
    assert set(later.strata) == {"referred", "later"}


def test_what_knn_alone_decides_is_accepted_with_a_reason_alone() -> None:
    files = share_of()
    learned = learn(Decided.of(reviewed(files)), whole(files), LIMIT)
    told = effect_of(learned, whole(files), is_knn_alone=True)
    assert told["share"]["not_judged"] == len(files)
    assert told["accept"][-1].startswith("the nearest prototypes decide alone")


def flipped(files: list[ReviewedFile], wrong: set[int]) -> list[ReviewedFile]:
    return [replace(one, is_phi=one.is_phi != (number in wrong)) for number, one in enumerate(files)]


@pytest.mark.parametrize("wrong", [set(range(0, N_PHI + N_FALSE, 10)), set(range(1, N_PHI + N_FALSE, 3))])
def test_wrong_verdicts_lose_no_phi_but_near_copies(wrong: set[int]) -> None:
    files = share_of()
    learned = learn(Decided.of(flipped(reviewed(files), wrong)), whole(files), LIMIT)
    points = [
        (float(log_odds), {"words": float(log_odds) + 7.0, SIZE: 7.0})
        for log_odds in np.arange(-2.0, 2.0, 0.05)
    ]
    assert all(learned.corrected(log_odds, point) >= LIMIT for log_odds, point in points)


def kinds(files: list[ReviewedFile], share: Share) -> dict[str, str]:
    learned = learn(Decided.of(files), share, LIMIT)
    log_odds = Decided.of(files).log_odds
    return {one["kind"]: one["message"] for one in warnings_of(files, learned, log_odds, share)}


def test_a_reviewer_whose_verdicts_are_wrong_is_named() -> None:
    files = share_of()
    told = kinds(flipped(reviewed(files), set(range(1, N_PHI + N_FALSE, 3))), whole(files))
    assert "the verdicts of bea contradict" in told["doubted_reviewer"]
    assert "ada" not in told["doubted_reviewer"]
    right = kinds(reviewed(files), whole(files))
    assert set(right) == {"one_side"}
    assert "`phiscan queue draw`" in right["one_side"]


def test_a_single_wrong_verdict_is_doubted() -> None:
    files = share_of()
    rows = reviewed(files)
    wrong = next(
        i for i in range(N_PHI, N_PHI + N_FALSE) if abs(rows[i].evidence["input size"] - 11_000) < 300
    )
    told = kinds(flipped(rows, {wrong}), whole(files))
    assert told["doubt"].endswith(f"look again at {rows[wrong].file_id}")


def test_few_decisions_and_another_kind_of_share_are_said() -> None:
    files = share_of()
    rows = reviewed(files)
    assert "few" in kinds(rows[20:40], whole(files))
    unlike = [scanned(20_000 + number, -3.0, 16.0) for number in range(30)]
    told = kinds(rows, whole(unlike))
    assert told["shift"].startswith("30 of 30 unreviewed referred files are like no decided file")
    alike = kinds(rows, whole(share_of(first=10_000, decided=False, seed=2)))
    assert "shift" not in alike
