"""Estimates within strata (a format, a folder) and their sum.

Detectors that find one format better than another look dependent in the whole share even when they are
independent within each format; estimating within strata takes that dependence away.

Source: Sekar & Deming (1949), JASA 44:101, section 6.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.captures import CaptureTable
from phiscan.metrics.capture_recapture.loglinear import fit_models
from phiscan.metrics.capture_recapture.missed import average
from phiscan.metrics.capture_recapture.model_names import hierarchical_models
from phiscan.metrics.capture_recapture.two_list import Total, chapman, log_interval

ASSUMPTION = _(
    "Within each stratum detectors depend on each other only as its models say, and strata are separate."
)
SOURCE = _("Sekar & Deming (1949); Chapman (1951); Burnham & Anderson (2002)")


@dataclass(frozen=True, slots=True)
class StratifiedTotal:
    """The estimate of every stratum by name, and their sum; None when one of them does not exist."""

    strata: Mapping[str, Total]
    combined: Total


def stratified_total(tables: Mapping[str, CaptureTable]) -> StratifiedTotal:
    """Estimate every stratum and add up: Chapman for two lists, the model average for three to five.

    Variances add up, since strata are separate samples; the interval of the sum is log-transformed.

    Raises:
        ValueError: no stratum, or more than five lists.

    >>> tables = {"pdf": CaptureTable(2, (0, 10, 20, 30)), "txt": CaptureTable(2, (0, 5, 5, 5))}
    >>> round(stratified_total(tables).combined.total, 3)
    85.618
    """
    if not tables:
        message = "strata: expected at least one"
        raise ValueError(message)
    totals = {name: _one(table) for name, table in tables.items()}
    failed = [name for name, total in totals.items() if total.total is None]
    if failed:
        missing = _("stratum {failed} has no estimate", failed=failed[0])
        return StratifiedTotal(totals, Total(reason=missing))
    missed = math.fsum(total.missed or 0.0 for total in totals.values())
    se = math.hypot(*(total.se or 0.0 for total in totals.values()))
    n_found = sum(table.n_found for table in tables.values())
    interval = log_interval(n_found, missed, se)
    reason = (
        None if interval else _("nothing is estimated as missed: the log-transformed interval needs more")
    )
    return StratifiedTotal(totals, Total(n_found + missed, missed, se, interval, reason))


def _one(table: CaptureTable) -> Total:
    if table.n_found == 0:
        return Total(reason=_("no file was found by any detector"))
    if table.n_lists == 2:  # noqa: PLR2004 (two lists have one model only)
        return chapman(table.counts[3], table.counts[1], table.counts[2])
    if table.n_lists > 5:  # noqa: PLR2004 (too many models to fit them in every stratum)
        message = f"lists: expected from 2 to 5 within strata, got {table.n_lists}"
        raise ValueError(message)
    fits = fit_models(table, hierarchical_models(table.n_lists), intervals=False)
    averaged = average(fits, table.n_found)
    if averaged is None:
        return Total(reason=_("every model was refused"))
    return Total(averaged.total, averaged.missed, averaged.se, averaged.ci95)
