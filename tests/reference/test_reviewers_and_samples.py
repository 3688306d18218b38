"""Published figures on agreement, verification bias, imperfect reviewers and sample sizes."""

from fractions import Fraction

import pytest

from phiscan.metrics.agreement import agreement, krippendorff_alpha
from phiscan.metrics.elusion import elusion, hypergeometric_upper, sample_size, sequential_upper
from phiscan.metrics.independence import mutual_information
from phiscan.metrics.verification import Verified, begg_greenes, rogan_gladen


def columns(both: int, first: int, second: int, neither: int) -> tuple[list[str], list[str]]:
    return (
        ["phi"] * (both + first) + ["no"] * (second + neither),
        ["phi"] * both + ["no"] * first + ["phi"] * second + ["no"] * neither,
    )


@pytest.mark.parametrize(
    ("cells", "kappa", "positive", "pabak"),
    [
        # Feinstein & Cicchetti (1990), J. Clin. Epidemiol. 43:543, Tables 2 and 3: the first paradox
        ((40, 9, 6, 45), 0.70, 0.84, 0.70),
        ((80, 10, 5, 5), 0.32, 0.91, 0.70),
        # the worked example that is widely reprinted for Cohen (1960): 20, 5, 10, 15
        ((20, 5, 10, 15), 0.40, 0.73, 0.40),
    ],
)
def test_reproduces_kappa(
    cells: tuple[int, int, int, int], kappa: float, positive: float, pabak: float
) -> None:
    found = agreement(*columns(*cells))
    assert found.kappa.value is not None
    assert found.positive_agreement.value is not None
    assert found.pabak.value is not None
    assert round(found.kappa.value, 2) == kappa
    assert round(found.positive_agreement.value, 2) == positive
    assert round(found.pabak.value, 2) == pabak


@pytest.mark.parametrize(
    ("observers", "alpha"),
    [
        # Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", examples A, B and C (nominal)
        (("0100000010", "1110010000"), 0.095),
        (("aabbdcccedda", "babbbccceddd"), 0.692),
        (("123321412...", "1233224125.3", ".3332342251.", "12332441251."), 0.743),
        # Krippendorff (2019), section 12.3: three observers, fifteen units
        ((".....34121133.3", "1.213343.......", "..21344.21133.4"), 0.691),
    ],
)
def test_reproduces_krippendorffs_examples(observers: tuple[str, ...], alpha: float) -> None:
    rows = [[None if code == "." else code for code in unit] for unit in zip(*observers, strict=True)]
    value = krippendorff_alpha(rows).value
    assert value is not None
    assert round(value, 3) == alpha


def test_reproduces_the_liver_scans() -> None:
    # Drum & Christacopoulos (1972), corrected by Begg & Greenes; Zhou (1993), Commun. Stat. 22:3177
    found = begg_greenes(Verified(231, 32, 166), Verified(27, 54, 140))
    assert found.naive.sensitivity.value == pytest.approx(0.895, abs=5e-4)
    assert found.naive.specificity.value == pytest.approx(0.628, abs=5e-4)
    assert found.corrected.sensitivity.value == pytest.approx(0.836, abs=5e-4)
    assert found.corrected.specificity.value == pytest.approx(0.738, abs=5e-4)


def test_reproduces_the_brucellosis_herd() -> None:
    # R package epiR, epi.prev(23, 150, se = 0.96, sp = 0.89): apparent 0.153, true 0.051
    found = rogan_gladen(23, 150, 0.96, 0.89)
    assert found.apparent == pytest.approx(0.153, abs=5e-4)
    assert found.prevalence == pytest.approx(0.051, abs=5e-4)


@pytest.mark.parametrize(
    ("target", "confidence", "size"),
    [
        # success-run sizes as tabled for attribute tolerance and discovery sampling
        (0.01, 0.95, 299),
        (0.05, 0.95, 59),
        (0.10, 0.95, 29),
        (0.01, 0.99, 459),
        (0.05, 0.99, 90),
        (0.01, 0.90, 230),
        (0.05, 0.90, 45),
        (0.10, 0.90, 22),
        (0.001, 0.95, 2995),
    ],
)
def test_plans_the_tabled_sample_sizes(target: float, confidence: float, size: int) -> None:
    assert sample_size(target, confidence=confidence) == size


@pytest.mark.parametrize(
    ("population", "present", "size"),
    [
        # Cannon & Roe (1982), Table 1: to find at least one of so many with 95%
        (100, 1, 95),
        (100, 5, 45),
        (100, 10, 25),
        (50, 5, 22),
    ],
)
def test_detects_as_cannon_and_roe_do(population: int, present: int, size: int) -> None:
    # a target just below present/population is shown when `present` files would have been found
    assert sample_size((present - 0.5) / population, population=population) == size


def test_counts_an_exact_tie_as_rejected() -> None:
    # One PHI file among 20, 19 of them reviewed: P(none found) is exactly 1/20.
    assert hypergeometric_upper(20, 19, 0, Fraction(1, 20)) == 0
    assert sample_size(0.01, population=20) == 19


def test_bounds_with_the_rule_of_three() -> None:
    found = elusion(10**9, 1000, 0)
    assert found.rate_upper == pytest.approx(3 / 1000, rel=3e-3)
    assert found.upper_hypergeometric == pytest.approx(found.upper_binomial, rel=1e-6)


def test_pays_for_looking_at_any_time() -> None:
    assert sequential_upper(1000, 100, 2, Fraction(1, 20)) > hypergeometric_upper(
        1000, 100, 2, Fraction(1, 20)
    )


def test_finds_the_mutual_information_of_cover_and_thomas() -> None:
    # Cover & Thomas (2006), example 2.2.1: joint of four blood types and skin cancer risk, I = 0.375 bit
    joint = {
        (1, 1): 4, (1, 2): 2, (1, 3): 1, (1, 4): 1, (2, 1): 2, (2, 2): 4, (2, 3): 1, (2, 4): 1,
        (3, 1): 2, (3, 2): 2, (3, 3): 2, (3, 4): 2, (4, 1): 8,
    }  # fmt: skip
    pairs = [pair for pair, count in joint.items() for _ in range(count)]
    nats = mutual_information([pair[1] for pair in pairs], [pair[0] for pair in pairs])
    assert nats / 0.6931471805599453 == pytest.approx(0.375)
