"""Quality of the scores' ranking over decided files: the order of the queue, evaluated by verdicts.

Only decided files can be evaluated, and the screen chose most of them. The figures therefore describe the
ranking of such files and not of the files that nobody opened.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from phiscan.language import lazy_gettext as _
from phiscan.metrics.ranking import (
    Interval,
    Ranking,
    auc_roc,
    average_precision,
    curve,
    interpolated_median,
    logit_interval,
    lower_trapezoid,
    minimum_aucpr,
    minimum_average_precision,
    rank,
)
from phiscan.model import Referral, Verdict
from phiscan.report.data.estimates import Estimate, ScoreRanking
from phiscan.review.worklist.model import FileRecord

ASSUMPTION = _(
    "The decided files stand for the files to be ordered, and every verdict is right. "
    "Most of them were chosen by the screen (verification bias), so these figures say "
    "how well the queue's order works, not how well the score finds PHI on the whole "
    "share."
)
_AREA_SOURCE = _("Boyd (2014), chapter 4; Boyd, Eng & Page (2013); interval: logit interval with n positives")
_REGION_SOURCE = _("Boyd, Santos Costa, Davis & Page (2012); Boyd (2014), chapter 3")
_NO_ASSUMPTION = _("None: it follows from the two counts alone.")
_MAX_POINTS = 200  # of a curve; more cannot be distinguished on the page

SCORES = (
    ("risk", _("Risk, the order of the queue")),
    ("health_score", _("Health score")),
)


def rankings(rows: Sequence[FileRecord]) -> tuple[ScoreRanking, ...]:
    """Evaluate the ranking of the decided files by each score.

    Args:
        rows: the files that were read.
    """
    return tuple(_one(name, label, rows) for name, label in SCORES)


def _one(name: str, label: str, rows: Sequence[FileRecord]) -> ScoreRanking:
    decided = [row for row in rows if row.verdict in {Verdict.PHI, Verdict.NOT_PHI}]
    pairs = [(score, row) for row in decided if (score := _score(name, row)) is not None]
    labels = [row.verdict is Verdict.PHI for _, row in pairs]
    phi, not_phi = sum(labels), len(labels) - sum(labels)
    reason = _reason(phi, not_phi)
    ranking = None if reason else rank([score for score, _ in pairs], labels)
    return ScoreRanking(
        score=name,
        label=label,
        phi=phi,
        not_phi=not_phi,
        not_referred=sum(row.referral is not Referral.REFERRED for _, row in pairs),
        no_score=len(decided) - len(pairs),
        estimates=_estimates(ranking) if ranking else (),
        curve=_curve(ranking) if ranking else (),
        reason=reason,
        assumption=ASSUMPTION,
    )


def _score(name: str, row: FileRecord) -> float | None:
    return row.risk if name == "risk" else row.health_score


def _reason(phi: int, not_phi: int) -> str | None:
    if phi and not_phi:
        return None
    if phi + not_phi == 0:
        return _("no file with this score has a verdict yet")
    return (
        _("every decided file is PHI; an order needs both kinds")
        if phi
        else _("every decided file is not PHI; an order needs both kinds")
    )


def _estimates(ranking: Ranking) -> tuple[Estimate, ...]:
    n, m = ranking.n, ranking.m
    counts: dict[str, float] = {_("n (decided as PHI)"): n, _("m (decided as not PHI)"): m}
    areas = (
        (
            _("Average precision"),
            average_precision(ranking),
            _("mean over the PHI files of the precision at their score; tied files share one threshold"),
        ),
        (
            _("Area under the precision-recall curve, lower trapezoid"),
            lower_trapezoid(ranking),
            _("Σ (r₂ - r₁) (lowest p₁ + highest p₂) / 2 over neighbouring recalls"),
        ),
        (
            _("Area under the precision-recall curve, interpolated median"),
            interpolated_median(ranking),
            _("Σ ∫ r / (a r + b) dr between the median points of neighbouring recalls"),
        ),
    )
    return (
        *(
            _estimate(name, (area, logit_interval(area, n)), formula, counts, _AREA_SOURCE)
            for name, area, formula in areas
        ),
        _roc(ranking, counts),
        _from_counts(_("Skew"), ranking.skew, "n / (n + m)", counts),
        _from_counts(
            _("Minimum area under the precision-recall curve"),
            minimum_aucpr(ranking.skew),
            _("1 + (1 - π) ln(1 - π) / π"),
            {_("π (skew)"): ranking.skew},
        ),
        _from_counts(
            _("Minimum average precision"),
            minimum_average_precision(n, m),
            _("Σ i / (i + m) / n over i = 1 … n: the worst order there is"),
            counts,
        ),
    )


def _roc(ranking: Ranking, counts: dict[str, float]) -> Estimate:
    """Return the area under the ROC curve.

    Its variance is at most A(1 - A) over the smaller class (Birnbaum & Klose 1957), so that a logit interval
    with that size is never too narrow for its variance.
    """
    area = auc_roc(ranking)
    interval = logit_interval(area, min(ranking.n, ranking.m))
    return _estimate(
        _("Area under the ROC curve"),
        (area, interval),
        _("share of the n m pairs in which the PHI file has the higher score; a tie counts one half"),
        counts,
        _(
            "Bamber (1975); interval: logit, with min(n, m) as its size, after the variance "
            "bound of Birnbaum & Klose (1957), Ann. Math. Stat. 28:933"
        ),
    )


def _estimate(
    name: str, found: tuple[float, Interval], formula: str, inputs: dict[str, float], source: str
) -> Estimate:
    value, interval = found
    reason = interval.reason or None
    return Estimate(name, value, interval.ends, "ratio", formula, inputs, ASSUMPTION, source, reason)


def _from_counts(name: str, value: float, formula: str, inputs: dict[str, float]) -> Estimate:
    return Estimate(name, value, None, "ratio", formula, inputs, _NO_ASSUMPTION, _REGION_SOURCE, None)


def _curve(ranking: Ranking) -> tuple[tuple[float, float], ...]:
    points = curve(ranking)
    size = len(points.recall)
    kept = np.unique(np.linspace(0, size - 1, min(_MAX_POINTS, size)).astype(int))
    return tuple(zip(points.recall[kept].tolist(), points.precision[kept].tolist(), strict=True))
