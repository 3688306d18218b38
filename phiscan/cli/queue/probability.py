"""P(PHI) of one file for display and JSON, as computed when the file was examined."""

from __future__ import annotations

from typing import Any

from phiscan.review.store import ItemDetail


def probability(detail: ItemDetail) -> dict[str, Any]:
    """Return ``{"value"}``, or a null value with a reason."""
    if detail.blind:
        return _none("the file is to be judged blind")
    if detail.item.referral is None:
        return _none("the file was not screened")
    if detail.item.probability is None:
        return _none("examined by a version without a probability; `phiscan scan --full` adds it")
    return {"value": detail.item.probability}


def probability_line(found: dict[str, Any], missed_file_cost: float) -> str:
    """Format it for display, beside the threshold of referral that the configuration states."""
    if found["value"] is None:
        return f"  Probability of PHI: not known: {found['reason']}"
    from phiscan.decision.model import threshold_of  # noqa: PLC0415 (imports the recognizers: half a second)

    threshold = threshold_of(missed_file_cost)
    return f"  Probability of PHI: {found['value']:.3f}; files are referred from {threshold:.3f}"


def _none(reason: str) -> dict[str, Any]:
    return {"value": None, "reason": reason}
