"""Published capture-recapture figures, each with its source."""

import math
from fractions import Fraction

import pytest

from phiscan.metrics.capture_recapture.captures import CaptureTable, capture_table
from phiscan.metrics.capture_recapture.coverage import sample_coverage
from phiscan.metrics.capture_recapture.loglinear import fit_models
from phiscan.metrics.capture_recapture.missed import estimate_missed
from phiscan.metrics.capture_recapture.model_names import hierarchical_models, model_name, parse_model
from phiscan.metrics.capture_recapture.two_list import chapman, lincoln_petersen
from phiscan.metrics.intervals import clopper_pearson


def table_of(cells: dict[str, int]) -> CaptureTable:
    return capture_table([tuple(int(digit) for digit in history) for history in cells], list(cells.values()))


# Girls in the South Korean army's comfort stations; Silverman, Chan & Vincent (2024), Stat. Comput. 34:44.
KOREA = table_of({"001": 41, "010": 5, "100": 5, "110": 54, "101": 6, "011": 0, "111": 12})
# Deaths in Kosovo, 1999; Ball et al. (2002).
KOSOVO = table_of(
    {
        "1111": 27, "0111": 32, "1011": 42, "0011": 123, "1101": 18, "0101": 31, "1001": 106, "0001": 306,
        "1110": 181, "0110": 217, "1010": 228, "0010": 936, "1100": 177, "0100": 845, "1000": 1131,
    }
)  # fmt: skip
# Known diabetics of Casale Monferrato; Bruno et al. (1994), Diabetes Care 17:548.
DIABETES = table_of(
    {
        "0001": 10, "0010": 182, "0011": 8, "0100": 74, "0101": 7, "0110": 20, "0111": 14, "1000": 709,
        "1001": 12, "1010": 650, "1011": 46, "1100": 104, "1101": 18, "1110": 157, "1111": 58,
    }
)  # fmt: skip
# Hepatitis A outbreak in Taiwan; Chao et al. (2001), Stat. Med. 20:3123, Table 1.
HEPATITIS = table_of({"111": 28, "110": 21, "101": 17, "100": 69, "011": 18, "010": 55, "001": 63})
# Chan, Silverman & Vincent (2021), JASA 116:1297, Table 2.
ARTIFICIAL = table_of({"100": 40, "010": 30, "001": 20, "110": 6})
# Potential victims of trafficking in the UK, 2013, five lists (police and crime agency merged);
# Bales, Hesketh & Silverman (2015), Significance 12(3):16.
UK_FIVE = table_of(
    {
        "10000": 54, "01000": 463, "11000": 15, "00100": 995, "10100": 19, "01100": 62, "11100": 1,
        "00010": 695, "10010": 3, "01010": 19, "11010": 1, "00110": 76, "01110": 4, "11110": 1, "00001": 316,
        "01001": 1, "01011": 0, "00101": 11, "00011": 8,
    }
)  # fmt: skip


@pytest.mark.parametrize(("n_lists", "n_models"), [(3, 8), (4, 113), (5, 6893)])
def test_enumerates_as_many_models_as_dedekind_counts(n_lists: int, n_models: int) -> None:
    # Dedekind numbers of nonempty covers: Rivest & Baillargeon's getAllModels lists the same.
    names = {model_name(model) for model in hierarchical_models(n_lists)}
    assert len(names) == n_models


@pytest.mark.parametrize(
    ("model", "total", "bic"),
    [
        ("[12,23]", 157.1667, 57.14081),
        ("[12,3]", 268.7778, 58.96860),
        ("[13,23]", 123.4630, 91.89711),
        ("[23,1]", 126.1944, 138.06368),
        ("[13,2]", 126.9394, 155.16018),
        ("[1,2,3]", 141.9926, 184.14431),
    ],
)
def test_reproduces_the_korean_models(model: str, total: float, bic: float) -> None:
    # R package MultipleSystemsEstimation 1.3, user guide: estimate_population(Korea)$bic_results$res
    fit = fit_models(KOREA, [parse_model(model, 3)])[0]
    assert fit.total == pytest.approx(total, abs=6e-5)
    assert fit.bic == pytest.approx(bic, abs=6e-6)


def test_refuses_the_two_korean_models_that_the_package_leaves_out() -> None:
    found = estimate_missed(KOREA)
    assert {fit.model for fit in found.models if fit.outcome == "refused"} == {"[12,13]", "[12,13,23]"}
    assert found.selected_bic == "[12,23]"


@pytest.mark.parametrize(("model", "total"), [("[12,13,14,23,34]", 14341.66), ("[134,12,23]", 18393.31)])
def test_reproduces_the_kosovo_models(model: str, total: float) -> None:
    # R package MultipleSystemsEstimation 1.3, user guide: estimate_population(Kosovo, method = "stepwise")
    assert KOSOVO.n_found == 4400
    assert fit_models(KOSOVO, [parse_model(model, 4)])[0].total == pytest.approx(total, abs=0.005)


@pytest.mark.parametrize(
    ("model", "outcome"),
    [
        ("[1,2,3]", "ok"),
        ("[12,3]", "refused"),
        ("[13,2]", "ok"),
        ("[23,1]", "ok"),
        ("[12,13]", "refused"),
        ("[12,23]", "refused"),
        ("[13,23]", "ok"),
        ("[12,13,23]", "refused"),
    ],
)
def test_refuses_what_chan_silverman_and_vincent_refuse(model: str, outcome: str) -> None:
    # Their Table 2; R package SparseMSE 2.0.1, checkident(Artificial_3, ...)
    fit = fit_models(ARTIFICIAL, [parse_model(model, 3)])[0]
    assert fit.outcome == outcome
    assert (fit.total is None) == (outcome == "refused")


def test_says_why_the_full_pairwise_model_is_refused() -> None:
    fit = fit_models(ARTIFICIAL, [parse_model("[12,13,23]", 3)])[0]
    assert fit.reason is not None
    assert "not unique" in fit.reason


def test_reproduces_the_diabetes_estimate() -> None:
    # International Working Group for Disease Monitoring (1995), Am. J. Epidemiol. 142:1059: 2,771 in all.
    found = estimate_missed(DIABETES)
    assert found.n_observed == 2069
    assert found.selected_aic == "[12,13,23,24,34]"
    fit = next(fit for fit in found.models if fit.model == found.selected_aic)
    assert fit.total is not None
    assert round(fit.total) == 2771
    assert fit.df == 5
    assert fit.deviance == pytest.approx(7.62, abs=0.005)


@pytest.mark.parametrize(
    ("first", "second", "petersen", "chapmans", "rounded"),
    [
        (0, 1, 2353, 2351, (58, 2250, 2478)),
        (0, 2, 2185, 2185, (22, 2146, 2233)),
        (0, 3, 2264, 2261, (88, 2117, 2468)),
        (1, 2, 2060, 2057, (77, 1922, 2224)),
        (1, 3, 806, 803, (47, 725, 913)),
        (2, 3, 1558, 1555, (67, 1445, 1712)),
    ],
)
def test_reproduces_the_pairwise_diabetes_estimates(
    first: int, second: int, petersen: int, chapmans: int, rounded: tuple[int, int, int]
) -> None:
    # R package CARE1 1.1: CARE1.print(Diabetes), part 2
    a, b = 1 << first, 1 << second
    both = DIABETES.margin(a | b)
    cells = (both, DIABETES.margin(a) - both, DIABETES.margin(b) - both)
    simple, corrected = lincoln_petersen(*cells), chapman(*cells)
    assert simple.total is not None
    assert corrected.total is not None
    assert corrected.se is not None
    assert corrected.ci95 is not None
    assert round(simple.total) == petersen
    assert round(corrected.total) == chapmans
    assert tuple(round(number) for number in (corrected.se, *corrected.ci95)) == rounded


def test_reproduces_the_hepatitis_sample_coverage() -> None:
    # Chao et al. (2001), Table 4: M = 271, C = 0.513, N0 = 407, N = 971, N1 = 508
    found = sample_coverage(HEPATITIS)
    assert found.coverage is not None
    assert found.independent_total is not None
    assert found.total is not None
    assert found.one_step_total is not None
    assert HEPATITIS.n_found == 271
    assert round(found.coverage, 3) == 0.513
    assert round(found.independent_total) == 407
    assert round(found.total) == 971
    assert round(found.one_step_total) == 508


@pytest.mark.slow
def test_holds_the_published_number_of_trafficking_victims() -> None:
    assert UK_FIVE.n_found == 2744
    pairs = estimate_missed(UK_FIVE)
    assert len(pairs.models) == 6893


def test_estimates_the_fish_of_mane_et_al() -> None:
    # Section 2: f1 f2 / f12, and n22 = n12 n21 / n11
    found = lincoln_petersen(20, 80, 30)
    assert found.total == pytest.approx(100 * 50 / 20)
    assert found.missed == pytest.approx(80 * 30 / 20)


def test_reproduces_a_clopper_pearson_interval() -> None:
    # R: binom.test(682, 925); Conover (1971), p. 97 f.
    low, high = clopper_pearson(682, 925)
    assert low == pytest.approx(0.7076683, abs=5e-8)
    assert high == pytest.approx(0.7654066, abs=5e-8)


def test_keeps_every_digit_of_counts_near_a_thousand_million() -> None:
    counts = (0, 999_999_937, 870_000_001, 123_456_789, 640_000_003, 98_765_432, 87_654_321, 10_000_019)
    fit = fit_models(CaptureTable(3, counts), [parse_model("[12,13,23]", 3)])[0]
    c = counts
    exact = Fraction(c[7] * c[1] * c[2] * c[4], c[3] * c[5] * c[6])
    assert fit.missed == pytest.approx(float(exact), rel=1e-13)
    assert fit.deviance == pytest.approx(0, abs=1e-12)
    assert fit.aic is not None
    stirling = sum(math.log(2 * math.pi * count) + 1 / (6 * count) for count in c[1:])
    assert fit.aic == pytest.approx(stirling + 14, abs=1e-9)
