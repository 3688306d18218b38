"""Every figure of Sokolova & El Emam (2008), sections 2 and 6, that can be recomputed."""

import pytest

from phiscan.metrics.intervals import clopper_pearson, proportion
from phiscan.metrics.screening import coverage, relative, tdp_frp

ORGANIZATION = (71, 4, 48)  # Table 3, left
STREET = (75, 3, 45)  # Table 3, right


@pytest.mark.parametrize(
    ("cells", "tdp", "frp"),
    [(ORGANIZATION, 0.577, 0.033), (STREET, 0.610, 0.024)],
    ids=["OrgName", "StrAddr"],
)
def test_recomputes_table_4(cells: tuple[int, int, int], tdp: float, frp: float) -> None:
    found = tdp_frp(*cells)
    assert found.n == 123
    assert found.tdp.value is not None
    assert found.frp.value is not None
    assert round(found.tdp.value, 3) == tdp
    assert round(found.frp.value, 3) == frp


def test_finds_the_coverage_the_paper_prints_with_a_stray_percent_sign() -> None:
    # Section 6 prints "0.610% of the files" and "0.634% of the files": they are proportions.
    organization, street = coverage(*ORGANIZATION).value, coverage(*STREET).value
    assert organization is not None
    assert street is not None
    assert round(organization, 3) == 0.610
    assert round(street, 3) == 0.634


@pytest.mark.parametrize(("hits", "n", "percent"), [(4, 407, 0.98), (2, 452, 0.44)], ids=["Canada", "US"])
def test_recomputes_the_prevalence_of_section_2(hits: int, n: int, percent: float) -> None:
    # The paper prints the shares and the number of files; 4 and 2 are the only counts that give them.
    share = proportion(hits, n, "no file").value
    assert share is not None
    assert round(100 * share, 2) == percent


def test_prefers_street_addresses_as_the_paper_does() -> None:
    ratio = relative(STREET[:2], ORGANIZATION[:2])
    assert ratio.rtdp.value == pytest.approx(75 / 71)
    assert ratio.rfrp.value == pytest.approx(3 / 4)


def test_brackets_table_4_with_exact_intervals() -> None:
    low, high = clopper_pearson(71, 123)
    assert low < 0.577 < high


@pytest.mark.parametrize("not_phi", range(4))
def test_the_paper_implies_that_both_characteristics_marked_54_files(not_phi: int) -> None:
    # Section 6: of the files with neither, 6 have phone numbers or e-mail, and 18 have nothing but names.
    either = 123 - 6 - 18
    both = sum(ORGANIZATION[:2]) + sum(STREET[:2]) - either
    assert both == 54
    found = relative(ORGANIZATION[:2], STREET[:2], both=(both - not_phi, not_phi))
    for ratio in (found.rtdp, found.rfrp):
        assert ratio.ci95 is not None
        assert ratio.ci95[0] < 1 < ratio.ci95[1]
