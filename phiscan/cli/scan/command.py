"""``phiscan scan``: crawl, read, screen, classify, fill the queue."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields, replace
from typing import Any

import click

from phiscan.cli.output import cluster_module, config_of, log, print_json, print_message, warn_of_age
from phiscan.cli.scan.lock import lock_roots
from phiscan.cli.scan.output import FORMATS
from phiscan.config import MAX_WORKERS, Config, RateLimitTable
from phiscan.crawl import IgnoreRules, check_roots, content_of, crawl, is_url, load_ignore
from phiscan.errors import ClusterError, ConfigError, InputError, StoreError
from phiscan.monitoring.notices import Notices, counts_of, read_notices
from phiscan.patients.settings import load_settings
from phiscan.pipeline.ocr_pass import MODES
from phiscan.pipeline.rate_limit import RateLimit
from phiscan.pipeline.result_recorder import Progress
from phiscan.pipeline.scan import count_share
from phiscan.pipeline.scan import scan as run_scan
from phiscan.pipeline.scan_plan import ScanOptions, only_rules
from phiscan.pipeline.versions import learned_version
from phiscan.pipeline.workers.pools import Workers
from phiscan.review.maintenance.backup import require_sound
from phiscan.review.store import ScanSummary, Store
from phiscan.sandbox.isolation import probe, write_missing
from phiscan.stopping import EXIT_STOPPED, as_interrupt, deferred, end_within, mark_reported
from phiscan.store.identity import create_key
from phiscan.visible import visible


def check_root(*, allowed: bool) -> None:
    """Print one warning line for a scan as root, unless root was allowed.

    Raises:
        ConfigError: neither Landlock nor another user id restricts a worker to the files of the scan.
    """
    if os.geteuid() != 0 or allowed:
        return
    layers = {layer.name: layer for layer in probe()}
    if not (layers["user"].is_on or layers["landlock"].is_on):
        message = (
            "started as root, and workers could open what root can: there is no Landlock here "
            f"({layers['landlock'].detail}), and {layers['user'].detail}; "
            "run it as another user, or say --allow-root"
        )
        raise ConfigError(message)
    kept_in = "workers stay root, kept in by Landlock; better run it as a user"
    given_up = "which workers give up; better run it as another user"
    print_message(f"phiscan: started as root, {given_up if layers['user'].is_on else f'and {kept_in}'}")


PLAIN_EVERY_S = 15.0
LIVE_EVERY_S = 0.2
LOADING = "loading models"


@contextmanager
def show_progress(count: Callable[[], Iterator[tuple[int, int]]]) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows a scan's progress on standard error; never on standard output."""
    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    with _live(count) if is_terminal else _plain() as on_progress:
        yield on_progress


@contextmanager
def _plain() -> Iterator[Callable[[Progress], None]]:
    """Print a line from time to time; from a thread, because nothing is reported while models are loaded."""
    last = time.monotonic()
    is_loading = has_printed_ocr = False
    over = threading.Event()
    loading: list[threading.Thread] = []

    def print_loading() -> None:
        while not over.wait(PLAIN_EVERY_S) and is_loading:
            print_message(LOADING)

    def on_progress(progress: Progress) -> None:
        nonlocal last, is_loading, has_printed_ocr
        is_loading = progress.is_loading
        if is_loading and not loading:
            loading.append(threading.Thread(target=print_loading, daemon=True))
            loading[0].start()
        now = time.monotonic()
        if progress.n_ocr and not progress.n_ocr_read and not has_printed_ocr:
            has_printed_ocr = True
            print_message(
                f"all text is read: {progress.n_referred:,} referred; {progress.n_ocr:,} files wait for OCR"
            )
        if now - last >= PLAIN_EVERY_S and not is_loading:
            last = now
            print_message(describe(progress, now - progress.started))

    try:
        yield on_progress
    finally:
        over.set()
        for thread in loading:
            thread.join()


@contextmanager
def _live(count: Callable[[], Iterator[tuple[int, int]]]) -> Iterator[Callable[[Progress], None]]:
    """Show a line on the terminal, with the size of the share, which a thread counts meanwhile."""
    from rich.console import Console  # noqa: PLC0415 (a scan by the clock has no terminal)
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    n_total, total_known, over = 0, False, threading.Event()

    def count_files() -> None:
        nonlocal n_total, total_known
        for n_files, _n_bytes in count():
            n_total = n_files
            if over.is_set():
                return
        total_known = n_total > 0

    counter = threading.Thread(target=count_files, daemon=True)
    counter.start()
    last = 0.0
    was_loading = False
    console = Console(stderr=True)
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def on_progress(progress: Progress) -> None:
            nonlocal last, was_loading
            now = time.monotonic()
            if now - last >= LIVE_EVERY_S or progress.is_loading != was_loading:
                last, was_loading = now, progress.is_loading
                line = describe(progress, now - progress.started, n_total, total_known=total_known)
                live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

        try:
            yield on_progress
        finally:
            over.set()
            counter.join(timeout=1.0)


def describe(progress: Progress, seconds: float, n_total: int = 0, *, total_known: bool = False) -> str:
    """Format progress as one line: done, rate, remaining time, findings and unread files.

    >>> describe(Progress(n_crawled=10, n_read=8, n_unchanged=2, n_bytes=2_000_000), 4.0)
    '10 files · 2 files/s · 0.5 MB/s · 0 referred · 0 not read'
    >>> describe(Progress(n_unchanged=2, is_loading=True), 4.0)
    '2 files · loading models'
    """
    n_done = progress.n_read + progress.n_unchanged + progress.n_skipped
    seconds = max(seconds, 1e-9)
    parts = [f"{n_done:,} files"]
    if n_total:
        parts[0] = f"{n_done:,} of {n_total:,}{'' if total_known else '+'} files"
    if progress.is_loading:
        return " · ".join([*parts, LOADING] if n_done else [LOADING])
    if progress.n_ocr:
        return " · ".join([*parts, *_ocr(progress), f"{progress.n_referred:,} referred"])
    rate = n_done / seconds
    parts += [f"{rate:,.0f} files/s", f"{progress.n_bytes / 1e6 / seconds:,.1f} MB/s"]
    if total_known and rate > 0:
        parts.append(f"{_duration(max(0, n_total - n_done) / rate)} left")
    parts += [f"{progress.n_referred:,} referred", f"{progress.n_failed:,} not read"]
    return " · ".join(parts)


def _ocr(progress: Progress) -> list[str]:
    """Format the second pass: files read of those that wait, and the remaining time."""
    parts = [f"OCR {progress.n_ocr_read:,} of {progress.n_ocr:,} files"]
    if progress.n_ocr_read:
        spent = time.monotonic() - progress.ocr_started
        parts.append(
            f"{_duration((progress.n_ocr - progress.n_ocr_read) * spent / progress.n_ocr_read)} left"
        )
    return parts


def _duration(seconds: float) -> str:
    """Format a number of seconds.

    >>> _duration(75), _duration(7300)
    ('1 min 15 s', '2 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


MB = 1e6
MAX_NICE = 19
_PACE = tuple(one.name for one in fields(RateLimitTable))
# ioprio_set(2): the class is in the bits from 13 up, the level within the class below.
_IO_CLASS_SHIFT = 13
_IO_PRIORITIES = {"best-effort": (2, 7), "idle": (3, 0)}
IO_CLASSES = tuple(_IO_PRIORITIES)
_IOPRIO_WHO_PROCESS = 1
_IOPRIO_SET = {"x86_64": 251, "aarch64": 30}  # the C library has no function for it


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """The rate limit of reading, and the priority of the process; its workers inherit it."""

    pace: RateLimit
    nice: int
    ionice: str

    def apply(self) -> None:
        """Lower the priority of this process and of its children.

        Raises:
            ConfigError: this machine does not support it.
        """
        if self.nice:
            os.nice(self.nice)
        if self.ionice:
            _set_io_class(self.ionice)


def load_settings_of(config: Config, **given: Any) -> LoadSettings:
    """Return the settings of the command line, by the names of ``[pace]``, else those of ``[pace]``.

    Raises:
        ConfigError: a field of ``[pace]`` is invalid.
        InputError: an option is not a number.
    """
    for name in ("max_files_per_s", "max_mb_per_s"):
        if not math.isfinite(given.get(name) or 0.0):
            option = f"--{name.replace('_', '-')}"
            raise InputError(option, f"expected a number above 0, got {given[name]}")
    table = config.pace
    no_limit = "a number of 0 (no limit) or more"
    for name, is_good, expected in (
        ("max_files_per_s", 0 <= table.max_files_per_s < math.inf, no_limit),
        ("max_mb_per_s", 0 <= table.max_mb_per_s < math.inf, no_limit),
        ("nice", 0 <= table.nice <= MAX_NICE, f"0 to {MAX_NICE}"),
        ("ionice", table.ionice in {"", *IO_CLASSES}, f"one of {', '.join(IO_CLASSES)}"),
    ):
        if not is_good:
            raise ConfigError(config.source, f"pace.{name}: expected {expected}")
    table = replace(table, **{name: value for name, value in given.items() if value is not None})
    pace = RateLimit(table.max_files_per_s or math.inf, table.max_mb_per_s * MB or math.inf)
    return LoadSettings(pace, table.nice, table.ionice)


def _set_io_class(name: str) -> None:
    number = _IOPRIO_SET.get(platform.machine())
    if number is None:
        message = f"ionice: not known how on this machine ({platform.machine()})"
        raise ConfigError(message)
    io_class, level = _IO_PRIORITIES[name]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(number, _IOPRIO_WHO_PROCESS, 0, io_class << _IO_CLASS_SHIFT | level):
        message = f"ionice: {os.strerror(ctypes.get_errno())}"
        raise ConfigError(message)


EXIT_REFERRED = 1
EXIT_UNREAD = 3
CLEANING_S = 10.0  # time for cleaning up after a stop; then the process ends


@click.command(epilog="Example: phiscan scan /srv/share --format csv > files.csv")
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
    "ocr_budget_s",
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
    help="What goes to standard output: the summary (table, json) or lines per file (csv, sarif, cef).",
)
@click.option("--json", "as_json", is_flag=True, help="Short for --format json.")
@click.option("--cluster", "address", help="Read with a cluster: tcp://HOST:PORT or tls://HOST:PORT.")
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
    /,
    roots: tuple[str, ...],
    everything: bool,
    workers: int | None,
    dry_run: bool,
    output_format: str,
    as_json: bool,
    address: str | None,
    allow_root: bool,
    exit_zero: bool,
    **given: Any,
) -> None:
    """Scan ROOTS, folders or URLs, and put files with probable PHI into the review queue.

    Only new and changed files are read. An interrupted scan continues where it stopped when it is started
    again with the same folders. The folders are only read, never written.

    Exit status: 0 nothing referred, 1 something referred to review, 2 wrong usage or configuration,
    3 some files or parts of files could not be read, or are in a language that is not covered, 4 stopped
    before its end. A long file that is referred by samples of its text counts as read.
    """
    config, pace = config_of(ctx.obj), {name: given.pop(name) for name in _PACE}
    options = ScanOptions(**given)
    config = config if workers is None else replace(config, workers=workers)
    config = replace(config, audit_share=1.0) if everything else config
    folders = check_roots(roots, config)
    home = bytes(config.home.resolve())
    for folder in folders:
        if folder == home or folder.startswith(home.rstrip(b"/") + b"/"):
            message = f"{folder.decode(errors='backslashreplace')}: is phiscan's own folder; set another home"
            raise InputError(message)
    only_rules(options.only)  # an invalid pattern is reported before anything is opened
    ignore = load_ignore(config, folders)
    if ignore.refused:
        print_message(f"{ignore.refused}: lies on the share and is not used; keep it beside phiscan.toml")
    output_format = "json" if as_json else output_format
    if dry_run:
        _count_only(config, folders, ignore, as_json=output_format == "json")
        return
    check_root(allowed=allow_root)
    load = load_settings_of(config, **pace)
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
            with as_interrupt(), show_progress(lambda: count_share(_countable(folders), ignore)) as shown:
                run = run_scan(
                    config,
                    folders,
                    store,
                    ignore=ignore,
                    options=options,
                    on_progress=shown,
                    workers=None if clients is None else nullcontext(clients),
                    pace=load.pace,
                    on_begin=begun.append,
                )
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
    status = EXIT_UNREAD if run.summary.has_unread else EXIT_REFERRED if run.summary.referred else 0
    ctx.exit(0 if exit_zero else status)


def _notify(notices: Notices, store: Store, summary: ScanSummary) -> None:
    """Send the notices; counts are logged as well, if the log is for machines."""
    counts = counts_of(summary, notices.config.notify.link)
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
            raise ConfigError(
                config.key_file,
                "the key is gone, but the database holds hashes made with it; "
                "bring it back, or begin a new database",
            )
        create_key(config.key_file)
    return store


def _workers(
    config: Config, address: str | None, folders: Sequence[bytes], store: Store, pace: RateLimit
) -> AbstractContextManager[Workers | None]:
    """Connect to the given cluster before the scan begins; None = the processes of this machine."""
    if not address:
        return nullcontext(None)
    config, cluster = config.with_learned(learned_version(config, store)), cluster_module("phiscan.cluster")
    made: AbstractContextManager[Workers] = cluster.open_cluster(
        config, address, folders, largest_batch=pace.largest_batch
    )
    return made


def _countable(folders: tuple[bytes, ...]) -> tuple[bytes, ...]:
    """Return the folders if all are local: a server is not listed twice for a progress display."""
    return () if any(map(is_url, folders)) else folders


def _count_only(config: Config, folders: tuple[bytes, ...], ignore: IgnoreRules, *, as_json: bool) -> None:
    """Print what a scan would read of each root, by its listing alone."""
    counted: list[dict[str, Any]] = []
    for root in folders:
        skipped: Counter[str] = Counter()
        n_files = n_bytes = n_failed = 0
        for crawled in crawl((root,), ignore, config):
            if crawled.fail is not None:
                n_failed += 1
            elif crawled.skip is not None:
                skipped[str(crawled.skip)] += 1
            else:
                n_files, n_bytes = n_files + 1, n_bytes + crawled.source.size
        shown = root.decode("utf-8", "backslashreplace")
        counts = {"files": n_files, "bytes": n_bytes, "skipped": dict(skipped), "unlisted": n_failed}
        counted.append({"root": shown, "content": content_of(root), **counts})
    n_files, n_bytes = (sum(row[name] for row in counted) for name in ("files", "bytes"))
    if as_json:
        print_json({"dry_run": True, "files": n_files, "bytes": n_bytes, "roots": counted})
        return
    for row in counted:
        click.echo(f"{visible(row['root'])}: {row['content']}")
        skips = ", ".join(f"{reason} {n:,}" for reason, n in row["skipped"].items()) or "none"
        click.echo(f"  {row['files']:,} with {row['bytes']:,} bytes; skipped: {skips}")
        if row["unlisted"]:
            click.echo(f"  {row['unlisted']:,} could not be listed: a scan records each as failed")
    click.echo(f"{n_files:,} with {n_bytes:,} bytes; none was opened. A scan reads what is new or changed.")
