"""Walk a remote share folder by folder, listing some folders ahead."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.share import Crawled, RefusedError, known_error, unlisted
from phiscan.model import FailReason, SkipReason

AHEAD = 4  # folders of one parent that are listed in advance, to hide network latency
LOOPS = 8  # equal listings of folders in each other that are read: then it is one that contains itself
_LONGEST = 2**17  # bytes of a path; Windows allows 32,767 characters
_NAME = re.compile(rb"(?!\.{1,2}\Z)[^/\0]+")


class _Folder:
    """A folder on the current path: its entries, and its next subfolders, which are listed ahead."""

    def __init__(self, path: bytes, entries: list[Crawled]) -> None:
        self.path = path
        self.entries = iter(entries)
        self.waiting = deque(entry.source.path for entry in entries if entry.is_folder)
        self.listed: dict[bytes, Future[list[Crawled]]] = {}
        self.state = 0  # of its entries
        for one in (entry.source for entry in entries):
            name = one.path.rpartition(b"/")[2]
            self.state = hash((self.state, name, one.size, one.mtime_ns, one.inode))


def walk(
    root: bytes, list_folder: Callable[[bytes], list[Crawled]], ignore: IgnoreRules
) -> Iterator[Crawled]:
    """Yield the entries below a root that are not folders, depth first, by raw name within each folder.

    ``list_folder`` gets a folder's path relative to the root; what it raises becomes the folder's record.
    Memory: the entries of the folders on the current path and of ``AHEAD`` of the subfolders of each.
    """
    pool = ThreadPoolExecutor(AHEAD, thread_name_prefix="list")
    try:
        entries = yield from _entries(root, b"", pool.submit(list_folder, b""), ignore)
        stack = [_Folder(b"", entries)]
        while stack:
            folder = stack[-1]
            while folder.waiting and len(folder.listed) < AHEAD:
                path = folder.waiting.popleft()
                folder.listed[path] = pool.submit(list_folder, path)
            entry = next(folder.entries, None)
            if entry is None:
                stack.pop()
            elif entry.is_folder:
                path = entry.source.path
                entries = yield from _entries(root, path, folder.listed.pop(path), ignore)
                inner = _Folder(path, entries)
                if len(path) > _LONGEST or sum(one.state == inner.state for one in stack) >= LOOPS:
                    yield unlisted(root, path, FailReason.IO_ERROR, "it seems to contain itself")
                else:
                    stack.append(inner)
            else:
                yield entry
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _entries(
    root: bytes, path: bytes, listing: Future[list[Crawled]], ignore: IgnoreRules
) -> Generator[Crawled, None, list[Crawled]]:
    """Yield the records of the folder itself; return its entries to visit, by raw name."""
    base = path + b"/" if path else b""
    try:
        listed = {entry.source.path: entry for entry in listing.result()}  # a server may repeat a name
        if any(not one.startswith(base) or not _NAME.fullmatch(one, len(base)) for one in listed):
            raise RefusedError(FailReason.IO_ERROR, "the server lists a name that no file can have")  # noqa: TRY301 (recorded as any other)
        return [_judged(listed[one], ignore) for one in sorted(listed)]
    except Exception as error:  # noqa: BLE001 (the fault boundary of a folder: its answer may be damaged)
        found = known_error(error)
        yield unlisted(root, path, found.reason, found.detail)
        return []


def _judged(entry: Crawled, ignore: IgnoreRules) -> Crawled:
    """Return the entry with the rule by which it is skipped."""
    # Files of phiscan's own lie on this machine, not on a remote share.
    if ignore.matches(entry.source.path, b"", is_folder=entry.is_folder):
        return Crawled(entry.source, skip=SkipReason.IGNORED)
    is_empty = not (entry.is_folder or entry.skip or entry.source.size)
    return Crawled(entry.source, skip=SkipReason.EMPTY) if is_empty else entry
