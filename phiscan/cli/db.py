"""``phiscan db``: schema, copies, purges and key of the review database."""

from __future__ import annotations

import getpass
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli import group_of
from phiscan.cli.output import Answer, answers, config_of, print_json
from phiscan.cli.scan.lock import keep_scans_out
from phiscan.config import Config
from phiscan.errors import InputError
from phiscan.review import retention
from phiscan.review.maintenance import backup as backups
from phiscan.review.maintenance import key_rotation
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

db = group_of("db")
_by = click.option("--by", default=getpass.getuser, show_default="you", help="Who is recorded as doing it.")


@db.command(epilog="Example: phiscan db purge --dry-run")
@click.option("--dry-run", is_flag=True, help="Print what would be purged; change nothing.")
@click.option("--yes", is_flag=True, help="Purge; without it and without --dry-run nothing is done.")
@_by
@answers
def purge(obj: str | None, dry_run: bool, yes: bool, by: str) -> Answer:
    """Remove the rows whose retention time in [retention] of phiscan.toml is over, and certify it.

    Current results of files that are still on the share are never removed, nor anything under a legal hold.
    Removed rows cannot be restored except from a backup. While a scan runs nothing is purged (exit status
    2), and a scan that is started meanwhile waits.
    """
    if dry_run == yes:
        message = "expected either --dry-run or --yes"
        raise InputError(message)
    config = config_of(obj)
    policy = policy_of(config)
    with keep_scans_out(config.home, config.database_url), _database(config) as database:
        made = retention.run(database, policy, by=by, now=datetime.now(UTC), dry_run=dry_run)
    return {"dry_run": dry_run, **made.to_json()}, _lines(made, dry_run=dry_run)


@db.command(epilog="Example: phiscan db certificate 3 --json > certificate-3.json")
@click.argument("number", type=click.IntRange(min=1), required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_obj
def certificate(obj: str | None, number: int | None, as_json: bool) -> None:
    """Show the certificate of the purge NUMBER, or all; with --json a line for each."""
    with _database(config_of(obj)) as database, database.read() as connection:
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


@db.command(epilog='Example: phiscan db hold --root /srv/share --reason "case 2026-17"')
@click.option("--file", "files", multiple=True, help="A file (path or number); may be given several times.")
@click.option("--root", "roots", multiple=True, help="A whole root; may be given several times.")
@click.option("--reason", default="", help="Why, such as the number of the case.")
@click.option("--lift", is_flag=True, help="Lift the holds instead.")
@_by
@answers
def hold(
    obj: str | None, files: tuple[str, ...], roots: tuple[str, ...], reason: str, lift: bool, by: str
) -> Answer:
    """Place a legal hold on files or roots, or lift it; without either, list the active holds.

    Nothing about a held file is purged, and while any hold is active nothing of the audit log is.
    """
    if (lift or reason) and not (files or roots):
        message = "--lift and --reason: expected --file or --root with them"
        raise InputError(message)
    with _database(config_of(obj)) as database:
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
    listed, lines = [], []
    for held in standing:
        shown = {"hold": held.id, "root": held.root, "path": held.path or None, "reason": held.reason}
        listed.append({**shown, "by": held.set_by, "at": held.set_at.isoformat()})
        place = visible(f"{held.root}/{held.path}" if held.path else f"{held.root} (all of it)")
        lines.append(f"{held.set_at:%Y-%m-%d}  {place}: {visible(held.reason)} ({visible(held.set_by)})")
    lines.append(f"{len(standing)} legal hold{'' if len(standing) == 1 else 's'}")
    return {"holds": listed}, lines


def _database(config: Config) -> closing[Database]:
    return closing(open_database(config.database_url, create=False, audit_key=config.audit_key_file))


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


@db.command("rotate-key", epilog="Example: phiscan db rotate-key --seal /safe/phiscan-key-2026")
@click.option("--seal", type=click.Path(path_type=Path), help="Archive the old key in this new file.")
@click.option("--destroy", is_flag=True, help="Do not archive the old key.")
@_by
@answers
def rotate_key(obj: str | None, seal: Path | None, destroy: bool, by: str) -> Answer:
    """Make a new key for the hashes of identifiers; the next scan reads every file again.

    Hashes cannot be converted: they are made of values that phiscan does not store. Until a file is read
    again its hashes are of the old key and are not linked with new ones. Stop all scans first. An
    interrupted rotation is completed by the same command.
    """
    if (seal is None) != destroy:
        message = "expected either --seal FILE or --destroy, for the old key"
        raise InputError(message)
    config = config_of(obj)
    with keep_scans_out(config.home, config.database_url):
        done = key_rotation.rotate(
            config.database_url, config.key_file, seal=seal, by=by, now=datetime.now(UTC)
        )
    line = f"key {done.old} {done.former}; key {done.new} is in use; the next scan reads every file again"
    if done.finished:
        line = f"the rotation to key {done.new} that was interrupted is finished"
    return {"old": done.old, "new": done.new, "former": done.former, "finished": done.finished}, [line]


@db.command(epilog="Example: phiscan db migrate --plan")
@click.option("--plan", is_flag=True, help="Print what would be done; change nothing.")
@answers
def migrate(obj: str | None, plan: bool) -> Answer:
    """Bring the database to the schema of this phiscan, in one transaction; an empty one gets its tables.

    Make a backup first: a database is not taken back to an older schema.
    """
    with closing(connect(config_of(obj).database_url, create=not plan)) as database:
        found, name = schema_of(database), database.name
        steps = pending_revisions(name, found)
        if steps and not plan:
            bring_up_to_date(database, derive=rebuild)
    listed = [{"revision": number, "summary": summary} for number, summary in steps]
    answer = {"database": name, "from": found or None, "to": SCHEMA_VERSION, "plan": plan, "steps": listed}
    done = "would be applied" if plan else "applied"
    last = f"{name}: {len(steps)} {done}, schema {found if plan and found else SCHEMA_VERSION}"
    return answer, [*(f"{number}  {summary}" for number, summary in steps), last]


@db.command(epilog="Example: phiscan db status --json")
@answers
def status(obj: str | None) -> Answer:
    """Print type, size, schema and key of the database, and the length of its log."""
    found = backups.status(config_of(obj).database_url)
    lines = [f"{name:<14} {_shown(value)}" for name, value in found.items() if name != "tables"]
    return found, lines + [f"  {name:<22} {n_rows:>14,}" for name, n_rows in found["tables"].items()]


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
@answers
def backup(obj: str | None, file: Path) -> Answer:
    """Write one state of the database into the new FILE, while work continues.

    The file restores into SQLite and into PostgreSQL. It has mode 0600 and is never overwritten. The key of
    the hashes is not in it: keep a copy of that elsewhere.
    """
    made = backups.back_up(config_of(obj).database_url, file, now=datetime.now(UTC))
    return made.to_json(), _manifest_lines("written", file, made)


@db.command(epilog="Example: phiscan db restore /backup/phiscan-2026-11-20.phiscan")
@click.argument("file", type=click.Path(path_type=Path))
@answers
def restore(obj: str | None, file: Path) -> Answer:
    """Restore the backup FILE into the configured database, which must be empty; all or nothing.

    Every table is compared with the manifest and the audit log is verified before the commit. A backup
    of an older schema is migrated.
    """
    made = backups.restore(file, config_of(obj).database_url)
    return made.to_json(), _manifest_lines("restored", file, made)


@db.command(epilog="Example: phiscan db verify /backup/phiscan-2026-11-20.phiscan --restore")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@click.option(
    "--restore",
    "try_restore",
    is_flag=True,
    help="Also restore FILE into a database that is removed at once.",
)
@answers
def verify(obj: str | None, file: Path | None, try_restore: bool) -> Answer:
    """Verify the backup FILE against its manifest; without FILE, the database itself.

    The database: its integrity, its foreign keys, the triggers of append-only tables, the key, and
    the audit log. Exit status: 0 intact, 2 not.
    """
    if file is not None:
        made = backups.try_out(file) if try_restore else backups.check(file)
        return made.to_json(), _manifest_lines("whole", file, made)
    config = config_of(obj)
    checks = backups.verify(config.database_url, config.key_file)
    whole = not any(check.problem for check in checks)
    listed = [{"check": check.name, "problem": check.problem or None} for check in checks]
    lines = [f"{check.name:<24} {check.problem or 'whole'}" for check in checks]
    return {"ok": whole, "checks": listed}, lines, 0 if whole else 2


def _manifest_lines(done: str, file: Path, made: backups.Manifest) -> Iterator[str]:
    n_rows = sum(entry.n_rows for entry in made.tables.values())
    when = f"{datetime.fromisoformat(made.made).astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    yield f"{done}: {file}: {n_rows:,} rows of {when}, schema {made.schema}"
    yield f"head {made.audit_head} ({made.audit_entries:,} entries)"


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
