"""Scan results to events of the Open Cybersecurity Schema Framework (OCSF), version 1.4.0.

A referred file is a Data Security Finding (class 2006), a scan a Scan Activity (class 6007).
Source: the schema's dictionary and classes at that version.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from phiscan import __version__
from phiscan.model import Verdict
from phiscan.review.store import FileRecord, ScanSummary
from phiscan.visible import visible

SCHEMA = "1.4.0"
_HIGH, _INFORMATIONAL = 4, 1
_REGULAR_FILE = {"type_id": 1, "type": "Regular File"}
_STATUS = {None: (1, "New"), Verdict.NOT_PHI: (3, "Suppressed")}  # else under review
_SCAN_ACTIVITY = {"complete": (2, "Completed"), "stopped": (3, "Cancelled")}  # else begun


def finding_event(row: FileRecord, now: datetime) -> dict[str, Any]:
    """Return the event of one referred file; its ``uid`` never changes."""
    status_id, status = _STATUS.get(row.verdict, (2, "In Progress"))
    path = PurePosixPath(visible(row.root)) / visible(row.path)
    return {
        **_header(2006, "Data Security Finding", "Findings", (1, "Create"), now),
        "severity_id": _HIGH,
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
            "type_id": 1,
            "type": "Regular File",
            "size": row.size,
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


def scan_event(summary: ScanSummary, now: datetime) -> dict[str, Any]:
    """Return the event of one scan: counts, without folders."""
    activity = _SCAN_ACTIVITY.get(summary.status, (1, "Started"))
    event: dict[str, Any] = {
        **_header(6007, "Scan Activity", "Application Activity", activity, now),
        "severity_id": _INFORMATIONAL,
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


def _header(uid: int, name: str, category: str, activity: tuple[int, str], now: datetime) -> dict[str, Any]:
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
        "metadata": {"version": SCHEMA, "product": product},
    }


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
