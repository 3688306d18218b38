r"""Scan results to events for a SIEM: Common Event Format and Open Cybersecurity Schema Framework.

CEF: a header field escapes ``\`` and ``|``; an extension's value escapes ``\``, ``=`` and line ends. Control
and bidi characters of names are escaped already, so that no name can start another event. OCSF, version
1.4.0: a referred file is a Data Security Finding (class 2006), a scan a Scan Activity (class 6007).

Sources: ArcSight, Common Event Format, version 23 and later; OCSF, dictionary and classes at that version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from phiscan import __version__
from phiscan.model import Verdict
from phiscan.review.store import FileRecord, ScanSummary
from phiscan.visible import json_text, visible

SCHEMA: Final = "1.4.0"
_STATUS: Final = {None: (1, "New"), Verdict.NOT_PHI: (3, "Suppressed")}  # else under review
_ACTIVITY: Final = {True: (1, "Create"), False: (2, "Update")}  # no verdict yet, or one
_SCAN_ACTIVITY: Final = {"complete": (2, "Completed"), "stopped": (3, "Cancelled")}  # else begun


@dataclass(frozen=True, slots=True)
class Ids:
    """What tells an event and its file from all others, for a receiver; "" = it is not said."""

    event: str = ""
    file: str = ""  # keyed hash of its path


NO_IDS: Final = Ids()


def cef_finding(row: FileRecord, now: datetime, ids: Ids = NO_IDS) -> str:
    """Return the CEF event of one referred or decided file."""
    name = row.path.rpartition("/")[2]
    return _line(
        "phi.referred",
        "File probably holds personal health information",
        8,
        {
            **_cef_ids(ids),
            "rt": _milliseconds(now),
            "externalId": row.file_id,
            "fname": name,
            "filePath": f"{row.root.rstrip('/')}/{row.path}",
            "fsize": row.size,
            "cat": row.case,
            "cs1Label": "identifiers",
            "cs1": " ".join(row.vector.names),
            "cs2Label": "verdict",
            "cs2": row.verdict or "undecided",
            "cn1Label": "people",
            "cn1": row.n_people,
            "cn2Label": "findings",
            "cn2": row.n_findings,
            "cfp1Label": "health",
            "cfp1": row.health_score,
        },
    )


def cef_scan(summary: ScanSummary, now: datetime, ids: Ids = NO_IDS) -> str:
    """Return the CEF event of one scan: counts, without folders."""
    return _line(
        f"scan.{summary.status}",
        "Scan of a file share",
        2,
        {
            **_cef_ids(ids),
            "rt": _milliseconds(now),
            "externalId": summary.scan,
            "outcome": summary.status,
            "cn1Label": "crawled",
            "cn1": summary.crawled,
            "cn2Label": "referred",
            "cn2": summary.referred,
            "cn3Label": "failed",
            "cn3": sum(summary.failed.values()),
        },
    )


def _cef_ids(ids: Ids) -> dict[str, str]:
    uid = {"cs3Label": "event", "cs3": ids.event} if ids.event else {}
    return uid | ({"fileId": ids.file} if ids.file else {})


def _line(signature: str, name: str, severity: int, extension: Mapping[str, object]) -> str:
    header = "|".join(map(_header, ("phiscan", "phiscan", __version__, signature, name)))
    fields = " ".join(f"{key}={_value(value)}" for key, value in extension.items() if value is not None)
    return f"CEF:0|{header}|{severity}|{fields}"


def _header(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace("|", "\\|")


def _value(value: object) -> str:
    r"""Return a value with its special characters escaped.

    >>> print(_value("a=b\\c\nd"))
    a\=b\\c\\x0ad
    """
    return visible(str(value)).replace("\\", "\\\\").replace("=", "\\=")


def ocsf_finding(row: FileRecord, now: datetime, ids: Ids = NO_IDS) -> dict[str, Any]:
    """Return the OCSF event of one referred or decided file; the ``uid`` of its finding never changes."""
    status_id, status = _STATUS.get(row.verdict, (2, "In Progress"))
    path = PurePosixPath(visible(row.root)) / visible(row.path)
    return {
        **_ocsf_header(2006, "Data Security Finding", "Findings", _ACTIVITY[row.verdict is None], now, ids),
        "severity_id": 4,
        "severity": "High",
        "status_id": status_id,
        "status": status,
        "is_alert": row.verdict in {None, Verdict.PHI},
        "message": f"Probably personal health information; {row.n_people} people at risk",
        "finding_info": {
            "uid": f"phiscan-file-{row.file_id}",
            "title": "Personal health information on a file share",
            "types": ["PHI"],
            "analytic": {"type_id": 1, "type": "Rule", "name": row.case},
        },
        "confidence_score": None if row.health_score is None else round(100 * row.health_score),
        "data_security": {
            "category_id": 1,
            "category": "Personal",
            "data_lifecycle_state_id": 1,
            "data_lifecycle_state": "Data at-rest",
            "detection_system_id": 4,
            "detection_system": "Data Discovery & Classification",
            "detection_pattern": ", ".join(row.vector.names),
        },
        "file": {
            "name": path.name,
            "path": str(path),
            "size": row.size,
            "type_id": 1,
            "type": "Regular File",
            **({"uid": ids.file} if ids.file else {}),
        },
        "unmapped": {
            "identifiers": list(row.vector.names),
            "hamming": row.hamming,
            "health": row.health_score,
            "people": row.n_people,
            "findings": row.n_findings,
            "verdict": row.verdict,
        },
    }


def ocsf_scan(summary: ScanSummary, now: datetime, ids: Ids = NO_IDS) -> dict[str, Any]:
    """Return the OCSF event of one scan: counts, without folders."""
    activity = _SCAN_ACTIVITY.get(summary.status, (1, "Started"))
    event: dict[str, Any] = {
        **_ocsf_header(6007, "Scan Activity", "Application Activity", activity, now, ids),
        "severity_id": 1,
        "severity": "Informational",
        "scan": {"uid": str(summary.scan), "name": "phiscan", "type_id": 0, "type": "Unknown"},
        "start_time": _milliseconds(datetime.fromisoformat(summary.started)),
        "duration": round(1000 * summary.seconds),
        "num_files": summary.crawled,
        "num_detections": summary.referred,
        "num_skipped_items": sum(summary.skipped.values()),
        "total": summary.crawled,
        "unmapped": {
            "failed": dict(summary.failed),
            "unread_parts": summary.n_unread_parts,
            "sampled_files": summary.n_sampled_files,
        },
    }
    if summary.ended is not None:
        event["end_time"] = _milliseconds(datetime.fromisoformat(summary.ended))
    return event


def _ocsf_header(  # noqa: PLR0917 (the fields that every event has)
    uid: int, name: str, category: str, activity: tuple[int, str], now: datetime, ids: Ids
) -> dict[str, Any]:
    product = {"name": "phiscan", "vendor_name": "phiscan", "version": __version__}
    return {
        "class_uid": uid,
        "class_name": name,
        "category_uid": uid // 1000,
        "category_name": category,
        "activity_id": activity[0],
        "activity_name": activity[1],
        "type_uid": 100 * uid + activity[0],
        "type_name": f"{name}: {activity[1]}",
        "time": _milliseconds(now),
        "metadata": {
            "version": SCHEMA,
            "product": product,
            **({"uid": ids.event} if ids.event else {}),
        },
    }


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


# Form -> the line of one referred file, and the line of one scan.
EVENTS: Final[
    dict[str, tuple[Callable[[FileRecord, datetime, Ids], str], Callable[[ScanSummary, datetime, Ids], str]]]
] = {
    "cef": (cef_finding, cef_scan),
    "ocsf": (
        lambda row, now, ids: json_text(ocsf_finding(row, now, ids)),
        lambda summary, now, ids: json_text(ocsf_scan(summary, now, ids)),
    ),
}
