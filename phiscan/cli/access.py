"""``phiscan access``: how many people can read the files that are PHI or may be."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import click

from phiscan.cli import group_of
from phiscan.cli.output import Answer, actor_of, answers, by_option, config_of, lines_of
from phiscan.cli.queue.command import open_store
from phiscan.cli.queue.explain import readers_line
from phiscan.crawl.directory import DISABLED, EXPIRED, MISSING
from phiscan.errors import InputError
from phiscan.pipeline.reader_counts import (
    count_readers,
    counted,
    effective_access,
    kept_directory,
    may_be_phi,
    refresh_directory,
)
from phiscan.report.words import reader_words
from phiscan.review.records.reader_counts import widest_folders
from phiscan.review.worklist.model import counted_json
from phiscan.visible import visible

_names_option = click.option("--names", is_flag=True, help="Also print names; recorded in the audit log.")
access = group_of("access")


@access.command(epilog="Example: phiscan access update")
@answers
def update(obj: str | None) -> Answer:
    """Read the directory anew, and count who can read each file of the review list.

    No name is stored: the directory is kept in home as keyed hashes, of files there are numbers only. After
    the first time each scan counts again, with the directory as it was last read.
    """
    config, now = config_of(obj), datetime.now(UTC)
    with open_store(obj) as store:
        directory = refresh_directory(config, now)
        n_files, n_known = count_readers(store, config, directory, now)
    states = Counter(directory.states if directory else ())
    found = {
        "directory": config.directory.url or None,
        "accounts": states[""] if directory else None,
        "cannot_sign_in": states[DISABLED] + states[EXPIRED] if directory else None,
        "groups": len(directory.groups) if directory else None,
        "files": n_files,
        "known": n_known,
    }
    if directory is None:
        found["reason"] = "no directory is configured: only accounts of this machine are known"
    return found, lines_of(found)


@access.command(epilog="Example: phiscan access folders --limit 10")
@click.option("--limit", type=click.IntRange(min=0), default=10, show_default=True, help="0 = all.")
@answers
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
def people(obj: str | None, file: str, names: bool, by: str) -> Answer:
    """Count who can read FILE (a path or its number) by the directory as it was last read; with --names who.

    Names are read from the directory at that moment and stored nowhere; the audit log has who asked and the
    number of the file.
    """
    config, now = config_of(obj), datetime.now(UTC)
    with open_store(obj) as store:
        record = store.item(store.find(file), conceal=True)
        directory = refresh_directory(config, now) if names else kept_directory(config)
        if names:
            what = f"readers of file {record.file_id}, by name"
            store.users.log_lookup(what=what, by=actor_of(by), now=now)
        with effective_access(config, directory) as calculated:
            reached = calculated.reach(record.source)
            count = counted(calculated, record, reached, now)
    found: dict[str, Any] = {"file": record.file_id, "root": record.root, "path": record.path}
    found["readers"] = counted_json(count)
    lines = [f"{visible(record.path)}   (no. {record.file_id})", f"  {readers_line(count)}"]
    if names:
        shown = calculated.accounts_for(record.source.root).shown
        sure, perhaps = shown(reached.sure), shown(max(0, reached.possible) & ~reached.sure)
        found["names"] = {"surely": sure, "perhaps": perhaps}
        lines += [f"    {visible(one)}" for one in sure]
        lines += [f"    {visible(one)} (perhaps)" for one in perhaps]
    return found, lines


@access.command(epilog="Example: phiscan access left")
@_names_option
@by_option
@answers
def left(obj: str | None, names: bool, by: str) -> Answer:
    """Count the accounts that have left, and the files that may be PHI to which they still have a right.

    Left: disabled or expired in the directory, or named in a file's access list and not in the directory.
    Rights that everyone has do not count.
    """
    config, now = config_of(obj), datetime.now(UTC)
    directory = refresh_directory(config, now) if names else kept_directory(config)
    if directory is None:
        message = "no directory has been read: expected [directory] url, and `phiscan access update`"
        raise InputError(message)
    with open_store(obj) as store:
        if names:
            store.users.log_lookup(what="accounts that have left, by name", by=actor_of(by), now=now)
        with effective_access(config, directory) as calculated:
            listed = (one for one in (*store.queue(conceal=True), *store.sampled()) if may_be_phi(one))
            gone = [set(calculated.left(one.source)) for one in listed]
    found = Counter(one for accounts in gone for one in accounts)
    states = Counter(state for state, _ in found)
    answer: dict[str, Any] = {
        "accounts": len(found),
        **{state: states[state] for state in (DISABLED, EXPIRED, MISSING)},
        "files": sum(map(bool, gone)),
        "directory_read": directory.made.isoformat(),
    }
    lines = lines_of(answer)
    if names:
        of_name = sorted(found.items())
        answer["names"] = [{"name": name, "state": state, "files": n} for (state, name), n in of_name]
        lines += [f"    {visible(name)}: {state}, {n:,} files" for (state, name), n in of_name]
    return answer, lines
