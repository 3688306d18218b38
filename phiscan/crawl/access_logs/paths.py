"""Which file a path in a log is: below a root, or below what the configuration says is one."""

from __future__ import annotations

import os
import unicodedata
from array import array
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b

import numpy as np

from phiscan.errors import InputError

N_PATHS = 65_536  # kept in memory, of those that were found last


class LoggedPaths:
    """Files, each a number, by the path that a log has: 16 bytes of memory for each, 32 if letters fold.

    ``roots``: the roots by number; ``table``: further beginnings of paths, and the root or folder below one
    that each is; ``folds``: letter case does not matter. First all files are added, then they are found.

    Raises:
        InputError: the table names a root that is none.
    """

    def __init__(self, roots: Mapping[int, bytes], table: Mapping[str, str], *, folds: bool) -> None:
        self._folds = folds
        self._prefixes = dict(self._prefixes_of(roots, table))
        self._lengths = sorted({len(prefix) for prefix in self._prefixes}, reverse=True)
        self._exact = _Numbers()
        self._folded = _Numbers()
        self.find = lru_cache(N_PATHS)(self._find)

    def add(self, root_id: int, path: bytes, number: int) -> None:
        """Add a file by its root and the path below it."""
        self._exact.add(root_id, path, number)
        if self._folds:
            self._folded.add(root_id, os.fsencode(_folded(os.fsdecode(path))), number)

    def _prefixes_of(
        self, roots: Mapping[int, bytes], table: Mapping[str, str]
    ) -> Iterator[tuple[tuple[str, ...], tuple[int, bytes]]]:
        """Yield the beginnings of paths of each root, those of the configuration last: they hold."""
        for number, raw in roots.items():
            name = os.fsdecode(raw).rstrip("/")
            if name.startswith("smb://"):
                host, _slash, rest = name.removeprefix("smb://").partition("/")
                yield self._parts(f"//{_short_name(host.partition(':')[0])}/{rest}"), (number, b"")
            yield self._parts(name), (number, b"")
        for prefix, wanted in table.items():
            target = os.fsencode(wanted.rstrip("/"))
            inside = [one for one in roots.items() if (target + b"/").startswith(one[1] + b"/")]
            if not inside:
                message = f"accesslog.paths: {wanted}: expected a root that was scanned, or a folder in one"
                raise InputError(message)
            number, raw = max(inside, key=lambda one: len(one[1]))
            below = target[len(raw) :].lstrip(b"/")
            yield self._parts(prefix.replace("\\", "/").rstrip("/")), (number, below + b"/" if below else b"")

    def _parts(self, path: str) -> tuple[str, ...]:
        return tuple((_folded(path) if self._folds else path).split("/"))

    def _find(self, path: str) -> tuple[int, int]:
        """Return the number of the root and that of the file; 0 = none."""
        parts, written = self._parts(path), path.split("/")
        is_share = parts[:2] == ("", "")
        for length in self._lengths:
            begin = parts[:length]
            place = self._prefixes.get(begin)
            if place is None and is_share:  # //server/share, where the table says \\*\share
                place = self._prefixes.get((*begin[:2], "*", *begin[3:]))
            if place is not None:
                root_id, below = place
                name = below + os.fsencode("/".join(written[length:]))
                number = self._exact.get(root_id, name)
                if not number and self._folds:
                    number = self._folded.get(root_id, os.fsencode(_folded(os.fsdecode(name))))
                return root_id, number
        return 0, 0


class _Numbers:
    """Numbers by 64-bit hashes of names; a name that several files have is of none of them."""

    def __init__(self) -> None:
        self._hashes, self._numbers = array("Q"), array("q")
        self._ordered: tuple[np.ndarray, np.ndarray] | None = None

    def add(self, root_id: int, path: bytes, number: int) -> None:
        self._hashes.append(_hash(root_id, path))
        self._numbers.append(number)

    def get(self, root_id: int, path: bytes) -> int:
        if self._ordered is None:
            hashes = np.frombuffer(self._hashes, np.uint64)
            order = np.argsort(hashes, kind="stable")
            self._ordered = hashes[order], np.frombuffer(self._numbers, np.int64)[order]
        hashes, numbers = self._ordered
        wanted = np.uint64(_hash(root_id, path))
        at, end = np.searchsorted(hashes, wanted), np.searchsorted(hashes, wanted, "right")
        return int(numbers[at]) if end - at == 1 else 0


def _hash(root_id: int, path: bytes) -> int:
    return int.from_bytes(blake2b(b"%d\0%b" % (root_id, path), digest_size=8).digest())


def _folded(path: str) -> str:
    return unicodedata.normalize("NFC", path.casefold())


def _short_name(host: str) -> str:
    """Return the name of a server as its own log has it: without a domain."""
    return host if host.replace(".", "").isdecimal() else host.partition(".")[0]
