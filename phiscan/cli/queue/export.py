"""The lines of ``phiscan queue export``: JSON for programs (names are fixed), CSV for spreadsheets."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import click

from phiscan.cli.output import print_json
from phiscan.monitoring import cef, ocsf
from phiscan.review.store import FileRow
from phiscan.visible import safe_cell, visible

DETECTORS = ("patterns", "names", "text")
_COLUMNS = (
    *("path", "outcome", "reason", "decision", "pii", "hamming", "health", "people", "findings"),
    *DETECTORS,
    *("probability", "second_look"),
    *("verdict", "reviewer"),
)


def row_json(row: FileRow) -> dict[str, Any]:
    """Return the contract's object for one file; fields of screened files are null for others."""
    screened = row.referral is not None
    verdicts, alone = dict(row.detectors), dict(row.detector_probabilities)
    return {
        "path": row.path,
        "outcome": row.outcome,
        "reason": row.reason,
        "decision": row.referral,
        "pii": list(row.vector.names),
        "hamming": row.hamming,
        "health": row.health_score,
        "people": row.n_people if screened else None,
        "people_interval": row.people_interval,
        "findings": row.n_findings if screened else None,
        "detectors": {name: verdicts.get(name) for name in DETECTORS},
        "detector_probability": {name: alone.get(name) for name in DETECTORS},
        "probability": row.probability,
        "second_look": row.second_look if screened else None,
        "verdict": row.verdict,
        "reviewer": row.reviewer or None,
    }


def _print_json_lines(rows: Iterable[FileRow]) -> None:
    for row in rows:
        print_json(row_json(row))


def _print_csv(rows: Iterable[FileRow]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for row in rows:
        values = row_json(row)
        values.update(values.pop("detectors"))
        values["pii"] = " ".join(values["pii"])
        writer.writerow([_cell(values[name]) for name in _COLUMNS])


def _print_ocsf(rows: Iterable[FileRow]) -> None:
    now = datetime.now(UTC)
    for row in rows:
        print_json(ocsf.finding_event(row, now))


def _print_cef(rows: Iterable[FileRow]) -> None:
    now = datetime.now(UTC)
    for row in rows:
        click.echo(cef.finding_line(row, now))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return safe_cell(visible(value)) if isinstance(value, str) else repr(value)


FORMATS: dict[str, Callable[[Iterable[FileRow]], None]] = {
    "json": _print_json_lines,
    "csv": _print_csv,
    "ocsf": _print_ocsf,
    "cef": _print_cef,
}
EVENTS = frozenset({"ocsf", "cef"})  # only findings of referred files
