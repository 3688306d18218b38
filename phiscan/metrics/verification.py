"""Corrections for imperfect reviewers (Rogan-Gladen) and for unverified files (Begg-Greenes)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from phiscan.language import lazy_decimal
from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import Z95, Figure, check_count, check_share, clopper_pearson, proportion

VERIFIED_ASSUMPTION = _(
    "Whether a file was verified depends on the screen's result only, not on whether the file really is PHI."
)
VERIFIED_SOURCE = _("Begg & Greenes (1983), Biometrics 39:207")
PREVALENCE_ASSUMPTION = _(
    "The reviewers' sensitivity and specificity are known, and the same for every file of the random sample."
)
PREVALENCE_SOURCE = _(
    "Rogan & Gladen (1978), Am. J. Epidemiol. 107:71; Reiczigel, Foldi & Ozsvari (2010), "
    "Epidemiol. Infect. 138:1674"
)
_LEAST_GAIN = Fraction(1, 10**12)  # below it the estimate is beyond what a float holds


@dataclass(frozen=True, slots=True)
class Verified:
    """Counts among the files of one screen result: verified as PHI, verified as not PHI, not verified."""

    diseased: int
    healthy: int
    unverified: int

    @property
    def n(self) -> int:
        """All files of this screen result."""
        return self.diseased + self.healthy + self.unverified

    @property
    def n_verified(self) -> int:
        """The verified ones of them."""
        return self.diseased + self.healthy


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Sensitivity and specificity."""

    sensitivity: Figure
    specificity: Figure


@dataclass(frozen=True, slots=True)
class BeggGreenes:
    """Accuracy from the verified files alone, and corrected; share and number of PHI files."""

    naive: Accuracy
    corrected: Accuracy
    prevalence: float | None
    missed: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Prevalence:
    """Apparent and true prevalence; ``warning`` is set if the estimate was clipped to [0, 1]."""

    apparent: float | None
    prevalence: float | None
    se: float | None
    ci95: tuple[float, float] | None
    warning: str | None = None
    reason: str | None = None


def begg_greenes(positive: Verified, negative: Verified) -> BeggGreenes:
    """Correct sensitivity and specificity for verification that depends on the screen's result.

    ``missed`` is the expected number of PHI files among all screened negatives, verified ones included.
    Intervals of the corrected figures: logit transformed, delta method.

    Source: Begg & Greenes (1983), eq. 2 to 6.

    >>> fixed = begg_greenes(Verified(231, 32, 166), Verified(27, 54, 140))
    >>> round(fixed.corrected.sensitivity.value, 3), round(fixed.corrected.specificity.value, 3)
    (0.836, 0.738)
    """
    naive = Accuracy(
        proportion(positive.diseased, positive.diseased + negative.diseased, _("no verified file is PHI")),
        proportion(
            negative.healthy, positive.healthy + negative.healthy, _("no verified file is without PHI")
        ),
    )
    for name, cell in (("positive", positive), ("negative", negative)):
        if cell.n and not cell.n_verified:
            reason = _("no screened {name} file was verified", name=name)
            break
    else:
        reason = "" if positive.n + negative.n else _("there is no file")
    if reason:
        nothing = Figure(None, None, reason)
        return BeggGreenes(naive, Accuracy(nothing, nothing), None, None, reason)
    caught, missed = _scaled(positive, positive.diseased), _scaled(negative, negative.diseased)
    alarms, passed = _scaled(positive, positive.healthy), _scaled(negative, negative.healthy)
    return BeggGreenes(
        naive=naive,
        corrected=Accuracy(
            _share(caught, missed, positive, negative, _("no file is estimated to be PHI")),
            _share(passed, alarms, negative, positive, _("every file is estimated to be PHI")),
        ),
        prevalence=float((caught + missed) / (positive.n + negative.n)),
        missed=float(missed),
    )


def rogan_gladen(found: int, sample: int, sensitivity: float, specificity: float) -> Prevalence:
    """Estimate the true share of PHI from the share that imperfect reviewers found.

    (apparent + specificity - 1)/(sensitivity + specificity - 1), clipped to [0, 1]; the standard error is
    that of the apparent share over the same divisor. For an apparent share of 0 or 1 that error is 0; the
    interval is then the Clopper-Pearson one of the apparent share, corrected like the share itself.

    Raises:
        ValueError: found > sample, a count is negative, or a rate is not in [0, 1].

    Source: Rogan & Gladen (1978), eq. 1 to 3; for a share of 0 or 1: Reiczigel, Foldi & Ozsvari (2010).

    >>> round(rogan_gladen(23, 150, 0.96, 0.89).prevalence, 4)
    0.051
    """
    check_count("sample", sample)
    check_count("found", found, sample)
    check_share("sensitivity", sensitivity)
    check_share("specificity", specificity)
    if sample == 0:
        return Prevalence(None, None, None, None, reason=_("the sample is empty"))
    # The decimals as written: 0.9 + 0.1 must be 1 here.
    sens, spec = Fraction(repr(float(sensitivity))), Fraction(repr(float(specificity)))
    apparent = Fraction(found, sample)
    gain = sens + spec - 1
    if gain < _LEAST_GAIN:
        reason = _("sensitivity + specificity must be above 1: such reviewers tell nothing")
        return Prevalence(float(apparent), None, None, None, reason=reason)
    raw = (apparent + spec - 1) / gain
    cut = min(max(raw, Fraction(0)), Fraction(1))
    se = math.sqrt(apparent * (1 - apparent) / sample) / float(gain)
    low, high = float(raw) - Z95 * se, float(raw) + Z95 * se
    if found in {0, sample}:
        low, high = ((end + float(spec) - 1) / float(gain) for end in clopper_pearson(found, sample))
    outside = _("the whole interval lies outside 0 to 1") if high <= 0 or low >= 1 else None
    ends = None if outside else (max(low, 0.0), min(high, 1.0))
    warning = None
    if cut != raw:
        warning = _(
            "the estimate {raw} lies outside 0 to 1 and was cut: the given sensitivity or "
            "specificity does not fit what was found",
            raw=lazy_decimal(repr(float(raw))),
        )
    return Prevalence(float(apparent), float(cut), se, ends, warning, outside)


def _scaled(cell: Verified, count: int) -> Fraction:
    """Return a verified count scaled to all files of its screen result."""
    return Fraction(cell.n * count, cell.n_verified) if cell.n_verified else Fraction(0)


def _share(hits: Fraction, rest: Fraction, own: Verified, other: Verified, empty: str) -> Figure:
    """Return hits/(hits + rest) with the interval of its logit, log(hits) - log(rest)."""
    if hits + rest == 0:
        return Figure(None, None, empty)
    value = hits / (hits + rest)
    if hits == 0 or rest == 0:
        return Figure(float(value), None, _("a share of 0 or 1 has no interval on the logit scale"))
    n = own.n + other.n
    # Multinomial screen results, and binomial verdicts among the verified ones of each result.
    variance = Fraction(n, own.n * other.n)
    for cell, part in ((own, hits / own.n), (other, rest / other.n)):
        variance += (1 - part) / (cell.n_verified * part)
    logit, margin = math.log(hits / rest), Z95 * math.sqrt(variance)
    return Figure(float(value), (_expit(logit - margin), _expit(logit + margin)))


def _expit(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > 0 else math.exp(value) / (1 + math.exp(value))
