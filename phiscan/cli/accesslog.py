"""``phiscan accesslog``: which files were opened, by the access logs of servers and stores."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

import click

from phiscan.cli import group_of
from phiscan.cli.output import Answer, answers, config_of, print_message
from phiscan.cli.queue.command import open_store
from phiscan.crawl.access_logs import KINDS
from phiscan.errors import InputError
from phiscan.pipeline.access_logs import Imported, import_logs
from phiscan.report.openings import opening_words, together_words
from phiscan.report.words import moment
from phiscan.stopping import EXIT_USAGE
from phiscan.visible import visible

accesslog = group_of("accesslog")


@accesslog.command("import", epilog="Example: phiscan accesslog import /var/log/samba/audit.log* --json")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@click.option("--kind", type=click.Choice(list(KINDS)), help="Kind of the logs; default: by their content.")
@click.option(
    "--year", type=click.IntRange(1990, 2100), help="Year of the first line, where lines have none."
)
@answers
def import_files(obj: str | None, files: tuple[str, ...], kind: str | None, year: int | None) -> Answer:
    """Record which files of the database FILES say were opened: by how many accounts, first and last.

    The database has no name of an account, only keyed hashes. A log may be imported again: nothing is
    counted twice, and files that a scan has found since are counted. Exit status 2: some log could not be
    read; the others were imported.
    """
    config, now = config_of(obj), datetime.now(UTC)
    found = list[Imported]()
    with open_store(obj) as store:
        for one in import_logs(store.database, config, map(Path, files), kind=kind or "", year=year, now=now):
            found.append(one)
            if one.problem:
                print_message(one.problem, level="error")
    status = EXIT_USAGE if any(one.problem for one in found) else 0
    return {"logs": [asdict(one) for one in found]}, (line for one in found for line in _lines(one)), status


@accesslog.command(epilog="Example: phiscan accesslog show /srv/share/Letters/okafor.docx")
@click.argument("file", required=False)
@click.option("--incident", type=click.IntRange(1), help="The files of this incident together.")
@answers
def show(obj: str | None, file: str | None, incident: int | None) -> Answer:
    """Say whether FILE (a path or its number in the list), or the files of an incident, were opened."""
    if (file is None) == (incident is None):
        message = "expected FILE or --incident"
        raise InputError(message)
    with open_store(obj) as store:
        numbers = [store.find(file)] if file is not None else store.desk.incident(incident or 0).places
        known = store.openings_together(numbers)
    counts = {
        "files_opened": known.n_opened,
        "files_not_opened": known.n_not_opened,
        "files_not_covered": known.n_not_covered,
    }
    words = opening_words(known) if file is not None else together_words(known)
    return {**counts, **known.to_json()}, [words]


def _lines(one: Imported) -> Iterator[str]:
    if one.kind is None:
        yield from () if one.problem else [f"{visible(one.log)}: empty"]
        return
    yield (
        f"{visible(one.log)}: {one.kind}; {one.n_understood:,} records, {one.n_openings:,} openings, "
        f"{one.n_matched:,} of files of the database, {one.n_ignored:,} by accounts that are left out"
    )
    yield f"  new: {one.n_new:,} (openings of one account and file within a minute are one)"
    for name, covered in one.roots.items():
        first, last = (moment(datetime.fromisoformat(covered[end])) for end in ("first", "last"))
        yield f"  covers {visible(name)} from {first} to {last}"
    if not one.roots:
        yield "  no opening of a file below a root that was scanned; [accesslog.paths] maps paths to roots"
    if one.n_unknown:
        yield f"  not understood: {one.n_unknown:,} lines or records"
    if one.by_opens:
        yield "  the log has no reads: listings of a folder count as openings of its files"
    if one.is_damaged:
        yield "  damaged or cut off: what could be read was imported"
