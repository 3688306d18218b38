"""Sensitivity and specificity corrected for verification bias, and whether the review may stop.

Referred files are verified because the screen referred them; of the others only a random sample is. Pooled
without correction, they overestimate the screen.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal

from phiscan.language import lazy_gettext as _
from phiscan.metrics import elusion as bounds
from phiscan.metrics.intervals import Figure
from phiscan.metrics.verification import VERIFIED_ASSUMPTION, VERIFIED_SOURCE, Verified, begg_greenes
from phiscan.report.data.estimates import Estimate, Stopping, Verification
from phiscan.report.data.missed import Elusion
from phiscan.report.data.report import Characteristic

TARGET_RECALL = 0.95
_STOP_ASSUMPTION = _(
    "The sample is the beginning of the random order, a file in it without a verdict "
    "counts as PHI, and every verdict is right. It may be asked after every file: the "
    "limit holds at all looks together."
)
_STOP_SOURCE = _("Waudby-Smith & Ramdas (2020), section 3")


def corrected(overall: Characteristic, elusion: Elusion) -> Verification:
    """Correct sensitivity and specificity with the random sample of the files that were not referred.

    As in the bound, a verdict of unsure in the sample counts as PHI.

    Source: Begg & Greenes (1983).
    """
    positive = Verified(overall.phi, overall.not_phi, overall.unverified)
    reviewed = elusion.sample - elusion.open
    negative = Verified(elusion.found, reviewed - elusion.found, elusion.population - reviewed)
    found = begg_greenes(positive, negative)
    inputs: dict[str, float] = {
        "a (referred, PHI)": positive.diseased,
        "b (referred, not PHI)": positive.healthy,
        "N⁺ (referred)": positive.n,
        "c (sample, PHI)": negative.diseased,
        "d (sample, not PHI)": negative.healthy,
        "N⁻ (not referred)": negative.n,
    }
    rows: tuple[tuple[str, Figure, str], ...] = (
        (
            _("Sensitivity, corrected"),
            found.corrected.sensitivity,
            "[N⁺ a / (a + b)] / [N⁺ a / (a + b) + N⁻ c / (c + d)]",
        ),
        (
            _("Specificity, corrected"),
            found.corrected.specificity,
            "[N⁻ d / (c + d)] / [N⁻ d / (c + d) + N⁺ b / (a + b)]",
        ),
        (_("Sensitivity of the verified files alone, biased"), found.naive.sensitivity, "a / (a + c)"),
        (_("Specificity of the verified files alone, biased"), found.naive.specificity, "d / (b + d)"),
    )
    estimates = [_estimate(name, figure, "share", formula, inputs) for name, figure, formula in rows]
    estimates += [
        _estimate(
            _("Share of PHI among the files that were read"),
            Figure(found.prevalence, None, found.reason),
            "share",
            "[N⁺ a / (a + b) + N⁻ c / (c + d)] / (N⁺ + N⁻)",
            inputs,
        ),
        _estimate(
            _("PHI among the files that were not referred"),
            Figure(found.missed, None, found.reason),
            "number",
            "N⁻ c / (c + d)",
            inputs,
        ),
    ]
    return Verification(
        estimates=() if found.reason else tuple(estimates),
        open=overall.unverified,
        reason=found.reason,
        assumption=VERIFIED_ASSUMPTION,
        source=VERIFIED_SOURCE,
    )


def _estimate(
    name: str, figure: Figure, unit: Literal["share", "number"], formula: str, inputs: dict[str, float]
) -> Estimate:
    return Estimate(
        name=name,
        value=figure.value,
        ci95=figure.ci95,
        unit=unit,
        formula=formula,
        inputs=inputs,
        assumption=VERIFIED_ASSUMPTION,
        source=VERIFIED_SOURCE,
        reason=figure.reason,
    )


def stopping(overall: Characteristic, elusion: Elusion) -> Stopping:
    """Return whether the review of the random sample has shown the recall target.

    Source: Waudby-Smith & Ramdas (2020), section 3.
    """
    upper = elusion.upper_sequential
    found = None if upper is None else bounds.stopping(overall.phi, upper, target_recall=TARGET_RECALL)
    target = Fraction(repr(TARGET_RECALL))
    return Stopping(
        target_recall=TARGET_RECALL,
        confirmed=overall.phi,
        allowed=math.floor(overall.phi * (1 - target) / target),
        limit=upper,
        recall_lower=found.recall_lower if found else None,
        stop=found.stop if found else None,
        reason=elusion.reason,
        assumption=_STOP_ASSUMPTION,
        source=_STOP_SOURCE,
    )
