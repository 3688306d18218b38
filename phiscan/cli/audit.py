"""``phiscan audit``: verify the record of decisions."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click

from phiscan.cli import group_of
from phiscan.cli.output import Answer, answers, print_message
from phiscan.cli.queue.command import open_store
from phiscan.errors import StoreError
from phiscan.review.integrity import NOT_COVERED
from phiscan.store import seals

audit = group_of("audit")


@audit.command(epilog="Example: phiscan audit sign, after audit.key was lost with a disk")
@click.pass_context
def sign(ctx: click.Context) -> None:
    """Sign the current log with the key in home, after the previous signing key was lost.

    Entries that were removed before are not detected afterwards: first compare the log with a hash noted
    elsewhere (`phiscan audit verify --head HASH`). Second factors and recovery codes were encrypted with the
    lost key and must be set up again.
    """
    with open_store(ctx.obj) as store:
        store.database.write(seals.sign_all)
        check = store.verify_audit()
    click.echo(f"signed; head {check.head}")
    if not check.ok:
        print_message(f"phiscan: still different: {check.problem}; `phiscan audit verify` names everything")
        ctx.exit(2)


@audit.command(epilog="Example: phiscan audit verify --head HASH, the hash noted when last verified")
@click.option("--head", default="", help="Hash printed by an earlier run; it must still be in the log.")
@answers
def verify(obj: str | None, head: str) -> Answer:
    """Verify that nothing was changed outside of phiscan, and name what was.

    Checked are the chain of hashes and its signed end; every decision, account, token and session against its
    log entry; the results of every scan against their digests; rows that change often against their seals;
    the review list against its source tables; tables, indexes and triggers against the current schema. A row
    that cannot be read is a difference, and the rest is checked. Each difference is reported with its row and
    the time of its last successful check; `--json` lists what cannot be found (`not_covered`). Takes minutes
    on a database of millions of files.

    Prints the hash of the last entry. Noted where the database's owner cannot change it, it proves later that
    no earlier entry was changed or removed. Exit status: 0 intact, 2 not.
    """
    with open_store(obj) as store:
        check = store.verify_audit(head=head.strip().lower())
        name = store.database.name
    is_json = click.get_current_context().params["as_json"]
    if not check.ok and not is_json:
        for one in check.found[1:]:
            print_message(f"phiscan: {name}: {one}")
        where = f"audit log is not whole: entry {check.first_bad}: " if check.first_bad else "was changed: "
        raise StoreError(name, f"{where}{check.problem}")
    entries = "entry" if check.n_rows == 1 else "entries"
    answer: dict[str, Any] = {"ok": check.ok, "entries": check.n_rows, "first_bad": check.first_bad}
    differences = [
        {"table": one.table, "row": one.row, "row_of": one.by or one.table, "problem": one.what}
        | {"right_at": one.since or None}
        for one in check.found
    ]
    answer |= {"problem": check.problem or None, "head": check.head, "differences": differences}
    lines = [f"{check.n_rows:,} {entries}, all in order", f"head {check.head}"]
    return answer | {"not_covered": [asdict(one) for one in NOT_COVERED]}, lines, 0 if check.ok else 2
