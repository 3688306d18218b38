"""Commands of the desk without a browser: undo, gold standard, blind sample, estimates, policy."""

from __future__ import annotations

import csv
import json
import sys
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from phiscan.cli.output import print_json
from phiscan.config import load_config
from phiscan.errors import InputError
from phiscan.review.store import Store
from phiscan.visible import safe_cell, visible

_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")


def open_store(config_path: str | None) -> Store:
    """Open the configured review store; it must exist."""
    config = load_config(Path(config_path) if config_path else None)
    return Store.open(config.database_url, audit_key=config.audit_key_file, hash_key=config.key_file)


@click.command(epilog='Example: phiscan queue undo 17 --reviewer "A. Officer"')
@click.argument("files", nargs=-1, required=True)
@click.option("--reviewer", required=True, help="Whose verdict is undone, and who undoes it.")
@_json_option
@click.pass_obj
def undo(obj: str | None, files: tuple[str, ...], reviewer: str, as_json: bool) -> None:
    """Undo your last verdict on FILES (paths or numbers); the verdict before it applies again.

    Nothing is removed: the undo is added to the record and the log.
    """
    now = datetime.now(UTC)
    with open_store(obj) as store:
        numbers = list(dict.fromkeys(store.find(file) for file in files))
        for number in numbers:
            store.desk.undo(number, by=reviewer.strip(), now=now)
    if as_json:
        print_json({"undone": len(numbers)})
    else:
        click.echo(f"{len(numbers):,} undone by {visible(reviewer)}")


@click.command(epilog="Example: phiscan queue gold > gold.jsonl; phiscan queue gold --system > system.jsonl")
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


@click.command(epilog='Example: phiscan queue draw --queued 100 --unreferred 240 --by "A. Lead"')
@click.option("--queued", type=click.IntRange(min=0), required=True, help="So many of the undecided files.")
@click.option(
    "--unreferred", type=click.IntRange(min=0), required=True, help="So many of those not referred."
)
@click.option("--by", required=True, help="User who draws the sample; recorded in the audit log.")
@_json_option
@click.pass_obj
def draw(obj: str | None, queued: int, unreferred: int, by: str, as_json: bool) -> None:
    """Draw files at random to be judged blind, mixed into the list of the desk.

    The desk does not show which of the blind items were referred. A draw replaces the previous one. Desk and
    report bound by it what is left and what was missed. Only `--json` shows its seed: keep it from reviewers.
    """
    with open_store(obj) as store:
        made = store.desk.draw_sample(n_queued=queued, n_unreferred=unreferred, by=by, now=datetime.now(UTC))
    if as_json:
        print_json({**asdict(made), "drawn": made.drawn.isoformat()})
        return
    click.echo(f"{made.n_sampled_queued:,} of {made.n_queued:,} undecided files drawn,")
    click.echo(f"{made.n_sampled_unreferred:,} of {made.n_unreferred:,} files that were not referred")


@click.command(epilog="Example: phiscan queue left --target-recall 0.95")
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
@_json_option
@click.pass_obj
def left(obj: str | None, target_recall: float, target_rate: float, as_json: bool) -> None:
    """Estimate the PHI left in the list and missed in the rest, and whether it is safe to stop.

    Both are of the files that are present now. A file that no random sample covers counts as PHI in the
    bound, and an open dispute, an unsure verdict or an unread file keeps the answer from being yes.
    """
    from phiscan.metrics.remaining import remaining  # noqa: PLC0415 (imports scipy: a third of a second)

    with open_store(obj) as store:
        rest = remaining(store.desk.left(), target_recall=target_recall, target_rate=target_rate)
    if as_json:
        print_json(asdict(rest))
        return
    click.echo(f"{rest.undecided:,} undecided, {rest.found:,} found to be PHI. {rest.why}")
    for bound in (rest.left_in_list, rest.missed_in_rest):
        click.echo(bound.words + (f" No number is expected: {bound.reason}." if bound.reason else ""))


@click.command(epilog='Example: phiscan queue policy --second-review 0.1 --hide-limit 20 --by "A. Lead"')
@click.option(
    "--second-review", type=click.FloatRange(0, 1), help="Share of verdicts that go blind to another."
)
@click.option("--hide-limit", type=click.IntRange(min=0), help="Suppressions that hide more need a lead.")
@click.option("--by", default="", help="User who records this; recorded in the audit log.")
@_json_option
@click.pass_obj
def policy(
    obj: str | None, second_review: float | None, hide_limit: int | None, by: str, as_json: bool
) -> None:
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
    if as_json:
        print_json({"second_review": policy.second_review, "hide_limit": policy.hide_limit})
        return
    click.echo(f"{policy.second_review:.0%} of the verdicts go blind to a second person")
    click.echo(f"a suppression that hides more than {policy.hide_limit:,} items needs a lead's approval")


@click.command(epilog="Example: phiscan queue remind --every 7   (called once a day by a scheduler)")
@click.option("--every", default=7, type=click.IntRange(1, 365), help="Days between two to one owner.")
@click.pass_obj
def remind(obj: str | None, every: int) -> None:
    """Send one digest to each owner with open files and a known address: their number and a link alone."""
    from phiscan.web.routes import remedies  # noqa: PLC0415 (the server's packages take a second to load)

    config, now = load_config(Path(obj) if obj else None), datetime.now(UTC)
    with open_store(obj) as store:
        n_sent, n_failed = remedies.remind(store, config, now=now, every=timedelta(days=every))
    click.echo(f"{n_sent} sent, {n_failed} not sent")
    sys.exit(1 if n_failed else 0)


DESK_COMMANDS = (undo, gold, draw, left, policy, remind)
