"""``phiscan db``: schema, copies, purges and key of the review database."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import print_json, print_message
from phiscan.cli.scan.lock import keep_scans_out
from phiscan.config import Config, load_config
from phiscan.errors import InputError
from phiscan.review import retention
from phiscan.review.maintenance import backup as backups
from phiscan.review.maintenance import condition, key_rotation
from phiscan.review.retention import Certificate, policy_of
from phiscan.review.worklist import queue
from phiscan.review.worklist.rows import rebuild
from phiscan.store import postgresql
from phiscan.store.database import (
    Database,
    bring_up_to_date,
    connect,
    open_database,
    pending_revisions,
    schema_of,
)
from phiscan.store.tables import SCHEMA_VERSION
from phiscan.visible import visible

_by = click.option("--by", default=getpass.getuser, show_default="you", help="Who is recorded as doing it.")
_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@click.command(epilog="Example: phiscan db purge --dry-run")
@click.option("--dry-run", is_flag=True, help="Print what would be purged; change nothing.")
@click.option("--yes", is_flag=True, help="Purge; without it and without --dry-run nothing is done.")
@_by
@_json
@click.pass_obj
def purge(obj: str | None, dry_run: bool, yes: bool, by: str, as_json: bool) -> None:
    """Remove the rows whose retention time in [retention] of phiscan.toml is over, and certify it.

    Current results of files that are still on the share are never removed, nor anything under a legal hold.
    Removed rows cannot be restored except from a backup. While a scan runs nothing is purged (exit status
    2), and a scan that is started meanwhile waits.
    """
    if dry_run == yes:
        message = "expected either --dry-run or --yes"
        raise InputError(message)
    config = _config(obj)
    policy = policy_of(config)
    with keep_scans_out(config.home, config.database_url), _database(config) as database:
        made = retention.run(database, policy, by=by, now=datetime.now(UTC), dry_run=dry_run)
    if as_json:
        print_json({"dry_run": dry_run, **made.to_json()})
        return
    for line in _lines(made, dry_run=dry_run):
        click.echo(line)


@click.command(epilog="Example: phiscan db certificate 3 --json > certificate-3.json")
@click.argument("number", type=click.IntRange(min=1), required=False)
@_json
@click.pass_obj
def certificate(obj: str | None, number: int | None, as_json: bool) -> None:
    """Show the certificate of the purge NUMBER, or all; with --json a line for each."""
    with _database(_config(obj)) as database, database.read() as connection:
        found = [made for made in retention.certificates(connection) if number in {None, made.id}]
    if number is not None and not found:
        message = f"certificate {number}: there is no such purge"
        raise InputError(message)
    for made in found:
        if as_json:
            print_json(made.to_json())
        else:
            for line in _lines(made, dry_run=False):
                click.echo(line)


@click.command(epilog='Example: phiscan db hold --root /srv/share --reason "case 2026-17"')
@click.option("--file", "files", multiple=True, help="A file (path or number); may be given several times.")
@click.option("--root", "roots", multiple=True, help="A whole root; may be given several times.")
@click.option("--reason", default="", help="Why, such as the number of the case.")
@click.option("--lift", is_flag=True, help="Lift the holds instead.")
@_by
@_json
@click.pass_obj
def hold(
    obj: str | None,
    files: tuple[str, ...],
    roots: tuple[str, ...],
    reason: str,
    lift: bool,
    by: str,
    as_json: bool,
) -> None:
    """Place a legal hold on files or roots, or lift it; without either, list the active holds.

    Nothing about a held file is purged, and while any hold is active nothing of the audit log is.
    """
    if (lift or reason) and not (files or roots):
        message = "--lift and --reason: expected --file or --root with them"
        raise InputError(message)
    with _database(_config(obj)) as database:
        if files or roots:
            with database.read() as connection:
                numbers = [queue.find(connection, path) for path in files]
            database.write(
                lambda connection: retention.set_holds(
                    connection,
                    state="lifted" if lift else "placed",
                    files=numbers,
                    roots=roots,
                    reason=reason,
                    by=by,
                    now=datetime.now(UTC),
                ),
                durable=True,
            )
        with database.read() as connection:
            standing = retention.holds(connection)
    if as_json:
        listed = [
            {
                "hold": held.id,
                "root": held.root,
                "path": held.path or None,
                "reason": held.reason,
                "by": held.set_by,
                "at": held.set_at.isoformat(),
            }
            for held in standing
        ]
        print_json({"holds": listed})
        return
    for held in standing:
        place = f"{held.root}/{held.path}" if held.path else f"{held.root} (all of it)"
        click.echo(
            f"{held.set_at:%Y-%m-%d}  {visible(place)}: {visible(held.reason)} ({visible(held.set_by)})"
        )
    click.echo(f"{len(standing)} legal hold{'' if len(standing) == 1 else 's'}")


def _config(path: str | None) -> Config:
    return load_config(Path(path) if path else None)


@contextmanager
def _database(config: Config) -> Iterator[Database]:
    database = open_database(config.database_url, create=False, audit_key=config.audit_key_file)
    try:
        yield database
    finally:
        database.close()


def _lines(made: Certificate, *, dry_run: bool) -> Iterator[str]:
    n_holds, n_incidents = made.policy["holds"], made.policy["incidents"]
    kept = f"{n_holds} legal holds are in force, {n_incidents} incidents are not closed"
    if made.id is None or not made.counts:
        yield "nothing to purge" + (f"; {kept}" if n_holds or n_incidents else "")
        return
    done = "would be purged" if dry_run else f"purged on {made.purged:%Y-%m-%d} by {visible(made.purged_by)}"
    yield ("" if dry_run else f"certificate {made.id}: ") + f"{sum(made.counts.values()):,} rows {done}"
    for table, n_rows in made.counts.items():
        yield f"  {table:<22} {n_rows:>14,}"
    if made.oldest and made.newest:
        yield f"from {made.oldest:%Y-%m-%d} to {made.newest:%Y-%m-%d}; {kept}"
    yield f"sha256 {made.digest}"


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


@click.group()
def db() -> None:
    """Maintain the review database: migrate, back up, restore, move, purge, rotate its key."""


for _command in (purge, hold, certificate, rotate_key):
    db.add_command(_command)


def url_of(config_path: str | None) -> str:
    """Return the URL of the configured database."""
    return load_config(Path(config_path) if config_path else None).database_url


@db.command(epilog="Example: phiscan db migrate --plan")
@click.option("--plan", is_flag=True, help="Print what would be done; change nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def migrate(obj: str | None, plan: bool, as_json: bool) -> None:
    """Bring the database to the schema of this phiscan, in one transaction; an empty one gets its tables.

    Make a backup first: a database is not taken back to an older schema.
    """
    database = connect(url_of(obj), create=not plan)
    try:
        found = schema_of(database)
        steps = pending_revisions(database.name, found)
        if steps and not plan:
            bring_up_to_date(database, derive=rebuild)
        name = database.name
    finally:
        database.close()
    if as_json:
        listed = [{"revision": number, "summary": summary} for number, summary in steps]
        print_json(
            {"database": name, "from": found or None, "to": SCHEMA_VERSION, "plan": plan, "steps": listed}
        )
        return
    for number, summary in steps:
        click.echo(f"{number}  {summary}")
    done = "would be applied" if plan else "applied"
    click.echo(f"{name}: {len(steps)} {done}, schema {found if plan and found else SCHEMA_VERSION}")


@db.command(epilog="Example: phiscan db status --json")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def status(obj: str | None, as_json: bool) -> None:
    """Print type, size, schema and key of the database, and the length of its log."""
    found = condition.status(url_of(obj))
    if as_json:
        print_json(found)
        return
    tables = found.pop("tables")
    for name, value in found.items():
        click.echo(f"{name:<14} {_shown(value)}")
    for name, n_rows in tables.items():
        click.echo(f"  {name:<22} {n_rows:>14,}")


@db.command(epilog="Example: phiscan db grants phiscan_app | psql phiscan")
@click.argument("role")
def grants(role: str) -> None:
    """Print the SQL that grants a PostgreSQL ROLE the rights for scans and reviews, and no more.

    It may add to append-only tables but neither change nor remove their rows, cannot drop their triggers,
    and cannot purge. Run it as the owner of the database, again after each migration.
    """
    for statement in postgresql.grants(role):
        click.echo(statement)


@db.command(epilog="Example: phiscan db backup /backup/phiscan-$(date +%F).phiscan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON object.")
@click.pass_obj
def backup(obj: str | None, file: Path, as_json: bool) -> None:
    """Write one state of the database into the new FILE, while work continues.

    The file restores into SQLite and into PostgreSQL. It has mode 0600 and is never overwritten. The key of
    the hashes is not in it: keep a copy of that elsewhere.
    """
    made = backups.back_up(url_of(obj), file, now=datetime.now(UTC))
    _print_manifest("written", file, made, as_json=as_json)


@db.command(epilog="Example: phiscan db restore /backup/phiscan-2026-11-20.phiscan")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--json", "as_json", is_flag=True, help="Print the manifest as one JSON object.")
@click.pass_obj
def restore(obj: str | None, file: Path, as_json: bool) -> None:
    """Restore the backup FILE into the configured database, which must be empty; all or nothing.

    Every table is compared with the manifest and the audit log is verified before the commit. A backup
    of an older schema is migrated.
    """
    made = backups.restore(file, url_of(obj))
    _print_manifest("restored", file, made, as_json=as_json)


@db.command(epilog="Example: phiscan db verify /backup/phiscan-2026-11-20.phiscan --restore")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--restore",
    "try_restore",
    is_flag=True,
    help="Also restore FILE into a database that is removed at once.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def verify(ctx: click.Context, file: Path | None, try_restore: bool, as_json: bool) -> None:
    """Verify the backup FILE against its manifest; without FILE, the database itself.

    The database: its integrity, its foreign keys, the triggers of append-only tables, the key, and
    the audit log. Exit status: 0 intact, 2 not.
    """
    if file is not None:
        made = backups.try_out(file) if try_restore else backups.check(file)
        _print_manifest("whole", file, made, as_json=as_json)
        return
    config = load_config(Path(ctx.obj) if ctx.obj else None)
    checks = condition.verify(config.database_url, config.key_file)
    whole = not any(check.problem for check in checks)
    if as_json:
        listed = [{"check": check.name, "problem": check.problem or None} for check in checks]
        print_json({"ok": whole, "checks": listed})
    else:
        for check in checks:
            click.echo(f"{check.name:<24} {check.problem or 'whole'}")
    ctx.exit(0 if whole else 2)


@db.command(epilog="Example: phiscan db move postgresql://phiscan@db.hospital.example/phiscan")
@click.argument("url")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def move(obj: str | None, url: str, as_json: bool) -> None:
    """Copy the configured database into the empty one at URL, of the same kind or another.

    Writers to the old database wait until it is done. Every row is compared before the commit; after an
    interruption the new database is still empty. The old one is unchanged: set the new URL in phiscan.toml,
    then remove it. Give a password in ~/.pgpass or PGPASSWORD, or write @FILE instead of URL to read the URL
    from a file.
    """
    target = _url_in(Path(url[1:])) if url.startswith("@") else url

    def progress(table: str, n_rows: int) -> None:
        if n_rows:
            print_message(f"{table}: {n_rows:,}")

    sums = backups.move(url_of(obj), target, on_table=progress)
    if as_json:
        print_json({"tables": {name: entry.n_rows for name, entry in sorted(sums.items())}, "equal": True})
        return
    n_rows = sum(entry.n_rows for entry in sums.values())
    click.echo(f"{n_rows:,} rows copied and compared; set the new URL as `database`, then remove the old one")


def _url_in(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        message = f"{path}: the file with the URL cannot be read ({type(error).__name__})"
        raise InputError(message) from None


def _print_manifest(done: str, file: Path, made: backups.Manifest, *, as_json: bool) -> None:
    if as_json:
        print_json(made.to_json())
        return
    n_rows = sum(entry.n_rows for entry in made.tables.values())
    when = f"{datetime.fromisoformat(made.made).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    click.echo(f"{done}: {file}: {n_rows:,} rows of {when}, schema {made.schema}")
    click.echo(f"head {made.audit_head} ({made.audit_entries:,} entries)")


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
