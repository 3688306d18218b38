"""``phiscan access``: how many people can read the files that are PHI or may be."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from phiscan.cli.output import Answer, actor_of, answers, by_option, config_of
from phiscan.cli.queue.command import open_store
from phiscan.cli.queue.explain import readers_line
from phiscan.crawl.effective_access import bits_of
from phiscan.errors import InputError
from phiscan.pipeline.reader_counts import (
    FolderRights,
    count_readers,
    effective_access,
    kept_directory,
    may_be_phi,
    refresh_directory,
)
from phiscan.report.words import reader_words
from phiscan.review.records.reader_counts import widest_folders
from phiscan.review.store import FileRecord, Store
from phiscan.review.worklist.model import counted_json
from phiscan.visible import visible

_NO_DIRECTORY = (
    "no directory has been read: expected [directory] url in phiscan.toml, and `phiscan access update`"
)
_names_option = click.option("--names", is_flag=True, help="Also print names; recorded in the audit log.")


@click.group()
def access() -> None:
    """Count the people who can read what may be PHI: files, folders, accounts that have left."""


@access.command(epilog="Example: phiscan access update")
@answers
@click.pass_obj
def update(obj: str | None) -> Answer:
    """Read the directory anew, and count who can read each file of the review list.

    No name is stored: the directory is kept in home as keyed hashes, of files there are numbers only. After
    the first time each scan counts again, with the directory as it was last read.
    """
    config, now = config_of(obj), datetime.now(UTC)
    with open_store(obj) as store:
        directory = refresh_directory(config, now)
        n_files, n_known = count_readers(store, config, directory, now)
    states = directory.states if directory else ()
    active = sum(not state for state in states)
    found: dict[str, Any] = {
        "directory": config.directory.url or None,
        "accounts": active if directory else None,
        "cannot_sign_in": len(states) - active if directory else None,
        "groups": len(directory.groups) if directory else None,
        "files": n_files,
        "known": n_known,
    }
    if directory is None:
        return {**found, "reason": "no directory is configured"}, [
            "No directory is configured ([directory] url): only accounts of this machine are known.",
            _counted_line(n_files, n_known),
        ]
    of_states = f"{active:,} accounts that can sign in, {len(states) - active:,} that cannot"
    return found, [f"{of_states}; {len(directory.groups):,} groups", _counted_line(n_files, n_known)]


def _counted_line(n_files: int, n_known: int) -> str:
    return f"{n_files:,} files of the review list; of {n_known:,} it is known how many people can read them"


@access.command(epilog="Example: phiscan access folders --limit 10")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="0 = all.")
@answers
@click.pass_obj
def folders(obj: str | None, limit: int) -> Answer:
    """List the folders whose files most people can read: those that are PHI or may be.

    The number is of people who can read at least one of these files directly in the folder.
    """
    with open_store(obj) as store, store.database.read() as connection:
        found = widest_folders(connection, limit or None)
    listed = [
        {"root": one.root, "folder": one.folder, "files": one.n_files, "readers": counted_json(one.count)}
        for one in found
    ]
    lines = [
        f"{visible(one.root)}/{visible(one.folder)}  ({one.n_files:,} files): {reader_words(one.count)}"
        for one in found
    ]
    return {"folders": listed}, lines or ["Nothing is counted yet: `phiscan access update` does."]


@access.command(epilog='Example: phiscan access people "letters/2026/referral 17.docx"')
@click.argument("file")
@_names_option
@by_option
@answers
@click.pass_obj
def people(obj: str | None, file: str, names: bool, by: str) -> Answer:
    """Count who can read FILE (a path or its number in the list); with --names also who.

    Names are read from the directory at that moment and stored nowhere; the audit log has who asked and the
    number of the file.
    """
    with open_store(obj) as store:
        record = store.item(store.find(file), conceal=True)
        found: dict[str, Any] = {"file": record.file_id, "root": record.root, "path": record.path}
        found |= {"readers": counted_json(record.reader_count)}
        lines = [f"{visible(record.path)}   (no. {record.file_id})", f"  {readers_line(record.reader_count)}"]
        if names:
            sure, perhaps = _named(obj, store, record, by)
            found |= {"names": {"surely": sure, "perhaps": perhaps}}
            lines += [*map(_name_line, sure), *(f"{_name_line(one)} (perhaps)" for one in perhaps)]
    return found, lines


def _name_line(name: str) -> str:
    return f"    {visible(name)}"


def _named(obj: str | None, store: Store, record: FileRecord, by: str) -> tuple[list[str], list[str]]:
    """Return the names of those who surely can read a file, and of those who perhaps can; log the lookup."""
    config, now = config_of(obj), datetime.now(UTC)
    directory = refresh_directory(config, now)
    store.users.log_lookup(what=f"readers of file {record.file_id}, by name", by=actor_of(by), now=now)
    rights = FolderRights(config)
    try:
        calculated = effective_access(config, directory, rights, now)
        reached = calculated.reach(record.source).people
    finally:
        rights.close()
    accounts = calculated.accounts_for(record.source.root)
    sets = (reached.sure, reached.possible & ~reached.sure)
    sure, perhaps = (sorted(map(accounts.shown, bits_of(one))) for one in sets)
    return sure, perhaps


@access.command(epilog="Example: phiscan access left")
@_names_option
@by_option
@answers
@click.pass_obj
def left(obj: str | None, names: bool, by: str) -> Answer:
    """Count the accounts that have left, and the files that may be PHI to which they still have a right.

    Left: disabled or expired in the directory, or named in a file's access list and not in the directory.
    Rights that everyone has do not count.
    """
    config, now = config_of(obj), datetime.now(UTC)
    directory = refresh_directory(config, now) if names else kept_directory(config)
    if directory is None:
        raise InputError(_NO_DIRECTORY)
    found: dict[tuple[str, str], int] = {}
    n_files = 0
    with open_store(obj) as store:
        if names:
            store.users.log_lookup(what="accounts that have left, by name", by=actor_of(by), now=now)
        calculated = effective_access(config, directory, FolderRights(config), now)
        for record in (*store.queue(conceal=True), *store.sampled()):
            gone = set(calculated.left(record.source)) if may_be_phi(record) else set()
            n_files += bool(gone)
            for one in gone:
                found[one] = found.get(one, 0) + 1
    of_state = {
        state: sum(kind == state for kind, _ in found) for state in ("disabled", "expired", "missing")
    }
    answer: dict[str, Any] = {"accounts": len(found), **of_state, "files": n_files}
    answer["directory_read"] = directory.made.isoformat()
    lines = [
        f"{len(found):,} accounts that have left still have a right to {n_files:,} files that may be PHI: "
        + ", ".join(f"{n:,} {state}" for state, n in of_state.items()),
        f"The directory was read {directory.made:%Y-%m-%d %H:%M} UTC.",
    ]
    if names:
        answer["names"] = [
            {"name": name, "state": state, "files": n} for (state, name), n in sorted(found.items())
        ]
        lines += [f"{_name_line(name)}: {state}, {n:,} files" for (state, name), n in sorted(found.items())]
    return answer, lines
