"""Which entries of a share must be read, and which results of earlier scans stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, islice

from phiscan.crawl import Crawled, is_same_file
from phiscan.model import FailReason, FileResult, Outcome, SourceFile
from phiscan.pipeline.ledger import Ledger
from phiscan.review.store import KnownFile

LOOK_AHEAD = 500  # crawled entries looked up in the store by one query

# What may succeed at the next try although nothing about the file or about phiscan changed.
_TRANSIENT = frozenset({FailReason.CHANGED, FailReason.IO_ERROR, FailReason.NO_PERMISSION})


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan was asked to do besides its roots."""

    full: bool = False  # read everything again
    retry_failed: bool = False  # read again what failed before

    def as_dict(self) -> dict[str, bool]:
        """Return the options as stored with the scan."""
        return {"full": self.full, "retry_failed": self.retry_failed}


class Plan:
    """Decides, entry by entry, what must be read."""

    def __init__(
        self, ledger: Ledger, options: ScanOptions, roots: Sequence[bytes], entries: Iterable[Crawled]
    ) -> None:
        self._ledger = ledger
        self._roots = roots
        self._options = options
        self._entries = iter(entries)

    def to_read(self) -> Iterator[SourceFile]:
        """Yield the files for the workers; settle all other entries on the way."""
        listed: set[bytes] = set()
        while chunk := list(islice(self._entries, LOOK_AHEAD)):
            known = self._look_up(chunk)
            for crawled in chunk:
                listed.add(crawled.source.root)
                if crawled.fail is not None:
                    self._keep_below(crawled.source)
                self._ledger.progress.n_crawled += 1
                before = known.get((crawled.source.root, crawled.source.path))
                if before is not None and self._stands(crawled, before):
                    self._ledger.stand(before.file_id)
                elif crawled.skip is not None:
                    self._ledger.settle_now(FileResult(crawled.source, Outcome.SKIPPED, reason=crawled.skip))
                elif crawled.fail is not None:
                    self._ledger.settle_now(
                        FileResult(crawled.source, Outcome.FAILED, reason=crawled.fail, detail=crawled.detail)
                    )
                else:
                    self._ledger.expect()
                    yield crawled.source
        for root in self._roots:
            if root not in listed and not self._options.full:
                self._doubt_emptiness(root)

    def _keep_below(self, folder: SourceFile) -> None:
        """Let the results of a folder that cannot be listed now stand: its files did not go away."""
        inside = b"" if folder.path == b"." else folder.path
        self._ledger.stand(*self._ledger.store.present_below(folder.root, inside))

    def _doubt_emptiness(self, root: bytes) -> None:
        """Record a root where files were, and now nothing is, as unreadable: a share that is not mounted."""
        before = self._ledger.store.present_below(root, b"")
        if before:
            self._ledger.stand(*before)
            source = SourceFile(root, b".", 0, 0, 0, 0, 0)
            self._ledger.settle_now(
                FileResult(
                    source,
                    Outcome.FAILED,
                    reason=FailReason.IO_ERROR,
                    detail="empty, but files were here before: is it mounted? --full takes it as it is",
                )
            )

    def _look_up(self, chunk: Sequence[Crawled]) -> dict[tuple[bytes, bytes], KnownFile]:
        known: dict[tuple[bytes, bytes], KnownFile] = {}
        for root, entries in groupby(chunk, key=lambda crawled: crawled.source.root):
            found = self._ledger.store.known(root, [crawled.source.path for crawled in entries])
            known.update({(root, path): before for path, before in found.items()})
        return known

    def _stands(self, crawled: Crawled, before: KnownFile) -> bool:
        """Tell whether the recorded result is still what a new look would give."""
        if not is_same_file(crawled.source, before):
            return False
        if crawled.skip is not None or crawled.fail is not None:
            expected = (Outcome.SKIPPED, crawled.skip) if crawled.skip else (Outcome.FAILED, crawled.fail)
            return (before.outcome, before.reason) == expected
        if before.scan_id == self._ledger.scan_id:
            return before.outcome != Outcome.SKIPPED  # this very scan, before it was stopped
        if self._options.full or before.versions_key != self._ledger.key:
            return False
        if before.outcome == Outcome.FAILED:
            return not self._options.retry_failed and before.reason not in _TRANSIENT
        return before.outcome == Outcome.SCREENED
