"""``phiscan queue``: the review queue without a browser."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import print_json, print_message
from phiscan.cli.queue.desk import DESK_COMMANDS
from phiscan.cli.queue.explain import detail_json, explain
from phiscan.cli.queue.export import EVENTS, FORMATS
from phiscan.cli.queue.filters import filter_options, read_filter
from phiscan.cli.queue.probability import probability, probability_line
from phiscan.cli.queue.table import item_json, print_items
from phiscan.cli.queue.verdicts import read_verdicts, sort_out
from phiscan.cli.unblind import unblind_option
from phiscan.config import load_config
from phiscan.errors import InputError
from phiscan.model import Referral, Verdict
from phiscan.review.store import Store
from phiscan.visible import visible

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
    config = load_config(Path(config_path) if config_path else None)
    return Store.open(config.database_url, audit_key=config.audit_key_file)


@click.group()
def queue() -> None:
    """Review what was referred: list it, see why, decide, assign, export."""


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
@filter_options
@_scan_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def list_items(
    obj: str | None,
    /,
    verdict: str,
    limit: int,
    offset: int,
    second_look: bool,
    order: str,
    scan_id: int | None,
    as_json: bool,
    **filters: Any,
) -> None:
    """List the referred files, highest risk first.

    Risk is the number of people at risk times the kinds of identifiers times who may read the file times the
    health score. No value is shown, only types, counts and scores.
    """
    with open_store(obj) as store:
        wanted = read_filter(filters)
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
    if as_json:
        shown = [item_json(item) for item in items]
        print_json({"n": n_all, "undecided": n_open, "offset": offset, "items": shown})
        return
    print_items(items, n_all=n_all, n_open=n_open, offset=offset, is_scanned=is_scanned)


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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with every finding.")
@click.pass_obj
def show(obj: str | None, file: str, limit: int, unblind: str | None, as_json: bool) -> None:
    """Explain why FILE (a path or its number in the list) was referred.

    Shows the identifiers and health terms with their locations, the result of equation 4, and the
    nearest stored example. Values are masked: letters as X and x, digits as 9.

    A file that awaits a blind verdict is shown as at the desk: one of the random sample without its
    findings, one that awaits a second verdict without the first.
    """
    with open_store(obj) as store:
        number = store.find(file)
        if unblind is not None:
            store.users.log_unblinding(what=f"file {number}", by=unblind, now=datetime.now(UTC))
        detail = store.item(number, conceal=unblind is None)
        p_phi = probability(detail)
    if as_json:
        print_json({**detail_json(detail), "probability": p_phi})
        return
    cost = load_config(Path(obj) if obj else None).missed_file_cost
    for line in explain(detail, limit=limit, probability=probability_line(p_phi, cost)):
        click.echo(line)


@queue.command(epilog='Example: phiscan queue decide 17 21 --verdict phi --reviewer "A. Officer"')
@click.argument("files", nargs=-1)
@click.option("--verdict", type=click.Choice(VERDICT_NAMES), help="The verdict on FILES.")
@click.option(
    "--from", "verdict_file", type=click.Path(), help="JSON lines, each a path and a verdict; - = stdin."
)
@click.option(
    "--sample",
    "n_sampled",
    type=click.IntRange(min=0),
    default=0,
    help="With --from: also the first so many files of the random sample of those not referred.",
)
@click.option("--reviewer", required=True, help="Reviewer; recorded in the audit log.")
@click.option("--reason", default="", help="Why, in a few words. Write no patient's data here.")
@click.option("--note", default="", help="Free text. Write no patient's data here.")
@_scan_option
@click.option("--json", "as_json", is_flag=True, help="Print the counts as one JSON object.")
@click.pass_obj
def decide(
    obj: str | None,
    files: tuple[str, ...],
    verdict: str | None,
    verdict_file: str | None,
    n_sampled: int,
    reviewer: str,
    reason: str,
    note: str,
    scan_id: int | None,
    as_json: bool,
) -> None:
    """Record verdicts on FILES (paths or numbers), or on many files from a file of verdicts.

    A decision is appended, never changed; a later one replaces it. It applies to the content that was
    examined: when the file changes, it is undecided again. A file that awaits a blind second verdict gets it,
    unless the reviewer gave the first; disagreements of two reviewers are settled by a lead at the desk.

    With --from, each line is {"path": ..., "verdict": "phi|not_phi|unsure"} or {"path": ..., "label":
    "phi|pii_only|health_only|neither"}. Of these, only files in the
    queue are decided; the others are counted.
    With --sample N the first N files of the report's elusion-sample.csv are decided too: their review
    bounds the missed PHI.
    """
    if bool(files) == bool(verdict_file) or bool(files) != bool(verdict):
        message = "expected either FILE... with --verdict, or --from FILE"
        raise InputError(message)
    now = datetime.now(UTC)
    made = 0
    counts: Mapping[str, int] = {}
    with open_store(obj) as store:
        if verdict_file:
            sorted_out = sort_out(read_verdicts(verdict_file), store, scan_id, reviewer, n_sampled=n_sampled)
            made = store.desk.decide_all(
                sorted_out.to_decide, reviewer=reviewer, reason=reason, note=note, now=now
            )
            counts = sorted_out.counts
        elif verdict:
            numbers = dict.fromkeys(store.find(file) for file in files)
            wanted = [(number, Verdict(verdict)) for number in numbers]
            made = store.desk.decide_all(wanted, reviewer=reviewer, reason=reason, note=note, now=now)
            for number in numbers:
                item = store.item(number, conceal=True).item
                if item.referral not in {None, Referral.REFERRED}:
                    print_message(
                        f"{visible(item.path)}: decided, although it is not in the queue ({item.referral})"
                    )
        n_open = store.queue_size(scan_id, verdicts=[None], conceal=True)
    if as_json:
        print_json({"decided": made, **counts, "undecided": n_open})
        return
    click.echo(f"{made:,} decided by {reviewer}; {n_open:,} in the queue still undecided")
    for what, n_files in counts.items():
        if n_files:
            click.echo(f"{n_files:,} {what.replace('_', ' ')}: left alone")


@queue.command(epilog='Example: phiscan queue assign 17 21 --to "B. Officer" --by "A. Officer"')
@click.argument("files", nargs=-1, required=True)
@click.option("--to", "assignee", required=True, help='Who shall decide; "" = nobody any more.')
@click.option("--by", required=True, help="User who assigns; recorded in the audit log.")
@click.option("--json", "as_json", is_flag=True, help="Print the count as one JSON object.")
@click.pass_obj
def assign(obj: str | None, files: tuple[str, ...], assignee: str, by: str, as_json: bool) -> None:
    """Assign FILES (paths or numbers) to a reviewer."""
    with open_store(obj) as store:
        numbers = list(dict.fromkeys(store.find(file) for file in files))
        store.assign_all(numbers, assignee, by=by, now=datetime.now(UTC))
    if as_json:
        print_json({"assigned": len(numbers), "to": assignee})
    else:
        click.echo(f"{len(numbers):,} assigned to {assignee or 'nobody'}")


@queue.command(epilog="Example: phiscan queue export --json --all > files.jsonl")
@click.option("--all", "everything", is_flag=True, help="Every crawled file, not only the queue.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(sorted(FORMATS)),
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
        FORMATS["json" if as_json else output_format](wanted)


for _command in DESK_COMMANDS:
    queue.add_command(_command)
