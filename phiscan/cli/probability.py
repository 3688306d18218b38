"""The calibrated probability that a file is PHI, where the decisions of a random sample allow one."""

from __future__ import annotations

import math
from typing import Any

from phiscan.classify.adjustment import log_odds
from phiscan.review.models import active_version
from phiscan.review.store import ItemDetail, Store


def probability(store: Store, detail: ItemDetail) -> dict[str, Any]:
    """Return ``{"value", "files"}``, or a null value with a reason.

    Only the version that gave the file its score can say what that score means.

    Source: Platt (1999); see :mod:`phiscan.pipeline.calibration`.
    """
    if detail.blind:
        return _none("the file is to be judged blind")
    score = detail.item.health_score
    if score is None:
        return _none("the file was not screened")
    version = active_version(store.database)
    if version is None:
        return _none("the shipped models are not calibrated for this share; `phiscan learn` does it")
    used = store.summary(detail.source.scan_id).versions.get("learned", "none")
    if used.partition(":")[0] != str(version.number):
        return _none(f"version {version.number} has not scanned this file yet")
    line = version.summary["calibration"]
    if line["slope"] is None:
        return _none(line["reason"])
    value = 1.0 / (1.0 + math.exp(-(line["slope"] * log_odds(score) + line["intercept"])))
    return {"value": value, "files": line["n"]}


def probability_line(found: dict[str, Any]) -> str:
    """Say it for people."""
    if found["value"] is None:
        return f"  Probability of PHI: not known: {found['reason']}"
    return f"  Probability of PHI: {found['value']:.2f}, from {found['files']} files of the random sample"


def _none(reason: str) -> dict[str, Any]:
    return {"value": None, "reason": reason}
