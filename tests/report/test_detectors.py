"""Each detector's confusion matrix under the estimated total, and how its features depend."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from phiscan.model import Outcome, PiiBit, PiiVector, Referral, SourceFile, Verdict
from phiscan.report.sections.missed import MIN_COMPARED, capture_recapture, feature_dependence
from phiscan.review.worklist.model import FileRecord

NAMES = ("patterns", "names", "text")


def entry(number: int, said: tuple[bool, ...], verdict: Verdict | None, **more: Any) -> FileRecord:
    made = FileRecord(
        source=SourceFile(b"/r", b"a.txt", 1, 1, 1, number, 1),
        outcome=Outcome.SCREENED,
        file_id=number,
        root_id=1,
        root="/r",
        path=f"{number}.txt",
        examination_id=number,
        scan_id=1,
        media_type="text/plain",
        referral=Referral.REFERRED,
        hamming=0,
        health_score=0.5,
        n_people=1,
        n_findings=1,
        risk=1.0,
        detectors=tuple(zip(NAMES, said, strict=True)),
        verdict=verdict,
    )
    return replace(made, **more)


def share() -> list[FileRecord]:
    """Return 60 PHI files that the three find independently with recall 0.7, and 200 that are none."""
    random = np.random.default_rng(1)
    files = []
    for number in range(60):
        said = tuple(bool(hit) for hit in random.random(3) < 0.7)
        files.append(entry(number, said, Verdict.PHI if any(said) else None))
    files += [entry(100 + n, (n < 5, False, False), Verdict.NOT_PHI if n < 5 else None) for n in range(200)]
    return files


def test_gives_every_detector_its_fn_tn_and_accuracy() -> None:
    found = capture_recapture(share())
    assert found.models is not None
    assert found.models.averaged is not None
    total = found.models.averaged.total
    for row in found.accuracy:
        assert row.tn is not None
        assert row.fn == pytest.approx(total - row.tp)
        assert row.tn == pytest.approx(260 - total - row.fp)
        assert row.accuracy == pytest.approx((row.tp + row.tn) / 260)
        assert row.by == "averaged over models"
    assert [row.fp for row in found.accuracy] == [5, 0, 0]


def test_leaves_tn_unknown_while_marked_files_are_open() -> None:
    files = [*share(), entry(999, (False, True, False), None)]
    patterns, names, _ = capture_recapture(files).accuracy
    assert patterns.tn is not None
    assert names.tn is None
    assert names.reason is not None
    assert "1 files that it marked are not verified" in names.reason


def test_measures_the_dependence_of_features_over_confirmed_files() -> None:
    files = []
    for number in range(40):
        has = number % 2 == 0
        vector = PiiVector(frozenset({PiiBit.PHONE, PiiBit.FIRST_NAME}) if has else frozenset())
        files.append(entry(number, (True, True, True), Verdict.PHI, vector=vector))
    pair, *others = feature_dependence(files, NAMES)
    assert (pair.first, pair.second, pair.compared) == ("patterns", "names", 40)
    assert (pair.first_feature, pair.second_feature) == ("PhoneNumber", "FirstName")
    assert pair.highest == pytest.approx(np.log(2))
    assert pair.mean is not None
    assert pair.highest is not None
    assert pair.mean < pair.highest
    assert all(other.mean is None and other.reason for other in others)
    few = feature_dependence(files[: MIN_COMPARED - 1], NAMES)[0]
    assert few.mean is None
    assert few.reason is not None
