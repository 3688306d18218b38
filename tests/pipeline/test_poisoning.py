"""Each sign of doubtful labels is seen, and sound decisions raise none; calibration needs a random sample."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from phiscan.model import PiiVector, SourceFile
from phiscan.pipeline.learning.calibration import calibrate
from phiscan.pipeline.learning.poisoning import doubts
from phiscan.review.decisions.model_versions import ReviewedFile
from tests.review.results import NOW

SALES = SourceFile(b"/share", b"sales/x.txt", 1, 0, 0, 0, 0)


def files(n_files: int = 80) -> list[ReviewedFile]:
    return [
        ReviewedFile(
            file_id=number,
            source=SourceFile(b"/share", b"folder%d/file%d.txt" % (number // 2 % 8, number), 1, 0, 0, 0, 0),
            content_hash=f"{number:064x}",
            is_phi=number % 2 == 0,
            reviewer=("ada", "bea", "cyd")[number % 3],
            decided=NOW + timedelta(minutes=number),
            n_verdicts=1,
            vector=PiiVector(),
            health=0.8,
            detectors=(),
            n_chars=900,
            counts={},
            evidence={"direct": 0},
        )
        for number in range(n_files)
    ]


def kinds(reviewed: list[ReviewedFile], groups: list[int] | None = None) -> set[str]:
    return {doubt.kind for doubt in doubts(reviewed, groups or list(range(len(reviewed))))}


def test_sound_decisions_raise_no_doubt() -> None:
    assert kinds(files()) == set()


@pytest.mark.parametrize(
    ("kind", "change"),
    [
        ("few", lambda reviewed: reviewed[:20]),
        ("one_reviewer", lambda reviewed: [replace(item, reviewer="eve") for item in reviewed]),
        (
            "one_folder",
            lambda reviewed: [item if item.is_phi else replace(item, source=SALES) for item in reviewed],
        ),
        (
            "drift",
            lambda reviewed: [*reviewed[:60], *(replace(item, is_phi=False) for item in reviewed[60:])],
        ),
        ("disagreement", lambda reviewed: [replace(reviewed[0], n_verdicts=2), *reviewed[1:]]),
        (
            "against_evidence",
            lambda reviewed: [*reviewed[:-1], replace(reviewed[-1], health=0.99, evidence={"direct": 1})],
        ),
    ],
)
def test_each_sign_is_seen(kind: str, change: Callable[[list[ReviewedFile]], list[ReviewedFile]]) -> None:
    assert kinds(change(files())) == {kind}


def test_near_duplicates_that_dominate_are_seen() -> None:
    assert kinds(files(), [0] * 30 + list(range(30, 80))) == {"near_duplicates"}


def test_no_doubt_repeats_a_name_or_a_path() -> None:
    reviewed = [
        replace(item, reviewer="canary-name", source=replace(SALES, path=b"canary-folder/x"))
        for item in files()
    ]
    text = " ".join(doubt.message for doubt in doubts(reviewed, [0] * 80))
    assert "canary" not in text


def test_only_the_random_sample_calibrates() -> None:
    draw = np.random.default_rng(5)
    odds = draw.normal(0, 2, 3000)
    is_phi = draw.random(3000) < 1 / (1 + np.exp(-(0.5 * odds - 1)))
    scores = 1 / (1 + np.exp(-odds))
    found = calibrate(scores, is_phi, [1.0] * 3000)
    assert found["slope"] == pytest.approx(0.5, abs=0.08)
    assert found["intercept"] == pytest.approx(-1, abs=0.15)
    assert all(one["ci95"][0] - 0.03 <= one["predicted"] <= one["ci95"][1] + 0.03 for one in found["bins"])
    nobody = calibrate(scores, is_phi, [0.0] * 3000)
    assert nobody["slope"] is None
    assert "there are 0 phi and 0 not_phi" in nobody["reason"]
