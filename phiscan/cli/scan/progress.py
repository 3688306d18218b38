"""Progress of a scan: a live line with rate and remaining time on a terminal, else occasional plain lines."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from phiscan.cli.output import print_message
from phiscan.pipeline.result_recorder import Progress

PLAIN_EVERY_S = 15.0
LIVE_EVERY_S = 0.2
LOADING = "loading models"


class _Total:
    """The size of the share, counted in the background while the scan is running."""

    def __init__(self, count: Callable[[], Iterator[tuple[int, int]]]) -> None:
        self.n_files = 0
        self.known = False
        self.stop = threading.Event()
        self._count = count

    def run(self) -> None:
        """Count until the end of the share or of the scan."""
        for n_files, _n_bytes in self._count():
            self.n_files = n_files
            if self.stop.is_set():
                return
        self.known = self.n_files > 0


@contextmanager
def show_progress(
    count: Callable[[], Iterator[tuple[int, int]]],
) -> Iterator[Callable[[Progress], None]]:
    """Yield a function that shows a scan's progress on standard error; never on standard output."""
    if sys.stderr is not None and sys.stderr.isatty():
        with _live(count) as on_progress:
            yield on_progress
    else:
        with _plain() as on_progress:
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
    from rich.console import Console  # noqa: PLC0415 (a scan by the clock has no terminal)
    from rich.live import Live  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    total = _Total(count)
    counter = threading.Thread(target=total.run, daemon=True)
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
                line = describe(progress, now - progress.started, total.n_files, total_known=total.known)
                live.update(Text(line, no_wrap=True, overflow="ellipsis"), refresh=True)

        try:
            yield on_progress
        finally:
            total.stop.set()
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
