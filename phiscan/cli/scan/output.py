"""Output formats of a scan's result: table, JSON, CSV, SARIF, OCSF and CEF."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import combinations
from typing import Any
from urllib.parse import quote

import click

from phiscan import __version__
from phiscan.cli.output import print_json, print_message
from phiscan.metrics.cascade import Missed, cascade_loss
from phiscan.metrics.independence import verdict_dependence
from phiscan.model import Outcome, Referral
from phiscan.patients.affected import ScanMatches, canary_files, scan_matches
from phiscan.pipeline.ocr_pass import OcrCounts
from phiscan.pipeline.scan import ScanRun
from phiscan.review.store import FileRecord, ScanSummary, Store
from phiscan.review.worklist.model import Detectors, cell, record_json
from phiscan.visible import visible


def independence(histories: Mapping[Detectors, int]) -> list[dict[str, Any]]:
    """Return for every pair its mutual information in nats and the exact permutation p-value.

    ``files`` is the number compared: those that a detector outside the pair classifies as PHI. Files for
    which the cascade skipped a detector are not compared.
    """
    names = max(([name for name, _ in history] for history in histories), key=len, default=[])
    whole = {history: n_files for history, n_files in histories.items() if len(history) == len(names)}
    found = []
    for first, second in combinations(names, 2):
        counts = [0, 0, 0, 0]
        for history, n_files in whole.items():
            results = dict(history)
            if any(is_phi for name, is_phi in history if name not in {first, second}):
                counts[2 * (not results[first]) + (not results[second])] += n_files
        pair: dict[str, Any] = {"first": first, "second": second, "files": sum(counts)}
        if not pair["files"]:
            reason = "no other detector holds a file for PHI"
            found.append({**pair, "nats": None, "p_value": None, "reason": reason})
            continue
        measured = verdict_dependence(*counts)
        found.append({**pair, "nats": measured.nats, "p_value": measured.p_value})
    return found


def independence_lines(pairs: list[dict[str, Any]]) -> list[str]:
    """Return one line of text per pair."""
    lines = []
    for pair in pairs:
        names = f"  {pair['first']}, {pair['second']}"
        if pair["nats"] is None:
            lines.append(f"{names:<22}{'-':>10}   {pair['reason']}")
        else:
            lines.append(
                f"{names:<22}{pair['nats']:>10.3f}   nats, p = {pair['p_value']:.3g}, {pair['files']:,} files"
            )
    return ["dependence of detectors (0 nats: independent)", *lines] if lines else []


def cascade_lines(searches: Mapping[str, int]) -> list[str]:
    """Return the lines of the summary; none if every file was searched."""
    loss = cascade_loss(**searches)
    if not (loss.n_left_out or loss.n_audit):
        return []
    found = f"{loss.n_audit_referred:,} referred, {loss.n_audit_identified:,} with identifiers"
    return [
        "",
        _line("names not searched", loss.n_left_out, "no name could bring them to the threshold"),
        _line("  searched to check", loss.n_audit, f"drawn at random, {found}"),
        _cascade_line("  missed referrals", loss.referrals),
        _cascade_line("  missed identifiers", loss.identified),
    ]


def _cascade_line(label: str, missed: Missed) -> str:
    if missed.n_files is None:
        return f"{label:<22}{'-':>10}   no file was drawn to estimate it from; `--everything` searches all"
    interval = f"files, an estimate: 95% interval {missed.low:,} to {missed.high:,}"
    return _line(label, round(missed.n_files), interval)


N_UNREAD_NAMED = 10  # listed in the summary of a scan; `queue export --all` lists all
CSV_COLUMNS = (
    *("path", "root", "outcome", "reason", "decision", "pii", "hamming", "health", "people", "findings"),
    "verdict",
)


def _print_json(run: ScanRun, store: Store) -> None:
    print_json(
        {
            **run.summary.to_json(),
            "independence": independence(run.summary.histories),
            "cascade": cascade_loss(**run.summary.searches).to_json(),
            **(
                {}
                if (matches := _matches(store, run.summary.scan)) is None
                else {"own_patients": matches.to_json()}
            ),
            "ocr": ocr_json(run.ocr),
            "resumed": run.resumed,
            "refused_results": run.n_refused,
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
    lines += [*_partly_read_lines(summary), *ocr_lines(run.ocr)]
    if summary.n_deleted or summary.n_moved:
        lines.append(_line("gone since last time", summary.n_deleted, f"and {summary.n_moved:,} moved"))
    lines += [
        "",
        _line("identifiers present", summary.screened_positive),
        _line("referred to review", summary.referred, "`phiscan queue list` shows them"),
        _line("  by their names", summary.n_by_name, "of file, folder or member alone"),
        _line("for a second look", summary.second_look, "`phiscan queue list --second-look` shows them"),
        _line("people at risk", summary.people_at_risk, "an estimate"),
        *_patient_lines(store, summary.scan),
        *independence_lines(independence(summary.histories)),
        *cascade_lines(summary.searches),
        "",
        f"{summary.bytes / 1e6:,.1f} MB read in {summary.seconds:,.1f} s",
    ]
    click.echo("\n".join(lines))
    if not summary.crawled:
        print_message("no file was found: the folders are empty, or --only matches none of their paths")
    if run.n_refused:
        print_message(
            f"{run.n_refused:,} stored results of the interrupted scan were not written by phiscan (wrong"
            " seal): not believed, and their files read again; see `phiscan audit verify`"
        )
    for line in run.missing_isolation or ():
        if not line.startswith("user:"):  # workers as root were reported, or allowed, before the scan
            print_message(f"isolation of workers: {line}")
    if summary.n_sampled_files:
        click.echo("\n".join(_part_lines(store, summary.scan, "read in samples", are_sampled=True)))
    if summary.has_unread:
        click.echo("\n".join(_part_lines(store, summary.scan, "not read", are_sampled=False)))
        print_message(
            "A file that could not be read is not clean: `phiscan queue export --json --all` names each one."
        )


def _partly_read_lines(summary: ScanSummary) -> list[str]:
    """Return the lines about files that were read in part, or whose language is not covered."""
    lines = (
        ("  unread parts", summary.n_unread_parts, "inside files that were read"),
        ("  language not covered", sum(summary.not_covered.values()), _reasons(summary.not_covered)),
        ("  read in samples", summary.n_sampled_files, "long files and tables; their samples refer them"),
    )
    return [_line(*line) for line in lines if line[1]]


def _matches(store: Store, scan_id: int) -> ScanMatches | None:
    with store.database.read() as connection:
        return scan_matches(connection, scan_id)


def _patient_lines(store: Store, scan_id: int) -> list[str]:
    """Return the lines about the organization's own patients; none without an index."""
    if (found := _matches(store, scan_id)) is None:
        return []
    if found.n_canary_files:
        with store.database.read() as connection:
            for root, path in canary_files(connection, scan_id):
                print_message(f"ALARM: a planted record was found in {path} of {root}", level="warning")
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
            *([f"  {visible(row.path)}: language {row.language}"] * (not row.covered and not are_sampled)),
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
        writer.writerow([cell(value) for value in record_json(row, CSV_COLUMNS).values()])


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


def _sarif_location(row: FileRecord) -> list[dict[str, Any]]:
    return [{"physicalLocation": {"artifactLocation": {"uri": quote(row.path), "uriBaseId": "SHARE"}}}]


def _sarif_result(row: FileRecord) -> dict[str, Any]:
    bits = ", ".join(row.vector.names)
    return {
        "ruleId": "phi.referred",
        "level": "error",
        "message": {"text": f"Referred to review ({row.case}): {bits}; {row.n_people} people at risk."},
        "locations": _sarif_location(row),
        "properties": {"hamming": row.hamming, "health": row.health_score, "case": row.case},
    }


def _sarif_unread(row: FileRecord) -> list[dict[str, Any]]:
    """Return a file that could not be read, and each unread part of a file, as SARIF notifications."""
    messages = [f"Could not be read: {row.reason}"] if row.outcome == Outcome.FAILED else []
    messages += [f"Language not covered: {row.language}"] if not row.covered else []
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


def _print_events(run: ScanRun, store: Store, *, form: str) -> None:
    from phiscan.cli.queue.command import print_events  # noqa: PLC0415 (few scans are printed so)
    from phiscan.monitoring.events import EVENTS  # noqa: PLC0415 (as above)

    click.echo(EVENTS[form](run.summary, datetime.now(UTC)))
    print_events((row for row in store.rows(run.summary.scan) if row.referral == Referral.REFERRED), form)


FORMATS: dict[str, Callable[[ScanRun, Store], None]] = {
    "table": _print_table,
    "json": _print_json,
    "csv": _print_csv,
    "sarif": _print_sarif,
    "ocsf": partial(_print_events, form="ocsf"),
    "cef": partial(_print_events, form="cef"),
}


def ocr_json(counts: OcrCounts) -> dict[str, Any]:
    """Return the object ``ocr`` of ``phiscan scan --json``."""
    return {
        "mode": counts.mode,
        "files_read": counts.n_read,
        "seconds": round(counts.seconds, 3),
        "budget_s": counts.budget_s,
        "files_waiting": counts.n_waiting,
        "parts_waiting": counts.n_waiting_parts,
    }


def ocr_lines(counts: OcrCounts) -> list[str]:
    """Return the lines of the table; none if OCR read nothing and nothing waits for it.

    >>> ocr_lines(OcrCounts(n_waiting=2, n_waiting_parts=30))
    ['waiting for OCR                2   files with 30 pages and pictures; the next scan reads them']
    """
    lines = []
    if counts.n_read:
        lines.append(_line("read by OCR", counts.n_read, f"files, in {counts.seconds:,.0f} s after the text"))
    if counts.n_waiting:
        note = f"files with {counts.n_waiting_parts:,} pages and pictures; the next scan reads them"
        lines.append(_line("waiting for OCR", counts.n_waiting, note))
    return lines
