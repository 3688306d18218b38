"""Which file a path in a log is: below a root, or below what the configuration says is one."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np

from phiscan.errors import InputError

N_PATHS = 65_536  # kept in memory, of those that were found last
_SERVER = re.compile(r"\A//[^/]+/")


class LoggedPaths:
    """Files, each a number, by the path that a log has: 16 bytes of memory for each.

    ``roots``: the roots by number; ``table``: further beginnings of paths, and the root or folder below one
    that each is; ``files``: root, path below it, and number; ``folds``: letter case does not matter.

    Raises:
        InputError: the table names a root that is none.
    """

    def __init__(
        self,
        roots: Mapping[int, bytes],
        table: Mapping[str, str],
        files: Iterable[Sequence[Any]],
        *,
        folds: bool,
    ) -> None:
        self._folds = folds
        self._places = {self._name(path) + "/": place for path, place in _places(roots, table)}
        self._depth = max((path.count("/") for path in self._places), default=0)
        hashed = ((self._hash(root_id, os.fsdecode(path)), number) for root_id, path, number in files)
        found = np.fromiter(hashed, [("hash", np.uint64), ("number", np.int64)])
        order = np.argsort(found["hash"])
        self._hashes, self._numbers = found["hash"][order], found["number"][order]
        self.find = lru_cache(N_PATHS)(self._find)

    def _name(self, path: str) -> str:
        return unicodedata.normalize("NFC", path.casefold()) if self._folds else path

    def _hash(self, root_id: int, path: str) -> int:
        named = f"{root_id}\0{self._name(path)}".encode("utf-8", "surrogatepass")
        return int.from_bytes(blake2b(named, digest_size=8).digest())

    def _find(self, written: str) -> tuple[int, str, int]:
        """Return the root, the folder that the log is of, and the file; 0 = none, or several of this name."""
        parts = self._name(written).split("/", self._depth)
        for length in range(len(parts) - 1, 0, -1):
            begin, rest = "/".join(parts[:length]) + "/", "/".join(parts[length:])
            # //server/share, where the table says \\*\share
            place = self._places.get(begin) or self._places.get(_SERVER.sub("//*/", begin))
            if place is not None:
                root_id, below = place
                wanted = np.uint64(self._hash(root_id, below + rest))
                at, end = (np.searchsorted(self._hashes, wanted, side) for side in ("left", "right"))
                return root_id, below, int(self._numbers[at]) if end - at == 1 else 0
        return 0, "", 0


def _places(roots: Mapping[int, bytes], table: Mapping[str, str]) -> Iterator[tuple[str, tuple[int, str]]]:
    """Yield beginnings of paths, with the root and the folder in it; those of the table last: they hold."""
    for number, raw in roots.items():
        name = os.fsdecode(raw).rstrip("/")
        if found := re.fullmatch(r"smb://([^/:]*)[^/]*(.*)", name):
            host, rest = found.groups()
            is_address = host.replace(".", "").isdecimal()
            server = host if is_address else host.partition(".")[0]  # as its own log has it
            yield f"//{server}{rest}", (number, "")
        yield name, (number, "")
    for prefix, wanted in table.items():
        inside = [(os.fsdecode(raw).rstrip("/"), number) for number, raw in roots.items()]
        inside = [one for one in inside if f"{wanted.rstrip('/')}/".startswith(f"{one[0]}/")]
        if not inside:
            message = f"accesslog.paths: {wanted}: expected a root that was scanned, or a folder in one"
            raise InputError(message)
        name, number = max(inside, key=lambda one: len(one[0]))
        below = wanted.rstrip("/")[len(name) :].lstrip("/")
        yield prefix.replace("\\", "/").rstrip("/"), (number, f"{below}/" if below else "")
