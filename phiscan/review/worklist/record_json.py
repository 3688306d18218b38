"""The JSON of a file, its findings, terms and unread parts: the names that commands and REST API share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import attrgetter
from typing import Any

from phiscan.model import StoredFinding, StoredTerm, UnreadPart
from phiscan.review.worklist.model import FileRecord
from phiscan.visible import safe_cell, visible

_SAME = (
    *("root", "path", "media_type", "size", "exposure", "blind", "hamming", "case", "people_interval"),
    *("nearest_prototype", "prototype_distance", "health_prototype", "probability", "second_look", "by_name"),
    *("outcome", "reason", "content_hash", "health_distance", "verdict", "state", "decided", "new"),
    *("suppressed", "covered"),
)

FIELDS: Mapping[str, Callable[[FileRecord], Any]] = {
    **{name: attrgetter(name) for name in _SAME},
    "file": attrgetter("file_id"),
    "seen": attrgetter("examination_id"),
    "group": attrgetter("group_id"),
    "health": attrgetter("health_score"),
    "decision": attrgetter("referral"),
    "characters": attrgetter("n_chars"),
    "mode": attrgetter("source.mode"),
    "uid": attrgetter("source.uid"),
    "mtime_ns": attrgetter("source.mtime_ns"),
    "owner": lambda record: record.source.owner or None,
    "readers": lambda record: list(record.source.readers),
    "risk": lambda record: None if record.blind else record.risk,
    "people": lambda record: None if record.referral is None else record.n_people,
    "findings": lambda record: None if record.referral is None else record.n_findings,
    "pii": lambda record: list(record.vector.names),
    "missing": lambda record: [bit.value for bit in record.missing],
    "detectors": lambda record: dict(record.detectors),
    "detector_probability": lambda record: dict(record.detector_probabilities),
    "language": lambda record: record.language or None,
    "reviewer": lambda record: record.reviewer or None,
    "assignee": lambda record: record.assignee or None,
    "found": lambda record: [finding_json(one) for one in record.findings],
    "terms": lambda record: [term_json(one) for one in record.terms],
    "unread": lambda record: [part_json(one) for one in record.unread],
}
"""Each field by its name; of a file that is to be judged blind, or was not screened, findings are null."""


def record_json(record: FileRecord, names: Iterable[str]) -> dict[str, Any]:
    """Return the fields with these names."""
    return {name: FIELDS[name](record) for name in names}


def cell(value: Any) -> str:
    """Return a field as a cell of a CSV file, safe for spreadsheets."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, list):
        value = " ".join(value)
    return safe_cell(visible(value)) if isinstance(value, str) else repr(value)


def finding_json(finding: StoredFinding) -> dict[str, Any]:
    """Return a finding: its type, masked shape, position and reasons, never its value."""
    return {
        "type": finding.entity_type,
        "shape": finding.preview,
        "locator": finding.locator,
        "start": finding.span.start,
        "end": finding.span.end,
        "score": finding.score,
        "source": finding.source,
        "reasons": [
            {"kind": step.kind, "detail": step.detail, "score": step.score} for step in finding.reasons
        ],
        "identity": finding.identity,
    }


def term_json(term: StoredTerm) -> dict[str, Any]:
    """Return a health concept found."""
    return {"concept": term.concept, "count": term.count, "locator": term.locator}


def part_json(part: UnreadPart) -> dict[str, Any]:
    """Return a part that could not be read."""
    return {"locator": part.locator, "reason": part.reason, "detail": part.detail}
