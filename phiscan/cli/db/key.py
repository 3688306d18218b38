"""``phiscan db rotate-key``: a new key for the hashes of identifiers."""

from __future__ import annotations

import getpass
from datetime import UTC, datetime
from pathlib import Path

import click

from phiscan.cli.output import print_json
from phiscan.cli.scan.lock import keep_scans_out
from phiscan.config import load_config
from phiscan.errors import InputError
from phiscan.review.maintenance import key_rotation


@click.command("rotate-key", epilog="Example: phiscan db rotate-key --seal /safe/phiscan-key-2026")
@click.option("--seal", type=click.Path(path_type=Path), help="Archive the old key in this new file.")
@click.option("--destroy", is_flag=True, help="Do not archive the old key.")
@click.option("--by", default=getpass.getuser, show_default="you", help="Who is recorded as doing it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def rotate_key(obj: str | None, seal: Path | None, destroy: bool, by: str, as_json: bool) -> None:
    """Make a new key for the hashes of identifiers; the next scan reads every file again.

    Hashes cannot be converted: they are made of values that phiscan does not store. Until a file is read
    again its hashes are of the old key and are not linked with new ones. Stop all scans first. An
    interrupted rotation is completed by the same command.
    """
    if (seal is None) != destroy:
        message = "expected either --seal FILE or --destroy, for the old key"
        raise InputError(message)
    config = load_config(Path(obj) if obj else None)
    with keep_scans_out(config.home, config.database_url):
        done = key_rotation.rotate(
            config.database_url, config.key_file, seal=seal, by=by, now=datetime.now(UTC)
        )
    if as_json:
        print_json({"old": done.old, "new": done.new, "former": done.former, "finished": done.finished})
        return
    if done.finished:
        click.echo(f"the rotation to key {done.new} that was interrupted is finished")
        return
    click.echo(
        f"key {done.old} {done.former}; key {done.new} is in use; the next scan reads every file again"
    )
