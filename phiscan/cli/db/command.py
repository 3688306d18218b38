"""``phiscan db``: schema, copies, purges and key of the review database."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.db.key import rotate_key
from phiscan.cli.db.retention import certificate, hold, purge
from phiscan.cli.output import print_json, print_message
from phiscan.config import load_config
from phiscan.errors import InputError, StoreError
from phiscan.review.maintenance import backup as backups
from phiscan.review.maintenance import condition
from phiscan.review.maintenance import copying as moving
from phiscan.review.worklist.rows import rebuild
from phiscan.store import postgresql
from phiscan.store.database import bring_up_to_date, connect, schema_of
from phiscan.store.tables import SCHEMA_VERSION


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
    from phiscan.store.migrations import pending  # noqa: PLC0415 (Alembic takes 0.4 s to import)

    database = connect(url_of(obj), create=not plan)
    try:
        found = schema_of(database)
        if found > SCHEMA_VERSION:
            message = (
                f"{database.name}: schema {found} is newer than {SCHEMA_VERSION}, the newest of this phiscan;"
                " use the phiscan that wrote it, or a newer one"
            )
            raise StoreError(message)
        steps = pending(found)
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

    sums = moving.move(url_of(obj), target, on_table=progress)
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
