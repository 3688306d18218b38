r"""Scan results to events for a SIEM, in the Common Event Format.

A header field escapes ``\`` and ``|``; an extension's value escapes ``\``, ``=`` and line ends. Control and
bidi characters of names are escaped already, so that no name can start another event.

Source: ArcSight, Common Event Format, version 23 and later.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from phiscan import __version__
from phiscan.review.store import FileRecord, ScanSummary
from phiscan.visible import visible


def finding_event(row: FileRecord, now: datetime) -> str:
    """Return the CEF event of one referred file."""
    name = row.path.rpartition("/")[2]
    return _line(
        "phi.referred",
        "File probably holds personal health information",
        8,
        {
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


def scan_event(summary: ScanSummary, now: datetime) -> str:
    """Return the CEF event of one scan: counts, without folders."""
    return _line(
        f"scan.{summary.status}",
        "Scan of a file share",
        2,
        {
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


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
