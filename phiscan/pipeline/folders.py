"""Folders in which nothing changed are passed over whole: one comparison instead of one for each file.

A folder's digest is taken over what the file system says of its entries, the versions of everything that
results depend on, and the rules of what is ignored. It is noted when every entry's result stood, and as long
as it is the same, every one of them stands.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from blake3 import blake3

from phiscan.crawl import IgnoreRules
from phiscan.crawl.journal import JournalReader
from phiscan.model import SourceFile
from phiscan.pipeline.result_recorder import ResultRecorder
from phiscan.review.records.recording import FolderState, place_of

LOOK_AHEAD = 1_000  # folders looked up in the store by one query


@dataclass(slots=True)
class _Listing:
    """A folder of this crawl whose entries are being looked at one by one."""

    digest: bytes
    n_entries: int | None = None  # None: not all are listed yet
    file_ids: list[int] = field(default_factory=list)  # of the entries whose results stand


class KnownFolders:
    """What earlier scans noted of folders, and what this one notes; see ``crawl.Folders``."""

    def __init__(self, recorder: ResultRecorder, ignore: IgnoreRules, home: Path) -> None:
        self._home = home
        self._journals: dict[bytes, JournalReader] = {}
        self._recorder = recorder
        rules = [(pattern.include, str(pattern.regex)) for pattern in ignore.spec.patterns]
        self._seed = blake3(repr((recorder.key, rules, sorted(ignore.own))).encode()).digest()
        self._listings: dict[tuple[bytes, bytes], _Listing] = {}
        self._ahead: dict[bytes, FolderState] = {}  # a stretch of the store, in the order of the crawl
        self._reach: tuple[bytes, bytes, bytes] | None = None  # its root, its first and last place
        self.last_id = 0  # the highest number among the files passed over
        self.roots: set[bytes] = set()  # where something was passed over

    def passes(self, root: bytes, folder: bytes, facts: bytes) -> bool:
        """Tell whether the results of all entries of a folder stand, and let them."""
        digest = blake3(self._seed + facts).digest(16)
        before = self._look_up(root, place_of(folder))
        if before is None or before.digest != digest:
            self._listings[root, folder] = _Listing(digest)
            return False
        self._pass(root, folder, before)
        return True

    def subfolders(self, root: bytes, folder: bytes) -> list[bytes] | None:
        """Return the subfolders of a folder without a change in the journal, and let its results stand."""
        if root not in self._journals:
            self._journals[root] = JournalReader(self._home, root, self._seed)
        found = self._journals[root].subfolders(folder)
        before = None if found is None else self._look_up(root, place_of(folder))
        if before is None:
            return None
        self._pass(root, folder, before)
        return found

    def finish(self) -> None:
        """Report the end of a complete scan to the journals."""
        for journal in self._journals.values():
            journal.finish()

    def _pass(self, root: bytes, folder: bytes, before: FolderState) -> None:
        self.last_id = max(self.last_id, before.runs[-1][1])
        self.roots.add(root)
        self._recorder.progress.n_crawled += before.n_files
        self._recorder.mark_all_unchanged(before.runs, before.n_files)
        self._journals[root].unchanged(folder)

    def listed(self, root: bytes, folder: bytes, n_entries: int) -> None:
        """Take how many entries a folder has that was not passed over."""
        if (listing := self._listings.get((root, folder))) is not None:
            listing.n_entries = n_entries
            self._close(root, folder, listing)

    def stood(self, source: SourceFile, file_id: int) -> None:
        """Take an entry whose result stands for as long as nothing changes."""
        folder = source.path.rpartition(b"/")[0]
        if (listing := self._listings.get((source.root, folder))) is not None:
            listing.file_ids.append(file_id)
            self._close(source.root, folder, listing)

    def fell(self, source: SourceFile) -> None:
        """Take an entry that must be looked at again next time: so must its folder."""
        self._listings.pop((source.root, source.path.rpartition(b"/")[0]), None)

    def _close(self, root: bytes, folder: bytes, listing: _Listing) -> None:
        if listing.n_entries != len(listing.file_ids):
            return
        del self._listings[root, folder]
        if listing.file_ids:
            self._recorder.note_folder(root, FolderState.of(folder, listing.digest, listing.file_ids))
            self._journals[root].unchanged(folder)

    def _look_up(self, root: bytes, place: bytes) -> FolderState | None:
        if self._reach is None or self._reach[0] != root or not self._reach[1] <= place <= self._reach[2]:
            found = self._recorder.store.folders(root, place, limit=LOOK_AHEAD)
            self._ahead = {state.place: state for state in found}
            # Fewer than asked for: nothing lies after them.
            last = found[-1].place if len(found) == LOOK_AHEAD else b"\xff" * (len(place) + 1)
            self._reach = (root, place, last)
        return self._ahead.get(place)
