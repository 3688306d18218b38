"""Which entries of a share must be read, and which results of earlier scans stand."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, islice
from typing import Any

import pathspec

from phiscan.crawl import Crawled, is_same_file
from phiscan.errors import InputError
from phiscan.model import FailReason, FileResult, Outcome, SkipReason, SourceFile
from phiscan.pipeline.copies import Copies
from phiscan.pipeline.folders import KnownFolders
from phiscan.pipeline.ocr_pass import OcrMode, in_order, is_pending, text_only, within_budget
from phiscan.pipeline.result_recorder import ResultRecorder
from phiscan.review.records.scans import pending_files, referred_folders
from phiscan.review.store import KnownFile

LOOK_AHEAD = 500  # crawled entries looked up in the store by one query

_FIRST_SEGMENT = re.compile(rb"\.(?:0*1|a{2,3}|[elEL]x?01)$")  # of a split image or archive
# What may succeed at the next try although nothing about the file or about phiscan changed.
_TRANSIENT = frozenset({FailReason.CHANGED, FailReason.IO_ERROR, FailReason.NO_PERMISSION})


@dataclass(frozen=True, slots=True)
class ScanOptions:
    """What a scan was asked to do besides its roots."""

    full: bool = False  # read everything again
    retry_failed: bool = False  # read again what failed before
    only: tuple[str, ...] = ()  # gitignore patterns; nothing else is looked at; () = everything
    # When pictures are read is no part of what a scan is: the same scan continues with another answer.
    ocr: OcrMode = field(default="after", compare=False)
    ocr_budget_s: float | None = field(default=None, compare=False)  # wall-clock; None = no limit

    def as_dict(self) -> dict[str, Any]:
        """Return the options as stored with the scan."""
        options: dict[str, Any] = {"full": self.full, "retry_failed": self.retry_failed}
        return {**options, "only": list(self.only)} if self.only else options


def only_rules(patterns: Sequence[str]) -> pathspec.GitIgnoreSpec | None:
    """Return the rules of ``--only``; None when everything is looked at.

    Raises:
        InputError: one of them is not a pattern.
    """
    if not patterns:
        return None
    for pattern in patterns:
        try:
            pathspec.GitIgnoreSpec.from_lines([pattern])
        except (ValueError, TypeError):
            message = f"--only {pattern}: expected a pattern such as '*.docx' or 'letters/**'"
            raise InputError(message) from None
    return pathspec.GitIgnoreSpec.from_lines(patterns)


def _is_wanted(crawled: Crawled, only: pathspec.GitIgnoreSpec) -> bool:
    """Tell whether an entry is one of those asked for; a folder that cannot be listed always is."""
    name = crawled.source.path.decode("utf-8", "surrogateescape")
    return crawled.fail is not None or bool(only.match_file(name))


class Plan:
    """Decides, entry by entry, what must be read."""

    def __init__(
        self,
        recorder: ResultRecorder,
        options: ScanOptions,
        roots: Sequence[bytes],
        entries: Iterable[Crawled],
        folders: KnownFolders | None = None,
    ) -> None:
        self._recorder = recorder
        self._roots = roots
        self._options = options
        only = only_rules(options.only)
        self._entries = (crawled for crawled in entries if only is None or _is_wanted(crawled, only))
        self._copies = Copies(self._same_contents)
        self._folders = folders
        with recorder.store.database.read() as connection:
            self._pending_ids = pending_files(connection)  # before this run
        self._pending: dict[tuple[bytes, bytes], SourceFile] = {}  # what waits for OCR now
        self._after = 0  # the number of the file that was met last: the next ones follow it

    def rounds(self) -> Iterator[Iterator[SourceFile]]:
        """Yield the files for the workers: in one long round, then what had to wait, last the second pass."""
        mark = iter if self._options.ocr == "now" else text_only
        yield mark(self._to_read())
        while self._copies.is_waiting:
            yield mark(self._copies.freed())
        yield self._second_pass()

    def record(self, result: FileResult) -> None:
        """Take the answer about a file that was given out; that of the second pass replaces the first."""
        if self._recorder.progress.ocr_started:
            self._recorder.arrive(result)
            return
        waits = is_pending(result)
        if waits:
            self._pending[result.source.root, result.source.path] = result.source
        # What waits for OCR stands for no copy of it.
        self._copies.record(replace(result, outcome=Outcome.FAILED) if waits else result)
        self._recorder.arrive(result)

    def _second_pass(self) -> Iterator[SourceFile]:
        """Yield the files that wait for OCR, the most promising first, within the budget."""
        if self._options.ocr == "never" or not self._pending:
            return
        with self._recorder.store.database.read() as connection:
            folders = referred_folders(connection, self._recorder.scan_id)
        sources = in_order(self._pending.values(), folders)
        self._recorder.begin_ocr(len(sources))
        for source in within_budget(sources, self._options.ocr_budget_s):
            self._recorder.expect(source)
            yield source

    def _to_read(self) -> Iterator[SourceFile]:
        """Yield the files for the workers; record all other entries on the way."""
        listed: set[bytes] = set()
        while chunk := list(islice(self._entries, LOOK_AHEAD)):
            known = self._look_up(chunk)
            standing = [self._valid_result(crawled, known) for crawled in chunk]
            self._copies.look_up(
                [
                    crawled.source.size
                    for crawled, old in zip(chunk, standing, strict=True)
                    if old is None and crawled.skip is None and crawled.fail is None
                ]
            )
            self._remember(chunk, standing)
            self._recorder.mark_unchanged(*(old.file_id for old in standing if old is not None))
            self._recorder.progress.n_crawled += len(chunk)
            listed.update(crawled.source.root for crawled in chunk)
            for crawled, old in zip(chunk, standing, strict=True):
                if old is not None and old.file_id in self._pending_ids:
                    self._pending[crawled.source.root, crawled.source.path] = crawled.source
                if crawled.fail is not None:
                    self._keep_below(crawled.source)
                if old is None:
                    yield from self._copies.freed()
                    if (source := self._begin(crawled)) is not None:
                        yield source
        passed = set() if self._folders is None else self._folders.roots
        for root in self._roots:
            if root not in listed | passed and not (self._options.full or self._options.only):
                self._doubt_emptiness(root)

    def _remember(self, chunk: Sequence[Crawled], standing: Sequence[KnownFile | None]) -> None:
        """Say of which entries the folder may be passed over next time."""
        if self._folders is None:
            return
        for crawled, old in zip(chunk, standing, strict=True):
            if old is not None and self._is_metadata_unchanged(crawled, old):
                self._folders.stood(crawled.source, old.file_id)
            else:
                self._folders.fell(crawled.source)

    def _begin(self, crawled: Crawled) -> SourceFile | None:
        """Settle an entry that no worker need see; return a file that one can take now."""
        source = crawled.source
        if crawled.skip is SkipReason.IGNORED:
            self._recorder.record_now(FileResult(source, Outcome.SKIPPED, reason=crawled.skip))
        elif crawled.fail is not None:
            failed = FileResult(source, Outcome.FAILED, reason=crawled.fail, detail=crawled.detail)
            self._recorder.record_now(failed)
        elif (early := self._recorder.take_early(source)) is not None:
            self._recorder.expect(source)
            self._recorder.arrive(early)
            if is_pending(early):
                self._pending[source.root, source.path] = source
        else:
            self._recorder.expect(source)
            # What is skipped for another reason than the operator's rules has a name that is judged.
            return replace(source, unopened=crawled.skip) if crawled.skip else self._copies.admit(source)
        return None

    def _keep_below(self, folder: SourceFile) -> None:
        """Let the results of a folder that cannot be listed now stand: its files did not go away."""
        inside = b"" if folder.path == b"." else folder.path
        self._recorder.mark_unchanged(*self._recorder.store.present_below(folder.root, inside))

    def _doubt_emptiness(self, root: bytes) -> None:
        """Record a root where files were, and now nothing is, as unreadable: a share that is not mounted."""
        before = self._recorder.store.present_below(root, b"")
        if before:
            self._recorder.mark_unchanged(*before)
            source = SourceFile(root, b".", 0, 0, 0, 0, 0)
            self._recorder.record_now(
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
            paths = [crawled.source.path for crawled in entries]
            passed = 0 if self._folders is None else self._folders.last_id
            found = self._recorder.store.known(root, paths, after=max(self._after, passed))
            here = [found[path] for path in paths if path in found]
            if here:
                self._after = here[-1].file_id
            known.update({(root, before.path): before for before in here})
        return known

    def _same_contents(self, sizes: Sequence[int]) -> Mapping[int, tuple[str, ...]]:
        """Return the contents of these sizes that need not be screened again; with --full, of this scan."""
        recorder = self._recorder
        scan_id = recorder.scan_id if self._options.full else None
        return recorder.store.duplicates(sizes, recorder.key, scan_id=scan_id)

    def _valid_result(
        self, crawled: Crawled, known: Mapping[tuple[bytes, bytes], KnownFile]
    ) -> KnownFile | None:
        before = known.get((crawled.source.root, crawled.source.path))
        return before if before is not None and self._is_result_valid(crawled, before) else None

    def _is_metadata_unchanged(self, crawled: Crawled, before: KnownFile) -> bool:
        """Tell whether a valid result stays valid as long as nothing changes."""
        if before.file_id in self._pending_ids:
            return False
        if before.outcome == Outcome.SKIPPED or crawled.fail is not None:
            return crawled.fail is None
        return before.versions_key == self._recorder.key and before.reason not in _TRANSIENT

    def _is_result_valid(self, crawled: Crawled, before: KnownFile) -> bool:
        """Tell whether the recorded result is what a new examination would give."""
        if not is_same_file(crawled.source, before):
            return False
        if crawled.skip is not None or crawled.fail is not None:
            expected = (Outcome.SKIPPED, crawled.skip) if crawled.skip else (Outcome.FAILED, crawled.fail)
            is_judged = crawled.skip not in {None, SkipReason.IGNORED}
            is_same = (before.outcome, before.reason) == expected
            return is_same and (not is_judged or before.versions_key == self._recorder.key)
        if before.scan_id == self._recorder.scan_id:
            is_ours = before.versions_key == self._recorder.key  # else it was refused at the resumption
            return is_ours and before.outcome != Outcome.SKIPPED  # this very scan, before it was stopped
        # Of a split image a later segment may have changed: the worker compares the content of all.
        is_split = _FIRST_SEGMENT.search(crawled.source.path) is not None
        if is_split or self._options.full or before.versions_key != self._recorder.key:
            return False
        if before.outcome == Outcome.FAILED:
            return not self._options.retry_failed and before.reason not in _TRANSIENT
        return before.outcome == Outcome.SCREENED
