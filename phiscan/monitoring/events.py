r"""Scan results to events for a SIEM: Common Event Format and Open Cybersecurity Schema Framework.

CEF: a header field escapes ``\`` and ``|``; an extension's value escapes ``\``, ``=`` and line ends. Control
and bidi characters of names are escaped already, so that no name can start another event. OCSF, version
1.4.0: a referred file is a Data Security Finding (class 2006), a scan a Scan Activity (class 6007).

Sources: ArcSight, Common Event Format, version 23 and later; OCSF, dictionary and classes at that version.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any, Final

from phiscan import __version__
from phiscan.model import Verdict
from phiscan.review.store import FileRecord, ScanSummary
from phiscan.visible import json_text, visible

SCHEMA: Final = "1.4.0"
_PRODUCT: Final = {"name": "phiscan", "vendor_name": "phiscan", "version": __version__}
_STATUS: Final = {None: (1, "New"), Verdict.NOT_PHI: (3, "Suppressed")}  # else under review
_MESSAGES: Final = {  # of a file by its verdict: id and severity in CEF, message
    None: ("phi.referred", 8, "Probably personal health information"),
    Verdict.UNSURE: ("phi.unsure", 8, "Perhaps personal health information: a reviewer was not sure"),
    Verdict.PHI: ("phi.confirmed", 8, "Personal health information, by a reviewer's verdict"),
    Verdict.NOT_PHI: ("phi.rejected", 2, "No personal health information, by a reviewer's verdict"),
}
_SCAN_ACTIVITY: Final = {"complete": (2, "Completed"), "stopped": (3, "Cancelled")}  # else begun


def cef(found: FileRecord | ScanSummary, now: datetime, uid: str = "", file_uid: str = "") -> str:
    """Return the CEF event of one referred or decided file, or of a scan: counts, without folders.

    ``uid`` and ``file_uid`` tell an event and its file from all others; "" = it is not said.
    """
    # Of a key such as ``cs1 verdict`` the second word is the label of the field.
    fields: dict[str, object] = {"cs3 event": uid or None, "fileId": file_uid or None}
    fields["rt"] = _milliseconds(now)
    if isinstance(found, ScanSummary):
        what, severity = (f"scan.{found.status}", "Scan of a file share"), 2
        fields |= {
            "externalId": found.scan,
            "outcome": found.status,
            "cn1 crawled": found.crawled,
            "cn2 referred": found.referred,
            "cn3 failed": sum(found.failed.values()),
        }
    else:
        kind, severity, message = _MESSAGES[found.verdict]
        what = kind, message
        fields |= {
            "externalId": found.file_id,
            "fname": found.path.rpartition("/")[2],
            "filePath": f"{found.root.rstrip('/')}/{found.path}",
            "fsize": found.size,
            "cat": found.case,
            "cs1 identifiers": " ".join(found.vector.names),
            "cs2 verdict": found.verdict or "undecided",
            "cn1 people": found.n_people,
            "cn2 findings": found.n_findings,
            "cfp1 health": found.health_score,
        }
    head = "|".join(_escaped(one, "|") for one in ("phiscan", "phiscan", __version__, *what))
    extension = [
        (f"{key}Label={label} " if label else "") + f"{key}={_escaped(str(value), '=')}"
        for (key, _, label), value in ((name.partition(" "), value) for name, value in fields.items())
        if value is not None
    ]
    return f"CEF:0|{head}|{severity}|{' '.join(extension)}"


def _escaped(text: str, separator: str) -> str:
    r"""Return a text with its special characters escaped.

    >>> print(_escaped("a=b\\c\nd", "="))
    a\=b\\c\\x0ad
    """
    return visible(text).replace("\\", "\\\\").replace(separator, f"\\{separator}")


def ocsf(found: FileRecord | ScanSummary, now: datetime, uid: str = "", file_uid: str = "") -> dict[str, Any]:
    """Return the OCSF event of one referred or decided file, or of a scan: counts, without folders.

    The ``uid`` of a file's finding never changes.
    """
    if isinstance(found, ScanSummary):
        number, name, category, about = 6007, "Scan Activity", "Application Activity", _about_scan(found)
        activity = _SCAN_ACTIVITY.get(found.status, (1, "Started"))
    else:
        number, name, category, about = (
            2006,
            "Data Security Finding",
            "Findings",
            _about_file(found, file_uid),
        )
        activity = (1, "Create") if found.verdict is None else (2, "Update")
    return {
        "class_uid": number,
        "class_name": name,
        "category_uid": number // 1000,
        "category_name": category,
        "activity_id": activity[0],
        "activity_name": activity[1],
        "type_uid": 100 * number + activity[0],
        "type_name": f"{name}: {activity[1]}",
        "time": _milliseconds(now),
        "metadata": {"version": SCHEMA, "product": _PRODUCT, **_uid(uid)},
        **about,
    }


def _about_file(row: FileRecord, file_uid: str) -> dict[str, Any]:
    message = _MESSAGES[row.verdict][2]
    severity = (1, "Informational") if row.verdict is Verdict.NOT_PHI else (4, "High")
    path = PurePosixPath(visible(row.root)) / visible(row.path)
    file = {"name": path.name, "path": str(path), "size": row.size, **_enum(type=(1, "Regular File"))}
    return {
        **_enum(severity=severity, status=_STATUS.get(row.verdict, (2, "In Progress"))),
        "is_alert": row.verdict in {None, Verdict.PHI},
        "message": f"{message}; people: {row.n_people}",
        "finding_info": {
            "uid": f"phiscan-file-{row.file_id}",
            "title": "Personal health information on a file share",
            "types": ["PHI"],
            "analytic": {**_enum(type=(1, "Rule")), "name": row.case},
        },
        "confidence_score": None if row.probability is None else round(100 * row.probability),
        "data_security": {**_DATA_SECURITY, "detection_pattern": ", ".join(row.vector.names)},
        "file": file | _uid(file_uid),
        "unmapped": {
            "identifiers": list(row.vector.names),
            "hamming": row.hamming,
            "health": row.health_score,
            "people": row.n_people,
            "findings": row.n_findings,
            "verdict": row.verdict,
        },
    }


def _about_scan(summary: ScanSummary) -> dict[str, Any]:
    times = {"start_time": summary.started, "end_time": summary.ended}
    return {
        **_enum(severity=(1, "Informational")),
        "scan": {"uid": str(summary.scan), "name": "phiscan", **_enum(type=(0, "Unknown"))},
        **{name: _milliseconds(datetime.fromisoformat(time)) for name, time in times.items() if time},
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


def _enum(**fields: tuple[int, str]) -> dict[str, Any]:
    """Return enumerated fields, each as its number and its name."""
    numbers = {f"{field}_id": number for field, (number, _) in fields.items()}
    return numbers | {field: name for field, (_, name) in fields.items()}


def _uid(known: str) -> dict[str, str]:
    return {"uid": known} if known else {}


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)


_DATA_SECURITY: Final = _enum(
    category=(1, "Personal"),
    data_lifecycle_state=(1, "Data at-rest"),
    detection_system=(4, "Data Discovery & Classification"),
)
EVENTS: Final[dict[str, Callable[..., str]]] = {
    "cef": cef,
    "ocsf": lambda *given: json_text(ocsf(*given)),
}
"""Form -> the line of one referred file, or of one scan."""
