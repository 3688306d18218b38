"""Verdicts from a file: parsing of ``phiscan queue decide --from``, and matching with the queue."""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phiscan.errors import InputError
from phiscan.model import Verdict
from phiscan.review.store import FileRow, QueueItem, Store

# Labels of a truth file; only the first one means PHI.
LABELS = {
    "phi": Verdict.PHI,
    "pii_only": Verdict.NOT_PHI,
    "health_only": Verdict.NOT_PHI,
    "neither": Verdict.NOT_PHI,
}
_VERDICTS = {verdict.value: verdict for verdict in Verdict}


@dataclass(frozen=True, slots=True)
class FileVerdict:
    """One line of the file, with its position for messages."""

    where: str
    path: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class SortedOut:
    """The verdicts to record, and the numbers of skipped lines by reason."""

    to_decide: list[tuple[int, Verdict]]
    counts: Mapping[str, int]


def read_verdicts(name: str) -> list[FileVerdict]:
    """Read JSON lines with a path and a verdict or label each; other fields and blank lines are skipped.

    Raises:
        InputError: names the file, the line and the field, and says what was expected.
    """
    given: dict[str, FileVerdict] = {}
    for number, line in enumerate(_lines(name), start=1):
        if not line.strip():
            continue
        where = f"{name}: line {number}"
        verdict = _parse(where, line)
        before = given.setdefault(verdict.path, verdict)
        if before.verdict is not verdict.verdict:
            message = f"{where}: field path: expected one verdict per file, {before.where} says another"
            raise InputError(message)
    return list(given.values())


def sort_out(
    given: list[FileVerdict], store: Store, scan_id: int | None, reviewer: str, *, n_sampled: int = 0
) -> SortedOut:
    """Match verdicts to the queue; a verdict that the same reviewer has already recorded is skipped.

    Disagreements of two other reviewers are left to a lead.

    ``n_sampled`` adds the first files of the random sample of unreferred files to the queue, in its order:
    the elusion sample of the report.

    Raises:
        InputError: a relative path names files under several roots.
    """
    by_path: defaultdict[str, list[QueueItem | FileRow]] = defaultdict(list)
    items: list[QueueItem | FileRow] = [*store.queue(scan_id)]
    if n_sampled:
        from phiscan.report.sections import elusion  # noqa: PLC0415 (imports scipy: a third of a second)

        items += elusion.sample_order(elusion.unreferred(store.rows(scan_id)), elusion.SEED)[:n_sampled]
    for item in items:
        by_path[item.path].append(item)
        by_path[item.root.rstrip("/") + "/" + item.path].append(item)
    reviewer = reviewer.strip()
    seconds = store.desk.second_verdicts(reviewer=reviewer)
    disputed = {case.file_id for case in store.desk.disagreements(lead=reviewer)}
    to_decide = []
    counts = {"already_decided_so": 0, "not_in_the_queue": 0, "in_dispute": 0}
    for one in given:
        found = by_path.get(one.path, [])
        if len(found) > 1:
            message = f"{one.where}: field path: {len(found)} files have it; expected an absolute path"
            raise InputError(message)
        if not found:
            counts["not_in_the_queue"] += 1
        elif one.verdict in {_own(found[0], reviewer), seconds.get(found[0].file_id)}:
            counts["already_decided_so"] += 1
        elif found[0].file_id in disputed:
            counts["in_dispute"] += 1
        else:
            to_decide.append((found[0].file_id, one.verdict))
    return SortedOut(to_decide, counts)


def _own(item: QueueItem | FileRow, reviewer: str) -> Verdict | None:
    return item.verdict if item.reviewer == reviewer else None


def _lines(name: str) -> Iterator[str]:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    except OSError as error:
        message = f"{name}: cannot be read: {error.strerror}"
        raise InputError(message) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        message = f"{name}: byte {error.start}: expected UTF-8"
        raise InputError(message) from None
    yield from text.split("\n")


def _parse(where: str, line: str) -> FileVerdict:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        message = f"{where}: expected a JSON object"
        raise InputError(message)
    path = value.get("path")
    if not isinstance(path, str) or not path:
        message = f"{where}: field path: expected the path of a file"
        raise InputError(message)
    field, known = ("verdict", _VERDICTS) if value.get("verdict") is not None else ("label", LABELS)
    return FileVerdict(where, path, _lookup(where, field, known, value.get(field)))


def _lookup(where: str, field: str, known: Mapping[str, Verdict], value: Any) -> Verdict:
    if not isinstance(value, str) or value not in known:
        message = f"{where}: field {field}: expected one of {', '.join(known)}"
        raise InputError(message)
    return known[value]
