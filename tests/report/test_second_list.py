"""The second list in the estimates: its size, its yield, and whether it was reviewed."""

from dataclasses import replace

import pytest

from phiscan.model import FileResult, Referral, Verdict
from phiscan.report.rendering.html import render
from tests.report.synthetic import Fill, data_of, decide, screened

NAMES = ("patterns", "names", "text")


def listed(path: str, number: int, said: tuple[bool, bool, bool]) -> FileResult:
    result = screened(path, Referral.PII_ONLY, number=number)
    return replace(result, detectors=tuple(zip(NAMES, said, strict=True)), second_look=True)


def made_share() -> list[FileResult]:
    return [
        *(screened(f"referred-{number}.txt", Referral.REFERRED, number=number) for number in range(6)),
        *(listed(f"listed-{number}.txt", 10 + number, (False, False, True)) for number in range(4)),
        screened("clear.txt", Referral.CLEAR, number=20),
    ]


def test_says_that_the_estimate_is_too_low_until_the_list_is_reviewed(filled: Fill) -> None:
    verdicts = {f"referred-{number}.txt": Verdict.PHI for number in range(6)}
    data = decide(filled(made_share()), verdicts)
    found = data.second_list
    assert (found.files, found.reviewed, found.phi, found.too_low) == (4, 0, 0, True)
    assert found.phi_share is not None
    assert (found.phi_share.value, found.phi_share.reason) == (
        None,
        "no file of the second list has been reviewed",
    )
    assert "0 of 4 reviewed" in found.sentence
    assert "too low" in found.sentence
    assert found.sentence in render(data)
    assert data.capture.counts == {"111": 6, "001": 0}


def test_reviewed_files_of_the_list_are_in_the_capture_histories(filled: Fill) -> None:
    verdicts = {f"referred-{number}.txt": Verdict.PHI for number in range(6)}
    verdicts |= {"listed-0.txt": Verdict.PHI, "listed-1.txt": Verdict.PHI, "listed-2.txt": Verdict.NOT_PHI}
    data = decide(filled(made_share()), verdicts)
    found = data.second_list
    assert (found.files, found.reviewed, found.phi, found.not_phi) == (4, 3, 2, 1)
    assert found.phi_share is not None
    assert found.phi_share.value == 2 / 3
    assert data.capture.counts == {"111": 6, "001": 2}
    assert data.capture.n_found == 8
    assert "66.7" in render(data)


@pytest.mark.parametrize(
    ("n_listed", "verdict", "counts", "said"),
    [
        (4, Verdict.NOT_PHI, (4, 4, False), "complete"),
        (4, Verdict.UNSURE, (4, 0, True), "too low"),  # reviews nothing
        (0, None, (0, 0, False), "empty"),
    ],
)
def test_says_whether_the_list_was_reviewed(
    filled: Fill, n_listed: int, verdict: Verdict, counts: tuple[int, int, bool], said: str
) -> None:
    made = filled(made_share()[: 6 + n_listed])
    found = decide(made, {f"listed-{number}.txt": verdict for number in range(n_listed)}).second_list
    assert (found.files, found.reviewed, found.too_low) == counts
    assert said in found.sentence


def test_says_where_the_learned_version_and_the_former_one_differ(filled: Fill) -> None:
    share = [
        *made_share(),
        replace(listed("spared.txt", 30, (False, False, False)), reasons=(("former_version", 0.7),)),
        replace(screened("added.txt", Referral.REFERRED, number=31), reasons=(("former_version", -0.4),)),
    ]
    found = data_of(filled(share)).second_list
    assert found.files == 5
    assert "the learned version in use refers 1 that the former one would not" in found.sentence
    assert "spares 1 that it would refer" in found.sentence
