"""``phiscan audit``: prove that the record of decisions is whole."""

from __future__ import annotations

import click

from phiscan.cli.output import print_json
from phiscan.cli.queue.command import open_store
from phiscan.errors import StoreError


@click.group()
def audit() -> None:
    """Check the log of every decision and assignment."""


@audit.command(epilog="Example: phiscan audit verify --head HASH, the hash noted when last verified")
@click.option("--head", default="", help="Hash printed by an earlier run; it must still be in the log.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def verify(ctx: click.Context, head: str, as_json: bool) -> None:
    """Verify the audit log: the chain of hashes, and every decision and assignment against it.

    Prints the hash of the last entry. Noted where the database's owner cannot change it, it proves later that
    no entry before it was changed or cut off. Exit status: 0 whole, 2 not.
    """
    with open_store(ctx.obj) as store:
        check = store.verify_audit(head=head.strip().lower())
        name = store.name
    if as_json:
        print_json(
            {
                "ok": check.ok,
                "entries": check.n_rows,
                "first_bad": check.first_bad,
                "problem": check.problem or None,
                "head": check.head,
            }
        )
        ctx.exit(0 if check.ok else 2)
    if not check.ok:
        message = f"{name}: audit log is not whole: entry {check.first_bad}: {check.problem}"
        raise StoreError(message)
    entries = "entry" if check.n_rows == 1 else "entries"
    click.echo(f"{check.n_rows:,} {entries}, all in order")
    click.echo(f"head {check.head}")
