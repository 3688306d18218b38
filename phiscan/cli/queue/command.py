"""``phiscan queue``: the review queue without a browser."""

from __future__ import annotations

import csv
import json
import sys
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import click

from phiscan.cli import group_of
from phiscan.cli.output import (
    Answer,
    answers,
    config_of,
    print_json,
    print_message,
    read_lines,
    unblind_option,
)
from phiscan.cli.queue.explain import ITEM_FIELDS, detail_json, explain, item_lines
from phiscan.config import Config
from phiscan.errors import InputError
from phiscan.model import EntityType, FileResult, Outcome, Referral, Verdict
from phiscan.monitoring.events import EVENTS
from phiscan.review.store import FileRecord, Store
from phiscan.review.worklist.model import WorkFilter, cell, record_json
from phiscan.visible import safe_cell, visible

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


def read_verdicts(name: str) -> list[FileVerdict]:
    """Read JSON lines with a path and a verdict or label each; other fields and blank lines are skipped.

    Raises:
        InputError: names the file, the line and the field, and says what was expected.
    """
    given: dict[str, FileVerdict] = {}
    for where, line in read_lines(name):
        verdict = _parse(where, line)
        before = given.setdefault(verdict.path, verdict)
        if before.verdict is not verdict.verdict:
            raise InputError(where, f"field path: expected one verdict per file, {before.where} says another")
    return list(given.values())


def sort_out(
    given: list[FileVerdict], store: Store, scan_id: int | None, reviewer: str
) -> tuple[list[tuple[int, Verdict]], dict[str, int]]:
    """Match verdicts to the queue; return those to record, and the numbers of skipped lines by reason.

    A verdict that the same reviewer has already recorded is skipped.

    Disagreements of two other reviewers are left to a lead. Files of the random sample that were not referred
    are in the queue, too.

    Raises:
        InputError: a relative path names files under several roots.
    """
    by_path: defaultdict[str, list[FileRecord]] = defaultdict(list)
    for item in (*store.queue(scan_id), *(store.sampled() if scan_id is None else ())):
        by_path[item.path].append(item)
        by_path[item.root.rstrip("/") + "/" + item.path].append(item)
    reviewer = reviewer.strip()
    blind = store.blind()  # also after a verdict by the name, which may be given again once it is opened
    seconds = store.desk.second_verdicts(reviewer=reviewer)
    disputed = {case.file_id for case in store.desk.disagreements(lead=reviewer)}
    to_decide = []
    counts = {"already_decided_so": 0, "not_in_the_queue": 0, "in_dispute": 0}
    for one in given:
        if one.path not in by_path:
            counts["not_in_the_queue"] += 1
            continue
        item, *others = by_path[one.path]
        if others:
            raise InputError(
                one.where, f"field path: {1 + len(others)} files have it; expected an absolute path"
            )
        own = {seconds.get(item.file_id), item.verdict if item.reviewer == reviewer else None}
        if item.file_id not in blind and one.verdict in own:
            counts["already_decided_so"] += 1
        elif item.file_id in disputed:
            counts["in_dispute"] += 1
        else:
            to_decide.append((item.file_id, one.verdict))
    return to_decide, counts


def _parse(where: str, line: str) -> FileVerdict:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise InputError(where, "expected a JSON object")
    path = value.get("path")
    if not isinstance(path, str) or not path:
        raise InputError(where, "field path: expected the path of a file")
    field, known = ("verdict", _VERDICTS) if value.get("verdict") is not None else ("label", LABELS)
    given = value.get(field)
    if not isinstance(given, str) or given not in known:
        raise InputError(where, f"field {field}: expected one of {', '.join(known)}")
    return FileVerdict(where, path, known[given])


DETECTORS = ("patterns", "names", "text")
_FIELDS = (
    *("path", "outcome", "reason", "decision", "pii", "hamming", "health", "people", "people_interval"),
    *("findings", "detectors", "detector_probability", "probability", "second_look"),
    *("language", "covered", "by_name", "labels", "verdict", "reviewer"),
)


def row_json(row: FileRecord) -> dict[str, Any]:
    """Return the contract's object for one file; fields of screened files are null for others."""
    verdicts, alone = dict(row.detectors), dict(row.detector_probabilities)
    return {
        **record_json(row, _FIELDS),
        "detectors": {name: verdicts.get(name) for name in DETECTORS},
        "detector_probability": {name: alone.get(name) for name in DETECTORS},
        "second_look": None if row.referral is None else row.second_look,
        **({} if row.outcome in {Outcome.SCREENED, Outcome.UNCHANGED} else {"covered": None}),
    }


def _print_csv(rows: Iterable[FileRecord]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    columns = [name for field in _FIELDS for name in (DETECTORS if field == "detectors" else (field,))]
    columns = [name for name in columns if name not in {"people_interval", "detector_probability"}]
    writer.writerow(columns)
    for row in rows:
        values = row_json(row)
        values |= values["detectors"] | {
            "labels": "; ".join(one["name"] or one["id"] for one in values["labels"])
        }
        writer.writerow([cell(values[name]) for name in columns])


def print_events(rows: Iterable[FileRecord], form: str) -> None:
    """Print the events (``ocsf`` or ``cef``) of files that were referred."""
    now = datetime.now(UTC)
    for row in rows:
        click.echo(EVENTS[form](row, now))


MAX_SCAN = 2**63 - 1  # range of the database's column
VERDICT_NAMES = [verdict.value for verdict in Verdict]
_WANTED: dict[str, Collection[Verdict | None] | None] = {
    "any": None,
    "undecided": (None,),
    **{verdict.value: (verdict,) for verdict in Verdict},
}
_scan_option = click.option(
    "--scan",
    "scan_id",
    type=click.IntRange(1, MAX_SCAN),
    help="Only what this scan saw; default: all present.",
)


def open_store(config_path: str | None) -> Store:
    """Open the configured review store; it must exist."""
    config = config_of(config_path)
    return Store.open(config.database_url, audit_key=config.audit_key_file, hash_key=config.key_file)


queue = group_of("queue")


@queue.command("list", epilog="Example: phiscan queue list --verdict undecided --limit 50")
@click.option(
    "--verdict",
    type=click.Choice(sorted(_WANTED)),
    default="any",
    show_default=True,
    help="Only files with this verdict.",
)
@click.option(
    "--limit", type=click.IntRange(min=0), default=20, show_default=True, help="At most so many; 0 = all."
)
@click.option("--offset", type=click.IntRange(min=0), default=0, help="Pass over the first so many.")
@click.option(
    "--second-look",
    is_flag=True,
    help="The second list: not referred, but marked by a detector, or not read to the end.",
)
@click.option(
    "--order",
    type=click.Choice(["risk", "probability"]),
    default="risk",
    show_default=True,
    help="What comes first: the greatest risk, or the most probable PHI.",
)
@click.option("--folder", default="", help="Only below this folder of a root.")
@click.option("--format", "media_type", default="", help="Only files of this type, as text/plain.")
@click.option(
    "--type",
    "entity_type",
    type=click.Choice(EntityType),
    help="Only files in which this type of identifier was found.",
)
@click.option("--owner", default="", help="Only files of this owner, by name or number.")
@click.option("--assignee", help='Only files that this person shall decide; "" = nobody.')
@click.option("--text", default="", help="Only files with this text anywhere in the path.")
@click.option("--label", default="", help="Only files with the sensitivity label of this name or id.")
@_scan_option
@answers
def list_items(
    obj: str | None,
    /,
    verdict: str,
    limit: int,
    offset: int,
    second_look: bool,
    order: str,
    scan_id: int | None,
    **filters: Any,
) -> Answer:
    """List the referred files, highest risk first.

    Risk is the number of people at risk times the kinds of identifiers times who may read the file times the
    health score. No value is shown, only types, counts and scores.
    """
    with open_store(obj) as store:
        narrowed = WorkFilter(**{name: value for name, value in filters.items() if value is not None})
        wanted = None if narrowed == WorkFilter() else narrowed
        verdicts = _WANTED[verdict]
        items = store.queue(
            scan_id,
            verdicts=verdicts,
            limit=limit or None,
            offset=offset,
            wanted=wanted,
            conceal=True,
            second_look=second_look,
            by_probability=order == "probability",
        )
        n_all = store.queue_size(
            scan_id, verdicts=verdicts, wanted=wanted, conceal=True, second_look=second_look
        )
        n_open = store.queue_size(scan_id, verdicts=[None], conceal=True, second_look=second_look)
        is_scanned = bool(items) or bool(store.scans())
    shown = [record_json(item, ITEM_FIELDS) for item in items]
    lines = item_lines(items, n_all=n_all, n_open=n_open, offset=offset, is_scanned=is_scanned)
    return {"n": n_all, "undecided": n_open, "offset": offset, "items": shown}, lines


def read_again(record: FileRecord, store: Store, config: Config) -> FileRecord:
    """Return a record with what every recognizer finds in the file now.

    Raises:
        ConflictError, InputError: the file has changed or cannot be read now.
    """
    from phiscan.pipeline.rereading.reveal import Rereader  # noqa: PLC0415 (the same)
    from phiscan.pipeline.versions import learned_version  # noqa: PLC0415 (imports the recognizers)

    with Rereader(config.with_learned(learned_version(config, store))) as rereader:
        found = rereader.result(store.desk.examined(record.file_id))
    names = (item.name for item in fields(FileResult) if item.name not in {"source", "patients"})
    return replace(record, **{name: getattr(found, name) for name in names})


@queue.command(epilog='Example: phiscan queue show "letters/2026/referral 17.docx"')
@click.argument("file")
@click.option(
    "--limit",
    type=click.IntRange(min=0),
    default=30,
    show_default=True,
    help="At most so many findings; 0 = all.",
)
@unblind_option
@click.option("--again", is_flag=True, help="Read a file that was not referred again, and search all of it.")
@answers
def show(obj: str | None, file: str, limit: int, unblind: str | None, again: bool) -> Answer:
    """Explain why FILE (a path or its number in the list) was referred, or why not.

    Shows the identifiers and health terms with their locations, the result of equation 4, and the
    nearest stored example. Values are masked: letters as X and x, digits as 9.

    A file that awaits a blind verdict is shown as at the desk: one of the random sample without its
    findings, one that awaits a second verdict without the first.
    """
    config = config_of(obj)
    with open_store(obj) as store:
        number = store.find(file)
        if unblind is not None:
            store.users.log_unblinding(what=f"file {number}", by=unblind, now=datetime.now(UTC))
        detail = store.item(number, conceal=unblind is None)
        if again and not detail.blind and detail.referral not in {None, Referral.REFERRED}:
            detail = read_again(detail, store, config)
    return detail_json(detail), explain(detail, limit=limit, missed_file_cost=config.missed_file_cost)


@queue.command(epilog='Example: phiscan queue decide 17 21 --verdict phi --reviewer "A. Officer"')
@click.argument("files", nargs=-1)
@click.option("--verdict", type=click.Choice(VERDICT_NAMES), help="The verdict on FILES.")
@click.option(
    "--from", "verdict_file", type=click.Path(), help="JSON lines, each a path and a verdict; - = stdin."
)
@click.option(
    "--opened",
    is_flag=True,
    help="You have opened the blind files of the random sample yourself; recorded like a reveal.",
)
@click.option(
    "--by-name",
    is_flag=True,
    help="You judge the blind files by their names, unopened: these verdicts count in no bound.",
)
@click.option("--reviewer", required=True, help="Reviewer; recorded in the audit log.")
@click.option("--reason", default="", help="Why, in a few words. Write no patient's data here.")
@click.option("--note", default="", help="Free text. Write no patient's data here.")
@_scan_option
@answers
def decide(
    obj: str | None,
    /,
    files: tuple[str, ...],
    verdict: str | None,
    verdict_file: str | None,
    reviewer: str,
    scan_id: int | None,
    **how: Any,
) -> Answer:
    """Record verdicts on FILES (paths or numbers), or on many files from a file of verdicts.

    A decision is appended, never changed; a later one replaces it. It applies to the content that was
    examined: when the file changes, it is undecided again. A file that awaits a blind second verdict gets it,
    unless the reviewer gave the first; disagreements of two reviewers are settled by a lead at the desk.

    With --from, each line is {"path": ..., "verdict": "phi|not_phi|unsure"} or {"path": ..., "label":
    "phi|pii_only|health_only|neither"}. Of these, only files in the
    queue are decided; the others are counted.

    A blind file of the random sample (`phiscan queue draw`) needs --opened or --by-name, or a reveal at the
    desk by the same reviewer.
    """
    if how["opened"] and how["by_name"]:
        message = "--opened, --by-name: expected at most one of them"
        raise InputError(message)
    if bool(files) == bool(verdict_file) or bool(files) != bool(verdict):
        message = "expected either FILE... with --verdict, or --from FILE"
        raise InputError(message)
    now = datetime.now(UTC)
    counts: Mapping[str, int] = {}
    wanted: list[tuple[int, Verdict]] = []
    with open_store(obj) as store:
        if verdict_file:
            wanted, counts = sort_out(read_verdicts(verdict_file), store, scan_id, reviewer)
        elif verdict:
            numbers = dict.fromkeys(store.find(file) for file in files)
            wanted = [(number, Verdict(verdict)) for number in numbers]
        made = store.desk.decide_all(wanted, reviewer=reviewer, now=now, **how)
        if verdict:
            _warn_of_unlisted(store, [number for number, _ in wanted])
        n_open = store.queue_size(scan_id, verdicts=[None], conceal=True)
    left_alone = [f"{n:,} {what.replace('_', ' ')}: left alone" for what, n in counts.items() if n]
    line = f"{made:,} decided by {reviewer}; {n_open:,} in the queue still undecided"
    return {"decided": made, **counts, "undecided": n_open}, [line, *left_alone]


def _warn_of_unlisted(store: Store, numbers: list[int]) -> None:
    for number in numbers:
        item = store.item(number, conceal=True)
        if item.referral not in {None, Referral.REFERRED}:
            print_message(f"{visible(item.path)}: decided, although it is not in the queue ({item.referral})")


@queue.command(epilog='Example: phiscan queue assign 17 21 --to "B. Officer" --by "A. Officer"')
@click.argument("files", nargs=-1, required=True)
@click.option("--to", "assignee", required=True, help='Who shall decide; "" = nobody any more.')
@click.option("--by", required=True, help="User who assigns; recorded in the audit log.")
@answers
def assign(obj: str | None, files: tuple[str, ...], assignee: str, by: str) -> Answer:
    """Assign FILES (paths or numbers) to a reviewer."""
    with open_store(obj) as store:
        numbers = list(dict.fromkeys(store.find(file) for file in files))
        store.assign_all(numbers, assignee, by=by, now=datetime.now(UTC))
    line = f"{len(numbers):,} assigned to {assignee or 'nobody'}"
    return {"assigned": len(numbers), "to": assignee}, [line]


@queue.command(epilog="Example: phiscan queue export --json --all > files.jsonl")
@click.option("--all", "everything", is_flag=True, help="Every crawled file, not only the queue.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(sorted(("csv", "json", *EVENTS))),
    default="json",
    show_default=True,
    help="One JSON object per line, CSV, or events for a SIEM (OCSF, CEF).",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@_scan_option
@unblind_option
@click.pass_obj
def export(
    obj: str | None,
    everything: bool,
    output_format: str,
    as_json: bool,
    scan_id: int | None,
    unblind: str | None,
) -> None:
    """Write one line per queued file, or with --all per crawled file, by root and path.

    Paths are relative to their root. A number that does not exist is null, with the reason beside it. In CSV,
    a cell that a spreadsheet would run as a formula begins with an apostrophe. OCSF and CEF events
    are those of referred files, at the time of the export. What awaits a blind second verdict is undecided.
    """
    if everything and output_format in EVENTS and not as_json:
        message = f"--format {output_format}: expected without --all; only a referred file is an event"
        raise InputError(message)
    with open_store(obj) as store:
        conceal = unblind is None
        if unblind is not None:
            store.users.log_unblinding(what="queue", by=unblind, now=datetime.now(UTC))
        rows = (
            store.present_rows(conceal=conceal) if scan_id is None else store.rows(scan_id, conceal=conceal)
        )
        wanted = (row for row in rows if everything or row.referral is Referral.REFERRED)
        if as_json or output_format == "json":
            for row in wanted:
                print_json(row_json(row))
        elif output_format == "csv":
            _print_csv(wanted)
        else:
            print_events(wanted, output_format)


@queue.command(epilog='Example: phiscan queue undo 17 --reviewer "A. Officer"')
@click.argument("files", nargs=-1, required=True)
@click.option("--reviewer", required=True, help="Whose verdict is undone, and who undoes it.")
@answers
def undo(obj: str | None, files: tuple[str, ...], reviewer: str) -> Answer:
    """Undo your last verdict on FILES (paths or numbers); the verdict before it applies again.

    Nothing is removed: the undo is added to the record and the log.
    """
    now = datetime.now(UTC)
    with open_store(obj) as store:
        numbers = list(dict.fromkeys(store.find(file) for file in files))
        for number in numbers:
            store.desk.undo(number, by=reviewer.strip(), now=now)
    return {"undone": len(numbers)}, [f"{len(numbers):,} undone by {visible(reviewer)}"]


@queue.command(epilog="Example: phiscan queue gold > gold.jsonl; phiscan queue gold --system > system.jsonl")
@click.option("--system", "of_system", is_flag=True, help="What phiscan had found in the same files instead.")
@click.option("--topics", is_flag=True, help="Topics instead of spans: a CSV for `phiscan score hierarchy`.")
@click.pass_obj
def gold(obj: str | None, of_system: bool, topics: bool) -> None:
    """Write the corrections of reviewers for `phiscan score`: positions and types only, never text.

    Spans: one JSON line per file whose spans were all checked; the id is the number of the file. Only
    the instance scores can be computed from it, because tokens need the text.
    """
    with open_store(obj) as store:
        if topics:
            writer = csv.writer(sys.stdout, lineterminator="\n")
            writer.writerow(("document", "label"))
            for about in store.desk.topic_gold():
                labels = about.concepts if of_system else about.labels
                writer.writerows((about.file_id, safe_cell(label)) for label in labels)
            return
        for one in store.desk.gold():
            spans = one.system if of_system else one.gold
            click.echo(json.dumps({"id": str(one.file_id), "spans": [list(span) for span in spans]}))


@queue.command(epilog='Example: phiscan queue draw --queued 100 --unreferred 240 --by "A. Lead"')
@click.option("--queued", type=click.IntRange(min=0), required=True, help="So many of the undecided files.")
@click.option(
    "--unreferred", type=click.IntRange(min=0), required=True, help="So many of those not referred."
)
@click.option("--by", required=True, help="User who draws the sample; recorded in the audit log.")
@answers
def draw(obj: str | None, queued: int, unreferred: int, by: str) -> Answer:
    """Draw files at random to be judged blind, mixed into the list of the desk.

    The desk does not show which of the blind items were referred. A draw replaces the previous one. Desk and
    report bound by it what is left and what was missed. Only `--json` shows its seed: keep it from reviewers.
    """
    with open_store(obj) as store:
        made = store.desk.draw_sample(n_queued=queued, n_unreferred=unreferred, by=by, now=datetime.now(UTC))
    return {**asdict(made), "drawn": made.drawn.isoformat()}, (
        f"{made.n_sampled_queued:,} of {made.n_queued:,} undecided files drawn,",
        f"{made.n_sampled_unreferred:,} of {made.n_unreferred:,} files that were not referred",
    )


@queue.command(epilog="Example: phiscan queue left --target-recall 0.95")
@click.option(
    "--target-recall",
    type=click.FloatRange(0, 1),
    default=0.95,
    show_default=True,
    help="Share of the PHI in the list that must be found before it is safe to stop.",
)
@click.option(
    "--target-rate",
    type=click.FloatRange(0, 1),
    default=0.01,
    show_default=True,
    help="Share of the undecided rest that may be PHI then.",
)
@answers
def left(obj: str | None, target_recall: float, target_rate: float) -> Answer:
    """Estimate the PHI left in the list and missed in the rest, and whether it is safe to stop.

    Both are of the files that are present now. A file that no random sample covers counts as PHI in the
    bound, and an open dispute, an unsure verdict or an unread file keeps the answer from being yes.
    """
    return safe_to_stop(obj, target_recall=target_recall, target_rate=target_rate)


def safe_to_stop(config_path: str | None, **targets: float) -> Answer:
    """Return the answer of ``phiscan queue left``."""
    from phiscan.metrics.remaining import remaining  # noqa: PLC0415 (imports scipy: a third of a second)

    with open_store(config_path) as store:
        rest = remaining(store.desk.left(), **targets)
    return asdict(rest), (
        f"{rest.undecided:,} undecided, {rest.found:,} found to be PHI. {rest.why}",
        *(
            bound.words + (f" No number is expected: {bound.reason}." if bound.reason else "")
            for bound in (rest.left_in_list, rest.missed_in_rest)
        ),
    )


@queue.command(epilog='Example: phiscan queue policy --second-review 0.1 --hide-limit 20 --by "A. Lead"')
@click.option(
    "--second-review", type=click.FloatRange(0, 1), help="Share of verdicts that go blind to another."
)
@click.option("--hide-limit", type=click.IntRange(min=0), help="Suppressions that hide more need a lead.")
@click.option("--by", default="", help="User who records this; recorded in the audit log.")
@answers
def policy(obj: str | None, second_review: float | None, hide_limit: int | None, by: str) -> Answer:
    """Show the review policy, or change it."""
    with open_store(obj) as store:
        policy = store.desk.policy()
        if second_review is not None or hide_limit is not None:
            if not by.strip():
                message = "expected --by with the name of the user"
                raise InputError(message)
            policy = store.desk.set_policy(
                second_review=policy.second_review if second_review is None else second_review,
                hide_limit=policy.hide_limit if hide_limit is None else hide_limit,
                by=by,
                now=datetime.now(UTC),
            )
    return {"second_review": policy.second_review, "hide_limit": policy.hide_limit}, (
        f"{policy.second_review:.0%} of the verdicts go blind to a second person",
        f"a suppression that hides more than {policy.hide_limit:,} items needs a lead's approval",
    )


@queue.command(epilog="Example: phiscan queue remind --every 7   (called once a day by a scheduler)")
@click.option("--every", default=7, type=click.IntRange(1, 365), help="Days between two to one owner.")
@click.pass_obj
def remind(obj: str | None, every: int) -> None:
    """Send one digest to each owner with open files and a known address: their number and a link alone."""
    from phiscan.web.routes import remedies  # noqa: PLC0415 (the server's packages take a second to load)

    with open_store(obj) as store:
        n_sent, n_failed = remedies.remind(
            store, config_of(obj), now=datetime.now(UTC), every=timedelta(days=every)
        )
    click.echo(f"{n_sent} sent, {n_failed} not sent")
    sys.exit(1 if n_failed else 0)
