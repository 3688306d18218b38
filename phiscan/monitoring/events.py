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
_PRODUCT: Final = {"name": "phiscan", "vendor_name": "phiscan", "version": __version__}
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
    fields = {
        "externalId": row.file_id,
        "fname": row.path.rpartition("/")[2],
        "filePath": f"{row.root.rstrip('/')}/{row.path}",
        "fsize": row.size,
        "cat": row.case,
        "cs1 identifiers": " ".join(row.vector.names),
        "cs2 verdict": row.verdict or "undecided",
        "cn1 people": row.n_people,
        "cn2 findings": row.n_findings,
        "cfp1 health": row.health_score,
    }
    return _cef("phi.referred", "File probably holds personal health information", 8, fields, now, ids)


def cef_scan(summary: ScanSummary, now: datetime, ids: Ids = NO_IDS) -> str:
    """Return the CEF event of one scan: counts, without folders."""
    fields = {
        "externalId": summary.scan,
        "outcome": summary.status,
        "cn1 crawled": summary.crawled,
        "cn2 referred": summary.referred,
        "cn3 failed": sum(summary.failed.values()),
    }
    return _cef(f"scan.{summary.status}", "Scan of a file share", 2, fields, now, ids)


def _cef(  # noqa: PLR0917 (the fields of every event)
    signature: str, name: str, severity: int, fields: Mapping[str, object], now: datetime, ids: Ids
) -> str:
    """Return a line; of a field ``cs1 verdict`` the second word is its label."""
    head = "|".join(_escaped(one, "|") for one in ("phiscan", "phiscan", __version__, signature, name))
    known = {"cs3 event": ids.event or None, "fileId": ids.file or None, "rt": _milliseconds(now), **fields}
    extension: dict[str, object] = {}
    for key, value in known.items():
        field, _, label = key.partition(" ")
        if value is not None:
            extension |= ({f"{field}Label": label} if label else {}) | {field: value}
    said = " ".join(f"{field}={_escaped(str(value), '=')}" for field, value in extension.items())
    return f"CEF:0|{head}|{severity}|{said}"


def _escaped(text: str, separator: str) -> str:
    r"""Return a text with its special characters escaped.

    >>> print(_escaped("a=b\\c\nd", "="))
    a\=b\\c\\x0ad
    """
    return visible(text).replace("\\", "\\\\").replace(separator, f"\\{separator}")


def ocsf_finding(row: FileRecord, now: datetime, ids: Ids = NO_IDS) -> dict[str, Any]:
    """Return the OCSF event of one referred or decided file; the ``uid`` of its finding never changes."""
    path = PurePosixPath(visible(row.root)) / visible(row.path)
    identifiers = list(row.vector.names)
    return {
        **_ocsf(2006, "Data Security Finding", "Findings", _ACTIVITY[row.verdict is None], now, ids),
        **_enum(severity=(4, "High"), status=_STATUS.get(row.verdict, (2, "In Progress"))),
        "is_alert": row.verdict in {None, Verdict.PHI},
        "message": f"Probably personal health information; {row.n_people} people at risk",
        "finding_info": {
            "uid": f"phiscan-file-{row.file_id}",
            "title": "Personal health information on a file share",
            "types": ["PHI"],
            "analytic": {**_enum(type=(1, "Rule")), "name": row.case},
        },
        "confidence_score": None if row.health_score is None else round(100 * row.health_score),
        "data_security": {
            **_enum(
                category=(1, "Personal"),
                data_lifecycle_state=(1, "Data at-rest"),
                detection_system=(4, "Data Discovery & Classification"),
            ),
            "detection_pattern": ", ".join(identifiers),
        },
        "file": {
            "name": path.name,
            "path": str(path),
            "size": row.size,
            **_enum(type=(1, "Regular File")),
            **({"uid": ids.file} if ids.file else {}),
        },
        "unmapped": {
            "identifiers": identifiers,
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
    times = {"start_time": summary.started, "end_time": summary.ended}
    return {
        **_ocsf(6007, "Scan Activity", "Application Activity", activity, now, ids),
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


def _ocsf(  # noqa: PLR0917 (the fields of every event)
    uid: int, name: str, category: str, activity: tuple[int, str], now: datetime, ids: Ids
) -> dict[str, Any]:
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
        "metadata": {"version": SCHEMA, "product": _PRODUCT, **({"uid": ids.event} if ids.event else {})},
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
