"""``phiscan watch``: keep the change journal of local folders."""

from __future__ import annotations

import signal

import click

from phiscan.cli.output import config_of, print_message
from phiscan.crawl import check_roots, is_url
from phiscan.crawl.journal import Watcher
from phiscan.errors import InputError


@click.command(epilog="Example: phiscan watch /srv/share")
@click.argument("roots", nargs=-1, required=True, type=click.Path())
@click.pass_obj
def watch(obj: str | None, roots: tuple[str, ...]) -> None:
    """Note changes of the local folders ROOTS, so that a rescan lists only what changed.

    Runs until stopped with Ctrl-C or by a signal. Scans of the same roots with the same home ask it by
    themselves; without it they list everything, as they do at least once a week.
    """
    config = config_of(obj)
    for root in roots:
        if is_url(root.encode()):
            raise InputError(root, "expected a local folder; servers are listed by each scan")
    folders = check_roots(roots, config)
    if not config.home.is_dir():
        raise InputError(config.home, "expected a home folder; `phiscan init` makes one")
    watcher = Watcher(config.home, folders)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: watcher.stop())
    print_message(f"watching {watcher.n_folders:,} folders")
    try:
        watcher.run()
    finally:
        watcher.close()
