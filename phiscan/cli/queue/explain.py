"""The explanation of a referral, in words and as JSON; never a value."""

from __future__ import annotations

import io
import shutil
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from phiscan.model import ReaderCount, Referral, StoredFinding
from phiscan.report.openings import opening_words
from phiscan.report.words import CASES, reader_words
from phiscan.review.store import FileRecord
from phiscan.review.worklist.model import record_json
from phiscan.visible import visible
from phiscan.web.plain_words import SHORT, kinds_of

_MIN_WIDTH = 60  # of a terminal; on narrower ones numbers would be truncated
_NO_TERMINAL_WIDTH = 10_000  # one line per file for grep and other programs


def item_lines(
    items: Sequence[FileRecord], *, n_all: int, n_open: int, offset: int, is_scanned: bool = True
) -> list[str]:
    """Return the items as the lines of a table, and the number of further ones."""
    if not items:
        if not is_scanned:
            return ["Nothing to decide: no scan yet; `phiscan scan FOLDER` fills the queue."]
        return ["Nothing to show." if offset or n_open else "Nothing to decide."]
    table = Table(box=None, pad_edge=False, header_style="bold")
    right_aligned = ("no.", "risk", "people", "P(PHI)", "health")
    for heading in (*right_aligned, "verdict", "file", "identifiers"):
        right = heading in right_aligned
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for item in items:
        table.add_row(
            str(item.file_id),
            f"{item.risk:,.1f}",
            f"{item.n_people:,}" if item.n_people else "none named",
            "" if item.probability is None else f"{item.probability:.2f}",
            "" if item.health_score is None else f"{item.health_score:.2f}",
            item.verdict or (f"for {visible(item.assignee)}" if item.assignee else "-"),
            Text(visible(item.path)),  # as text: [bold] in a file name is not markup
            ", ".join(kinds_of(item.vector)),
        )
    shown = f"{offset + 1:,} to {offset + len(items):,} of {n_all:,}; {n_open:,} undecided"
    return [*_table_lines(table), "", f"{shown}. `phiscan queue show NO` shows why a file is here."]


def _table_lines(table: Table) -> list[str]:
    is_terminal = sys.stdout.isatty()
    width = max(_MIN_WIDTH, shutil.get_terminal_size().columns) if is_terminal else _NO_TERMINAL_WIDTH
    console = Console(file=io.StringIO(), width=width, highlight=False, force_terminal=is_terminal)
    with console.capture() as captured:
        console.print(table)
    return [line.rstrip() for line in captured.get().splitlines()]


ITEM_FIELDS = (
    *("file", "root", "path", "media_type", "size", "risk", "pii", "hamming", "missing"),
    *("nearest_prototype", "prototype_distance", "health", "health_prototype"),
    *("people", "people_interval", "findings", "decision", "case", "detectors", "detector_probability"),
    *("probability", "second_look", "verdict", "reviewer", "assignee", "tags"),
)
"""The fields of an item of ``phiscan queue list --json``."""


N_READERS = 12  # readers listed; a domain's list has hundreds
_DETAIL_FIELDS = (
    *("blind", "outcome", "reason", "mode", "uid", "owner", "readers", "reader_count", "mtime_ns"),
    *("content_hash", "characters", "health_distance", "labels", "found", "terms", "unread", "openings"),
)
N_TERMS = 12  # health terms listed; a long document has a hundred
_DETECTOR_WORDS = {True: "PHI", False: "not PHI"}


def explain(record: FileRecord, *, limit: int, missed_file_cost: float) -> Iterator[str]:
    """Yield the lines of the explanation; at most ``limit`` findings, 0 = all."""
    source = record.source
    yield f"{visible(record.path)}   (no. {record.file_id})"
    yield f"  under {visible(record.root)}"
    is_known = 0 < abs(source.mtime_ns) < 2**62  # some shares do not say it
    changed = datetime.fromtimestamp(source.mtime_ns / 1e9, UTC) if is_known else None
    when = f", changed {changed:%Y-%m-%d %H:%M} UTC" if changed else ""
    kind = visible(record.media_type) or "type unknown"
    yield f"  {kind}, {record.size:,} bytes{when}"
    yield from _access(record)
    if record.blind:
        yield "\nIt is to be judged blind: decide from the file itself, without what phiscan found in it."
        yield from _decisions(record)
        return
    yield f"  {opening_words(record.openings)}"
    if record.referral is None:
        yield f"\nIt was not screened: {record.outcome}, {record.reason}. {visible(record.detail)}".rstrip()
        return
    from phiscan.decision.reasons import sentences  # noqa: PLC0415 (imports the recognizers: half a second)

    if record.labels:
        named = ", ".join(f"{visible(name)} ({number})" if name else number for number, name in record.labels)
        yield f"  Sensitivity label: {named}; no reason of the decision"
    if record.detail:
        yield f"  Note: {visible(record.detail)}."
    yield f"\nDecision: {record.referral}. {CASES.get(record.case, record.case).capitalize()}."
    if reasons := sentences(record.reasons):
        yield f"  {reasons[0].capitalize()}{''.join(f'; {reason}' for reason in reasons[1:])}."
    yield from _identifying(record)
    yield from _health(record)
    if record.probability is not None:
        yield probability_line(record.probability, missed_file_cost)
    yield "  Detectors: " + ", ".join(f"{name} says {_DETECTOR_WORDS[phi]}" for name, phi in record.detectors)
    people = f"{record.n_people:,}{_interval(record)}" if record.n_people else "none named"
    rank = f" Risk in the queue: {record.risk:,.1f}." if record.referral is Referral.REFERRED else ""
    yield f"  People at risk, an estimate: {people}.{rank}"
    yield from _findings(record.findings, limit)
    if samples := [part for part in record.unread if part.is_sampled]:
        yield "\nRead in samples; what lies between them was left out:"
        yield from (f"  {visible(part.locator)}: {visible(part.detail)}" for part in samples)
    if unread := [part for part in record.unread if not part.is_sampled]:
        yield "\nParts that could not be read, and so may hide more:"
        yield from (
            f"  {visible(part.locator)}: {part.reason}{f' ({visible(part.detail)})' if part.detail else ''}"
            for part in unread
        )
    yield from _decisions(record)


def _access(record: FileRecord) -> Iterator[str]:
    """Yield owner and readers of the file; a share that is not mounted has no mode."""
    source = record.source
    is_remote = "://" in record.root
    owner = visible(source.owner) or ("unknown" if is_remote else str(source.uid))
    yield f"  owner {owner}" + ("" if is_remote else f", mode {source.mode & 0o7777:04o}")
    if source.readers:
        named = ", ".join(visible(reader) for reader in source.readers[:N_READERS])
        rest = len(source.readers) - N_READERS
        yield f"  may be read by {named}{f' and {rest} more' if rest > 0 else ''}"
    yield f"  {readers_line(record.reader_count)}"


def readers_line(found: ReaderCount | None) -> str:
    """Return how many people can read a file, and when they were counted."""
    if found is None:
        return "people who can read it: not counted; `phiscan access update` counts those of the list"
    return f"people who can read it: {reader_words(found)} (counted {found.counted:%Y-%m-%d})"


def _interval(record: FileRecord) -> str:
    if record.people_interval is None:
        return ""
    low, high = record.people_interval
    return f" (95% interval {low:,} to {high:,})"


def _identifying(record: FileRecord) -> Iterator[str]:
    yield f"  Identifiers: {', '.join(kinds_of(record.vector)) or 'none'}"
    if record.hamming == 0:
        yield "  Concept of PHI: satisfied; a person's name with an identifier or a venue"
    elif record.hamming is not None:
        lacking = ", ".join(bit.value for bit in record.missing)
        yield f"  Concept of PHI: lacks {_details(record.hamming, 'identifying ')}, for example {lacking}"
    if record.nearest_prototype:
        distance, name = record.prototype_distance, visible(record.nearest_prototype)
        yield f"  Nearest stored example: {name}, {_details(distance)} away"


def _details(n: int | None, kind: str = "") -> str:
    return f"{n} {kind}detail{'' if n == 1 else 's'}"


def _health(record: FileRecord) -> Iterator[str]:
    if record.health_score is None:
        return
    side = "above" if record.health_score >= 0.5 else "below"  # noqa: PLR2004 (HealthScore: 0.5 = threshold)
    distance = record.health_distance
    away = "" if distance is None else f", distance {distance:.3f}"
    near = f"; nearest example: {visible(record.health_prototype)}{away}" if record.health_prototype else ""
    yield f"  Health score: {record.health_score:.2f}, {side} its own threshold of 0.50{near}"
    if record.terms:
        from phiscan.health.topics import label_of  # noqa: PLC0415 (imports the classifier)

        ordered = sorted(record.terms, key=lambda term: (-term.count, term.concept))
        named = ", ".join(f"{visible(label_of(term.concept))} ({term.count})" for term in ordered[:N_TERMS])
        rest = len(ordered) - N_TERMS
        yield f"  Health terms: {named}{f' and {rest} more' if rest > 0 else ''}"


def _findings(findings: tuple[StoredFinding, ...], limit: int) -> Iterator[str]:
    if not findings:
        yield "\nNo findings: none were found, or none are kept of a file that nobody reviews."
        return
    kinds = Counter(SHORT[finding.entity_type] for finding in findings)
    word = "finding" if len(findings) == 1 else "findings"
    yield f"\n{len(findings):,} {word}: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common())
    shown = findings[: limit or None]
    for finding in shown:
        where = visible(finding.locator) or "text"
        yield (
            f"  {SHORT[finding.entity_type]:<20} {finding.preview}\n"
            f"    {where}, characters {finding.span.start:,} to {finding.span.end:,}; "
            f"score {finding.score:.2f}: {_steps(finding)}"
        )
    if len(shown) < len(findings):
        yield f"  and {len(findings) - len(shown):,} more; --limit 0 shows all"


def _steps(finding: StoredFinding) -> str:
    steps = [f"{step.kind} {visible(step.detail)} ({step.score:.2f})" for step in finding.reasons]
    return ", ".join(steps) or visible(finding.source)


def _decisions(record: FileRecord) -> Iterator[str]:
    if not record.decisions:
        yield "\nNot decided yet."
        return
    yield "\nDecisions, oldest first:"
    for decision in record.decisions:
        old = "" if decision.content_hash == record.content_hash else "  (about an earlier content)"
        old = old if decision.file_id == record.file_id else "  (for an identical file)"
        more = "; ".join(visible(text) for text in (decision.reason, decision.note) if text)
        yield (
            f"  {decision.decided:%Y-%m-%d %H:%M} UTC  {decision.verdict}  {visible(decision.reviewer)}"
            f"{'  ' + more if more else ''}{old}"
        )


def detail_json(record: FileRecord) -> dict[str, Any]:
    """Return everything about one file for programs; the machine's results of a blind item are null."""
    reason = "the file was not screened" if record.probability is None else ""
    reason = "the file is to be judged blind" if record.blind else reason
    return {
        **record_json(record, (*ITEM_FIELDS, *_DETAIL_FIELDS)),
        "explanation": CASES.get(record.case, record.case),
        "probability": {"value": record.probability} | ({"reason": reason} if reason else {}),
        "decisions": [
            {
                "verdict": decision.verdict,
                "reviewer": decision.reviewer,
                "reason": decision.reason,
                "note": decision.note,
                "decided": decision.decided.isoformat(),
                "standing": decision.content_hash == record.content_hash,
                "identical_file": decision.file_id != record.file_id,
            }
            for decision in record.decisions
        ],
    }


def probability_line(probability: float, missed_file_cost: float) -> str:
    """Format the probability, beside the threshold of referral that the configuration states."""
    from phiscan.decision.model import threshold_of  # noqa: PLC0415 (imports the recognizers: half a second)

    threshold = threshold_of(missed_file_cost)
    return f"  Probability of PHI: {probability:.3f}; files are referred from {threshold:.3f}"
