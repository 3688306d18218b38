"""Crawl a mounted folder with scandir: no links followed, raw path bytes preserved, stable order."""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterator
from operator import itemgetter
from pathlib import Path

from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.share import Crawled, Folders, unlisted
from phiscan.errors import InputError
from phiscan.long_paths import open_path
from phiscan.model import FailReason, SkipReason, SourceFile

_NUMBERS = struct.Struct("<LQqqQ")
_KIND = stat.S_IFMT(0xFFFFFFFF)  # the bits of a mode with the file type
_NAME = itemgetter(0)


class LocalShare:
    """One folder of this machine; the workers open its files directly."""

    def __init__(self, root: bytes, folders: Folders | None = None) -> None:
        self.root = root
        self.folders = folders

    def connect(self) -> None:
        """Check that the root is a folder that can be listed; see ``ServerShare``."""
        shown = os.fsdecode(self.root).encode("utf-8", "backslashreplace").decode()
        if not Path(os.fsdecode(self.root)).is_dir():
            raise InputError(shown, "expected a folder to scan (`phiscan extract` reads single files)")
        if not os.access(self.root, os.R_OK | os.X_OK):
            raise InputError(shown, "no permission to list this folder")

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:
        """Yield every entry below the root except folders, by raw name, depth first; see ``ServerShare``.

        Memory: the entries of the folders on the current path, and one number pair per file with several
        hard links.
        """
        # A stack of iterators instead of recursion, because folders may be nested 10,000 deep.
        stack: list[Iterator[Crawled | bytes]] = [self._list_folder(b"", ignore, seen_inodes)]
        while stack:
            entry = next(stack[-1], None)
            if entry is None:
                stack.pop()
            elif isinstance(entry, bytes):
                stack.append(self._list_folder(entry, ignore, seen_inodes))
            else:
                yield entry

    def _list_folder(
        self, folder: bytes, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]
    ) -> Iterator[Crawled | bytes]:
        """Yield the entries of one folder; a subfolder as its raw path, to be listed later."""
        root = self.root
        absolute = root if not folder else root.rstrip(b"/") + b"/" + folder
        inside = absolute.rstrip(b"/") + b"/"
        below = folder + b"/" if folder else b""
        known = None if self.folders is None else self.folders.subfolders(root, folder)
        if known is not None:
            yield from _visited(known, below, inside, ignore)
            return
        try:
            states = _stats_of(absolute)
        except OSError as error:
            yield _unlisted(root, folder, error)
            return
        facts = _folder_state(states) if self.folders is not None else None
        if self.folders is not None and facts is not None and self.folders.passes(root, folder, facts[0]):
            yield from _visited(facts[1], below, inside, ignore)
            return
        n_entries = 0
        for name, info in sorted(((os.fsencode(name), info) for name, info in states.items()), key=_NAME):
            path = below + name
            if isinstance(info, OSError):
                yield _unlisted(root, path, info)
                continue
            is_folder = stat.S_ISDIR(info.st_mode)
            if ignore.matches(path, inside + name, is_folder=is_folder):
                n_entries += 1
                yield Crawled(SourceFile.of(root, path, info), skip=SkipReason.IGNORED)
            elif is_folder:
                yield path
            else:
                n_entries += 1
                yield _judge(SourceFile.of(root, path, info), info, seen_inodes)
        if self.folders is not None and facts is not None:
            self.folders.listed(root, folder, n_entries)


def _visited(names: list[bytes], below: bytes, inside: bytes, ignore: IgnoreRules) -> Iterator[bytes]:
    """Yield the paths of the subfolders to visit of an unchanged folder."""
    for name in names:
        if not ignore.matches(below + name, inside + name, is_folder=True):
            yield below + name


_States = dict[str, os.stat_result | OSError]


def _stats_of(folder: bytes) -> _States:
    """Return the stat result (or error) of each entry by its name, as the system encodes it.

    The folder is opened without following a link and listed through the descriptor: a user who replaces it by
    a link in the meantime cannot make a scan with more rights leave the share.
    """
    descriptor = open_path(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    states: _States = {}
    try:
        with os.scandir(descriptor) as entries:
            for entry in entries:
                try:
                    states[entry.name] = entry.stat(follow_symlinks=False)
                except OSError as error:
                    states[entry.name] = error
    finally:
        os.close(descriptor)
    return states


def _folder_state(states: _States) -> tuple[bytes, list[bytes]] | None:
    """Return the bytes that identify unchanged entries of a folder, and the names of its subfolders, sorted.

    None: the results of its entries do not depend on it alone. The bytes are those that ``is_same_file``
    compares. Which of several hard links is read depends on folders that were listed before.
    """
    names = sorted(states)
    numbers: list[bytes] = []
    subfolders: list[bytes] = []
    pack = _NUMBERS.pack
    for place, name in enumerate(names):
        info = states[name]
        if isinstance(info, OSError):
            return None
        kind = info.st_mode & _KIND
        if kind == stat.S_IFDIR:
            subfolders.append(os.fsencode(name))  # its own entries are checked when it is listed
            names[place] = name + "/"
            continue
        if info.st_nlink > 1:
            return None
        try:
            numbers.append(pack(kind, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino))
        except struct.error:  # a time beyond the year 2262
            return None
    # A name holds neither a slash nor a NUL, with which the numbers begin.
    return b"".join([os.fsencode("/".join(names)), b"/", *numbers]), sorted(subfolders)


def _judge(source: SourceFile, info: os.stat_result, seen_inodes: set[tuple[int, int]]) -> Crawled:
    """Return whether an entry that is not a folder is read, skipped or failed."""
    if stat.S_ISLNK(info.st_mode):
        return Crawled(source, skip=SkipReason.SYMLINK)
    if not stat.S_ISREG(info.st_mode):
        return Crawled(source, skip=SkipReason.NOT_REGULAR)
    if info.st_nlink > 1:
        key = (info.st_dev, info.st_ino)
        if key in seen_inodes:
            return Crawled(source, skip=SkipReason.HARD_LINK)
        seen_inodes.add(key)
    if info.st_size == 0:
        return Crawled(source, skip=SkipReason.EMPTY)
    return Crawled(source)


def _unlisted(root: bytes, path: bytes, error: OSError) -> Crawled:
    """Return the record of a folder that cannot be listed, or of an entry that vanished before its stat."""
    if isinstance(error, PermissionError):
        reason = FailReason.NO_PERMISSION
    elif isinstance(error, FileNotFoundError | NotADirectoryError):
        reason = FailReason.CHANGED
    else:
        reason = FailReason.IO_ERROR
    return unlisted(root, path, reason, error.strerror or type(error).__name__)
