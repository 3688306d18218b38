"""Output formats of a scan's result: table, JSON, CSV, SARIF, OCSF and CEF."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import click

from phiscan import __version__
from phiscan.cli.output import print_json, print_message
from phiscan.cli.scan.cascade import cascade_json, cascade_lines, slowest_lines
from phiscan.cli.scan.independence import independence, independence_lines
from phiscan.cli.scan.ocr import ocr_json, ocr_lines
from phiscan.model import Outcome, Referral
from phiscan.patients.affected import canary_files, scan_matches
from phiscan.pipeline.scan import ScanRun
from phiscan.review.store import FileRow, Store
from phiscan.visible import safe_cell, visible

N_UNREAD_NAMED = 10  # listed in the summary of a scan; `queue export --all` lists all
CSV_COLUMNS = (
    "path",
    "root",
    "outcome",
    "reason",
    "decision",
    "pii",
    "hamming",
    "health",
    "people",
    "findings",
    "verdict",
)


def _print_json(run: ScanRun, store: Store) -> None:
    print_json(
        {
            **run.summary.to_json(),
            "independence": independence(run.summary.histories),
            "cascade": cascade_json(run.summary.searches),
            "slowest": [one.to_json() for one in store.slowest_files(run.summary.scan)],
            **_patients_json(store, run.summary.scan),
            "ocr": ocr_json(run.ocr),
            "resumed": run.resumed,
            "stage_seconds": dict(run.stage_seconds),
            # Isolation layers that the workers lacked; null if no local worker was started.
            "missing_isolation": None if run.missing_isolation is None else list(run.missing_isolation),
        }
    )


def _print_table(run: ScanRun, store: Store) -> None:
    summary = run.summary
    skipped, failed = sum(summary.skipped.values()), sum(summary.failed.values())
    lines = [
        f"Scan {summary.scan} of {', '.join(map(visible, summary.roots))}"
        + (" (resumed)" if run.resumed else ""),
        "",
        _line("crawled", summary.crawled),
        _line(
            "  screened", summary.screened, f"{summary.n_copies:,} copies of others" * bool(summary.n_copies)
        ),
        _line("  unchanged", summary.unchanged, "their earlier result is kept"),
        _line("  skipped", skipped, _reasons(summary.skipped)),
        _line("  could not be read", failed, _reasons(summary.failed)),
    ]
    if summary.n_unread_parts:
        lines.append(_line("  unread parts", summary.n_unread_parts, "inside files that were read"))
    if summary.n_sampled_files:
        lines.append(
            _line("  read in samples", summary.n_sampled_files, "long files; their samples refer them")
        )
    lines += ocr_lines(run.ocr)
    if summary.n_deleted or summary.n_moved:
        lines.append(_line("gone since last time", summary.n_deleted, f"and {summary.n_moved:,} moved"))
    lines += [
        "",
        _line("identifiers present", summary.screened_positive),
        _line("referred to review", summary.referred, "`phiscan queue list` shows them"),
        _line("for a second look", summary.second_look, "`phiscan queue list --second-look` shows them"),
        _line("people at risk", summary.people_at_risk, "an estimate"),
        *_patient_lines(store, summary.scan),
        *independence_lines(independence(summary.histories)),
        *cascade_lines(summary.searches),
        *slowest_lines(store.slowest_files(summary.scan)),
        "",
        f"{summary.bytes / 1e6:,.1f} MB read in {summary.seconds:,.1f} s",
    ]
    click.echo("\n".join(lines))
    if not summary.crawled:
        print_message("no file was found: the folders are empty, or --only matches none of their paths")
    for line in run.missing_isolation or ():
        if not line.startswith("user:"):  # workers as root were reported, or allowed, before the scan
            print_message(f"isolation of workers: {line}")
    if summary.n_sampled_files:
        click.echo("\n".join(_part_lines(store, summary.scan, "read in samples", are_sampled=True)))
    if failed or summary.n_unread_parts:
        click.echo("\n".join(_part_lines(store, summary.scan, "not read", are_sampled=False)))
        print_message(
            "A file that could not be read is not clean: `phiscan queue export --json --all` names each one."
        )


def _patients_json(store: Store, scan_id: int) -> dict[str, Any]:
    with store.database.read() as connection:
        found = scan_matches(connection, scan_id)
    return {} if found is None else {"own_patients": found.to_json()}


def _patient_lines(store: Store, scan_id: int) -> list[str]:
    """Return the lines about the organization's own patients; none without an index."""
    with store.database.read() as connection:
        found = scan_matches(connection, scan_id)
        planted = canary_files(connection, scan_id) if found and found.n_canary_files else []
    for root, path in planted:
        print_message(f"ALARM: a planted record was found in {path} of {root}", level="warning")
    if found is None:
        return []
    chance = f"in {found.n_files:,} files; {found.expected_by_chance:.2g} matches expected by chance"
    return [
        _line("own patients", found.n_patients, chance),
        _line("rare names alone", found.n_rare_name_files, "files; no other sign of a patient"),
    ]


def _part_name(path: str, locator: str) -> str:
    """Return the name of an unread part for display; without a locator it is the file itself."""
    return f"{visible(path)}, {visible(locator)}" if locator else visible(path)


def _part_lines(store: Store, scan_id: int, title: str, *, are_sampled: bool) -> list[str]:
    """List the first parts that were left out between samples, or those not read and the failed files."""
    found = [
        line
        for row in store.rows(scan_id)
        for line in (
            *([f"  {visible(row.path)}: {row.reason}"] * (row.outcome == Outcome.FAILED and not are_sampled)),
            *(
                f"  {_part_name(row.path, part.locator)}: {part.detail if are_sampled else part.reason}"
                for part in row.unread
                if part.is_sampled == are_sampled
            ),
        )
    ]
    rest = len(found) - N_UNREAD_NAMED
    more = [f"  and {rest:,} more"] if rest > 0 else []
    return ["", f"{title}:", *found[:N_UNREAD_NAMED], *more]


def _line(label: str, count: int, note: str = "") -> str:
    return f"{label:<22}{count:>10,}{'   ' + note if note else ''}"


def _reasons(counts: Any) -> str:
    return ", ".join(f"{reason} {count:,}" for reason, count in sorted(counts.items()))


def _print_csv(run: ScanRun, store: Store) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CSV_COLUMNS)
    for row in store.rows(run.summary.scan):
        writer.writerow([safe_cell(cell) for cell in _cells(row)])


def _cells(row: FileRow) -> list[str]:
    screened = row.referral is not None  # read in this scan or an earlier one
    return [
        visible(row.path),
        visible(row.root),
        row.outcome,
        row.reason,
        row.referral or "",
        " ".join(row.vector.names),
        str(row.hamming) if screened else "",
        repr(row.health_score) if screened else "",
        str(row.n_people) if screened else "",
        str(row.n_findings) if screened else "",
        row.verdict or "",
    ]


def _print_sarif(run: ScanRun, store: Store) -> None:
    results = [
        _sarif_result(row) for row in store.rows(run.summary.scan) if row.referral == Referral.REFERRED
    ]
    unread = [notification for row in store.rows(run.summary.scan) for notification in _sarif_unread(row)]
    rules = [
        {
            "id": "phi.referred",
            "shortDescription": {"text": "The file probably holds personal health information"},
            "defaultConfiguration": {"level": "error"},
        }
    ]
    driver = {"name": "phiscan", "version": __version__, "rules": rules}
    invocation = {
        "executionSuccessful": run.summary.status == "complete",
        "startTimeUtc": run.summary.started,
        "endTimeUtc": run.summary.ended,
        "toolExecutionNotifications": unread,
    }
    print_json(
        {
            "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json",
            "version": "2.1.0",
            "runs": [{"tool": {"driver": driver}, "invocations": [invocation], "results": results}],
        }
    )


def _sarif_location(row: FileRow) -> list[dict[str, Any]]:
    return [{"physicalLocation": {"artifactLocation": {"uri": quote(row.path), "uriBaseId": "SHARE"}}}]


def _sarif_result(row: FileRow) -> dict[str, Any]:
    bits = ", ".join(row.vector.names)
    return {
        "ruleId": "phi.referred",
        "level": "error",
        "message": {"text": f"Referred to review ({row.case}): {bits}; {row.n_people} people at risk."},
        "locations": _sarif_location(row),
        "properties": {"hamming": row.hamming, "health": row.health_score, "case": row.case},
    }


def _sarif_unread(row: FileRow) -> list[dict[str, Any]]:
    """Return a file that could not be read, and each unread part of a file, as SARIF notifications."""
    messages = [f"Could not be read: {row.reason}"] if row.outcome == Outcome.FAILED else []
    # The locator of a part may contain a member's name: escaped, as every name from a share.
    messages += [
        f"Part not read: {visible(part.locator)}: {part.reason}" for part in row.unread if not part.is_sampled
    ]
    samples = [f"Read in samples: {visible(part.detail)}" for part in row.unread if part.is_sampled]
    return [
        {"level": level, "message": {"text": text}, "locations": _sarif_location(row)}
        for level, texts in (("warning", messages), ("note", samples))
        for text in texts
    ]


def _print_ocsf(run: ScanRun, store: Store) -> None:
    from phiscan.monitoring import ocsf  # noqa: PLC0415 (few scans are printed so)

    now = datetime.now(UTC)
    print_json(ocsf.scan_event(run.summary, now))
    for row in store.rows(run.summary.scan):
        if row.referral == Referral.REFERRED:
            print_json(ocsf.finding_event(row, now))


def _print_cef(run: ScanRun, store: Store) -> None:
    from phiscan.monitoring import cef  # noqa: PLC0415 (as above)

    now = datetime.now(UTC)
    click.echo(cef.scan_line(run.summary, now))
    for row in store.rows(run.summary.scan):
        if row.referral == Referral.REFERRED:
            click.echo(cef.finding_line(row, now))


FORMATS: dict[str, Callable[[ScanRun, Store], None]] = {
    "table": _print_table,
    "json": _print_json,
    "csv": _print_csv,
    "sarif": _print_sarif,
    "ocsf": _print_ocsf,
    "cef": _print_cef,
}
