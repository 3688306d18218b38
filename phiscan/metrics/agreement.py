"""Inter-reviewer agreement on the same files: kappa, positive agreement, PABAK, alpha."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import Z95, Figure, clopper_pearson

ASSUMPTION = _(
    "The reviewers judged independently of each other, and the files they share are a random sample."
)
SOURCE = _(
    "Cohen (1960); Fleiss, Cohen & Everitt (1969); Cicchetti & Feinstein (1990); Byrt, "
    "Bishop & Carlin (1993); Krippendorff (2019)"
)
POSITIVE = "phi"
ALL_EQUAL = _(
    "the files that both judged are all alike in this, so that their spread is no estimate for others"
)

# One row per file, one column per reviewer; None where that reviewer did not judge the file.
Ratings = Sequence[Sequence[str | None]]


@dataclass(frozen=True, slots=True)
class Agreement:
    """Agreement of two reviewers beyond chance, on positives, and adjusted for prevalence and bias."""

    n_both: int
    kappa: Figure
    positive_agreement: Figure
    pabak: Figure


def agreement(
    first: Sequence[str | None], second: Sequence[str | None], *, positive: str = POSITIVE
) -> Agreement:
    """Return the agreement of two reviewers on the files that both judged.

    Kappa is over all labels. Positive agreement is 2a/(2a + b + c) for ``positive`` against all other labels.
    PABAK is (k p - 1)/(k - 1) with k labels in the two columns (at least 2): 2p - 1 for two labels.

    Raises:
        ValueError: the two columns are not of the same length.

    Source: Cohen (1960), Educ. Psychol. Meas. 20:37; variance: Fleiss, Cohen & Everitt (1969), Psychol. Bull.
    72:323; Cicchetti & Feinstein (1990), J. Clin. Epidemiol. 43:551; Byrt et al. (1993), ibid. 46:423.

    >>> round(agreement(["phi", "phi", "no", "no"], ["phi", "no", "no", "no"]).kappa.value, 3)
    0.5
    """
    pairs = [(a, b) for a, b in zip(first, second, strict=True) if a is not None and b is not None]
    n = len(pairs)
    if n == 0:
        nothing = Figure(None, None, _("the reviewers share no file"))
        return Agreement(0, nothing, nothing, nothing)
    table = Counter(pairs)
    agreed = sum(count for (a, b), count in table.items() if a == b)
    # Labels of files that only one of them judged count too.
    n_labels = max(2, len({label for label in (*first, *second) if label is not None}))
    both = table[positive, positive]
    marked = sum(count * ((a == positive) + (b == positive)) for (a, b), count in table.items())
    if marked:
        positive_figure = _with_interval(
            Fraction(2 * both, marked), _positive_variance(both, marked - 2 * both), (0.0, 1.0)
        )
    else:
        positive_figure = Figure(
            None, None, _("neither reviewer called any shared file '{positive}'", positive=positive)
        )
    scale = Fraction(n_labels, n_labels - 1)
    share = Fraction(agreed, n)
    pabak = _with_interval(
        (n_labels * share - 1) / (n_labels - 1), float(scale**2 * share * (1 - share) / n), (-1.0, 1.0)
    )
    if agreed in {0, n}:  # PABAK is linear in the share that agrees, whose exact interval has a width
        low, high = clopper_pearson(agreed, n)
        ends = tuple((n_labels * end - 1) / (n_labels - 1) for end in (low, high))
        pabak = Figure(pabak.value, (ends[0], ends[1]))
    return Agreement(n, _kappa(table, n, share), positive_figure, pabak)


def krippendorff_alpha(ratings: Ratings) -> Figure:
    """Return Krippendorff's alpha for nominal labels, any number of reviewers, with missing ratings.

    1 minus observed over expected disagreement, from the coincidence matrix of all pairs of ratings of the
    same file; files with a single rating are ignored.

    Source: Krippendorff (2019), "Content Analysis", 4th ed., section 12.3.

    >>> round(krippendorff_alpha([["a", "a"], ["a", "b"], ["b", "b"]]).value, 4)
    0.4444
    """
    agreeing, total = Fraction(0), 0
    labels: Counter[str] = Counter()
    for row in ratings:
        values = [label for label in row if label is not None]
        if len(values) < 2:  # noqa: PLR2004 (a pair needs two)
            continue
        counts = Counter(values)
        total += len(values)
        labels.update(counts)
        agreeing += Fraction(sum(count * (count - 1) for count in counts.values()), len(values) - 1)
    if total == 0:
        return Figure(None, None, _("no file was judged by two reviewers"))
    expected = sum(count * (count - 1) for count in labels.values())
    if expected == total * (total - 1):
        return Figure(None, None, _("only one label was used, so chance agreement is complete"))
    observed_disagreement = 1 - agreeing / total
    expected_disagreement = 1 - Fraction(expected, total * (total - 1))
    return Figure(float(1 - observed_disagreement / expected_disagreement), None)


def _kappa(table: Counter[tuple[str, str]], n: int, share: Fraction) -> Figure:
    rows: Counter[str] = Counter()
    columns: Counter[str] = Counter()
    for (a, b), count in table.items():
        rows[a] += count
        columns[b] += count
    chance = Fraction(sum(rows[label] * columns[label] for label in rows), n * n)
    if chance == 1:
        return Figure(None, None, _("both reviewers used only one label: chance agreement is complete"))
    kappa = (share - chance) / (1 - chance)
    # Large-sample variance of Fleiss, Cohen & Everitt (1969), eq. 14.
    spread = Fraction(0)
    for (a, b), count in table.items():
        p = Fraction(count, n)
        margins = Fraction(rows[b] + columns[a], n)
        if a == b:
            own = Fraction(rows[a] + columns[a], n)
            spread += p * ((1 - chance) - own * (1 - share)) ** 2
        else:
            spread += (1 - share) ** 2 * p * margins**2
    spread -= (share * chance - 2 * chance + share) ** 2
    return _with_interval(kappa, float(spread / (n * (1 - chance) ** 4)), (-1.0, 1.0))


def _positive_variance(both: int, single: int) -> float:
    """Delta-method variance of 2a/(2a + b + c); Graham & Bull (1998), J. Clin. Epidemiol. 51:763."""
    whole = 2 * both + single
    return 4 * both * single * (both + single) / whole**4


def _with_interval(value: Fraction, variance: float, bounds: tuple[float, float]) -> Figure:
    point = float(value)
    if variance <= 0:  # all equal: the large-sample interval would have no width
        return Figure(point, None, ALL_EQUAL)
    margin = Z95 * math.sqrt(variance)
    return Figure(point, (max(point - margin, bounds[0]), min(point + margin, bounds[1])))
