"""``phiscan scan``: crawl, read, screen, classify, fill the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import click

from phiscan.cli.output import log, print_json, print_message
from phiscan.cli.patients.age import warn_of_age
from phiscan.cli.root_user import check_root
from phiscan.cli.scan.load_settings import IO_CLASSES, load_settings_of
from phiscan.cli.scan.lock import lock_roots
from phiscan.cli.scan.output import FORMATS
from phiscan.cli.scan.progress import show_progress
from phiscan.config import MAX_WORKERS, Config, load_config
from phiscan.crawl import IgnoreRules, check_roots, is_remote, load_ignore
from phiscan.errors import ClusterError, ConfigError, InputError, StoreError
from phiscan.monitoring.notices import Notices, counts_of, read_notices
from phiscan.patients.settings import load_settings
from phiscan.pipeline.ocr_pass import MODES, OcrMode
from phiscan.pipeline.rate_limit import RateLimit
from phiscan.pipeline.scan import ScanRun, count_share
from phiscan.pipeline.scan import scan as run_scan
from phiscan.pipeline.scan_plan import ScanOptions, only_rules
from phiscan.pipeline.versions import learned_version
from phiscan.pipeline.workers.pools import Workers
from phiscan.review.maintenance.condition import require_sound
from phiscan.review.store import ScanSummary, Store
from phiscan.sandbox.record import write_missing
from phiscan.stopping import EXIT_STOPPED, as_interrupt, deferred, end_within, mark_reported
from phiscan.store.identity import create_key

EXIT_REFERRED = 1
EXIT_UNREAD = 3
CLEANING_S = 10.0  # time for cleaning up after a stop; then the process ends


@click.command(
    epilog="Example: phiscan scan /srv/share --format csv > files.csv",
)
@click.argument("roots", nargs=-1, required=True, type=click.Path())
@click.option("--full", is_flag=True, help="Read every file again, also those that have not changed.")
@click.option(
    "--everything", is_flag=True, help="Search names in every file, also where none could refer it (slow)."
)
@click.option(
    "--ocr",
    type=click.Choice(MODES),
    default="after",
    show_default=True,
    help="Read pictures and scanned pages after all text, with it, or not at all.",
)
@click.option(
    "--ocr-budget",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Seconds on the clock for OCR after the text; the next scan goes on with the rest.",
)
@click.option("--retry-failed", is_flag=True, help="Read again what could not be read the last time.")
@click.option(
    "--only",
    multiple=True,
    metavar="PATTERN",
    help="Examine only paths that match, such as '*.docx' or 'letters/**'; keep other results. Repeatable.",
)
@click.option(
    "--workers", type=click.IntRange(1, MAX_WORKERS), help="Worker processes; default: one per core."
)
@click.option("--dry-run", is_flag=True, help="Count files and bytes; open none, record nothing.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(sorted(FORMATS)),
    default="table",
    show_default=True,
    help="What goes to standard output: the summary (table, json) or lines per file (csv, sarif, ocsf, cef).",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option(
    "--cluster", "address", help="Read with a cluster: tcp://HOST:PORT, tls://HOST:PORT, local:WORKERS."
)
@click.option(
    "--max-files-per-s", type=click.FloatRange(0, min_open=True), help="Open no more files per second."
)
@click.option("--max-mb-per-s", type=click.FloatRange(0, min_open=True), help="Read no more MB per second.")
@click.option("--nice", type=click.IntRange(0, 19), help="Leave the processors to others: 19 = most.")
@click.option("--ionice", type=click.Choice(IO_CLASSES), help="Leave the disks to others.")
@click.option(
    "--allow-root",
    is_flag=True,
    envvar="PHISCAN_ALLOW_ROOT",
    help="Do not warn when root scans, and do not refuse where workers could open all files of root.",
)
@click.option("--exit-zero", is_flag=True, help="Exit with 0 instead of 1 or 3, for schedulers.")
@click.pass_context
def scan(
    ctx: click.Context,
    roots: tuple[str, ...],
    full: bool,
    everything: bool,
    ocr: OcrMode,
    ocr_budget: float | None,
    retry_failed: bool,
    only: tuple[str, ...],
    workers: int | None,
    dry_run: bool,
    output_format: str,
    as_json: bool,
    address: str | None,
    max_files_per_s: float | None,
    max_mb_per_s: float | None,
    nice: int | None,
    ionice: str | None,
    allow_root: bool,
    exit_zero: bool,
) -> None:
    """Scan the folders ROOTS and put files with probable PHI into the review queue.

    Only new and changed files are read. An interrupted scan continues where it stopped when it is started
    again with the same folders. The folders are only read, never written.

    Exit status: 0 nothing referred, 1 something referred to review, 2 wrong usage or configuration,
    3 some files or parts of files could not be read, 4 stopped before its end. A long file that is referred
    by samples of its text counts as read.
    """
    config = _config(ctx, workers, everything=everything)
    folders = check_roots(roots, config)
    home = bytes(config.home.resolve())
    for folder in folders:
        if folder == home or folder.startswith(home.rstrip(b"/") + b"/"):
            message = f"{folder.decode(errors='backslashreplace')}: is phiscan's own folder; set another home"
            raise InputError(message)
    only_rules(only)  # an invalid pattern is reported before anything is opened
    ignore = load_ignore(config, folders)
    if ignore.refused:
        print_message(f"{ignore.refused}: lies on the share and is not used; keep it beside phiscan.toml")
    output_format = "json" if as_json else output_format
    if dry_run:
        _count_only(config, folders, ignore, as_json=output_format == "json")
        return
    check_root(allowed=allow_root)
    options = ScanOptions(full, retry_failed, only, ocr, ocr_budget)
    load = load_settings_of(config, max_files_per_s, max_mb_per_s, nice, ionice)
    notices = read_notices(config)
    warn_of_age(load_settings(config))
    load.apply()
    with (
        _open_store(config) as store,
        lock_roots(config.home, folders),
        _workers(config, address, folders, store, load.pace) as clients,
    ):
        begun: list[int] = []
        try:
            with as_interrupt():
                run = _run(config, folders, store, ignore, options, clients, load.pace, begun.append)
        except KeyboardInterrupt:
            if not begun:
                raise  # a summary in the store would be that of an earlier scan
            mark_reported()
            print_message("phiscan: stopped; the same command goes on from here")
            with deferred():
                _notify(notices, store, store.summary(begun[0]))
            end_within(CLEANING_S, EXIT_STOPPED)
            ctx.exit(EXIT_STOPPED)
        except (StoreError, ClusterError) as error:
            print_message(f"phiscan: {error}; the scan is stopped, the same command goes on from here")
            # The cluster failed, but the store has recorded the progress of the scan.
            if isinstance(error, ClusterError) and begun:
                _notify(notices, store, store.summary(begun[0]))
            ctx.exit(EXIT_STOPPED)
        write_missing(config.home, run.summary.scan, run.missing_isolation)
        FORMATS[output_format](run, store)
        _notify(notices, store, run.summary)
    ctx.exit(0 if exit_zero else _exit_status(run))


def _config(ctx: click.Context, workers: int | None, *, everything: bool) -> Config:
    """Load the configuration, overridden by the options of the command line."""
    config = load_config(Path(ctx.obj) if ctx.obj else None)
    if workers is not None:
        config = config.with_workers(workers)
    return config.searching_everything() if everything else config


def _notify(notices: Notices, store: Store, summary: ScanSummary) -> None:
    """Send the notices; counts are logged as well, if the log is for machines."""
    counts = counts_of(summary, notices.link)
    log(counts.pop("event"), **counts)
    for trouble in notices.send(store, summary):
        print_message(f"phiscan: {trouble}", level="warning")


def _open_store(config: Config) -> Store:
    """Open the review store; the first scan creates home, key and database, as `phiscan init` does."""
    store = Store.open(config.database_url, create=True, audit_key=config.audit_key_file)
    try:
        require_sound(store.database)
    except StoreError:
        store.close()
        raise
    if not config.key_file.exists():
        if store.scans():
            store.close()
            message = (
                f"{config.key_file}: the key is gone, but the database holds hashes made with it; "
                "bring it back, or begin a new database"
            )
            raise ConfigError(message)
        create_key(config.key_file)
    return store


def _run(
    config: Config,
    folders: tuple[bytes, ...],
    store: Store,
    ignore: IgnoreRules,
    options: ScanOptions,
    workers: Workers | None,
    pace: RateLimit,
    on_begin: Callable[[int], None],
) -> ScanRun:
    with show_progress(lambda: count_share(_countable(folders), ignore)) as on_progress:
        return run_scan(
            config,
            folders,
            store,
            ignore=ignore,
            options=options,
            on_progress=on_progress,
            workers=None if workers is None else nullcontext(workers),
            pace=pace,
            on_begin=on_begin,
        )


def _workers(
    config: Config, address: str | None, folders: Sequence[bytes], store: Store, pace: RateLimit
) -> AbstractContextManager[Workers | None]:
    """Connect to the given cluster before the scan begins; None = the processes of this machine."""
    if not address:
        return nullcontext(None)
    try:
        from phiscan import cluster  # noqa: PLC0415 (the extra may not be installed)
    except ModuleNotFoundError as error:
        message = (
            f"--cluster needs the extra `cluster` (pip install 'phiscan[cluster]'): no module {error.name}"
        )
        raise ConfigError(message) from None
    config = config.with_learned(learned_version(store))
    return cluster.open_cluster(config, address, folders, largest_batch=pace.largest_batch)


def _countable(folders: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the folders if all are local: a server is not listed twice for a progress display."""
    return () if any(map(is_remote, folders)) else folders


def _count_only(config: Config, folders: tuple[bytes, ...], ignore: IgnoreRules, *, as_json: bool) -> None:
    n_files = n_bytes = 0
    for counts in count_share(folders, ignore, config):
        n_files, n_bytes = counts
    if as_json:
        print_json({"dry_run": True, "files": n_files, "bytes": n_bytes})
    else:
        click.echo(f"{n_files:,} files with {n_bytes:,} bytes would be read; none was opened")


def _exit_status(run: ScanRun) -> int:
    if run.summary.failed or run.summary.n_unread_parts:
        return EXIT_UNREAD
    return EXIT_REFERRED if run.summary.referred else 0
