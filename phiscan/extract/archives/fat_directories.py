"""Files of a FAT file system that fls does not list, read from the directory entries.

fls leaves out an entry whose size is larger than the file system, without a message.

Source: Microsoft (2000), "FAT: General Overview of On-Disk Format", version 1.03.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass

_SECTOR = 512
_ENTRY = 32
_FIRST_CLUSTER = 2
_MOST_TABLE_BYTES = 16 * 1024**2
_MOST_DIRECTORIES = 20_000
_MOST_DIRECTORY_BYTES = 2 * 1024**2
_VOLUME, _DIRECTORY, _LONG_NAME = 0x08, 0x10, 0x0F
_CLUSTERS_OF_FAT12, _CLUSTERS_OF_FAT16 = 4085, 65525
_SECTOR_SIZES = frozenset({512, 1024, 2048, 4096})


@dataclass(frozen=True, slots=True)
class _Fat:
    start: int  # of the file system, in bytes; the following places are counted from there
    root: int
    n_root_bytes: int
    root_cluster: int
    data: int
    n_cluster_bytes: int
    n_clusters: int
    bits: int
    table: bytes

    def chain(self, cluster: int) -> Iterator[int]:
        """Yield the clusters that follow each other in the table, each once."""
        seen = set()
        while _FIRST_CLUSTER <= cluster < self.n_clusters + _FIRST_CLUSTER and cluster not in seen:
            seen.add(cluster)
            yield cluster
            cluster = self._next(cluster)

    def _next(self, cluster: int) -> int:
        if self.bits == 12:  # noqa: PLR2004 (two numbers in three bytes)
            at = cluster * 3 // 2
            value = int.from_bytes(self.table[at : at + 2], "little")
            return value >> 4 if cluster % 2 else value & 0xFFF
        width = self.bits // 8
        return int.from_bytes(self.table[cluster * width : (cluster + 1) * width], "little") & 0x0FFFFFFF


def impossible_files(descriptor: int, first_sector: int) -> Iterator[tuple[str, int]]:
    """Yield name and size of each file that is larger than its FAT file system, by a walk of its directories.

    Nothing is yielded where there is no FAT file system.
    """
    fat = _opened(descriptor, first_sector * _SECTOR)
    if fat is None:
        return
    waiting: list[tuple[str, int]] = [("", fat.root_cluster)]
    seen: set[int] = set()
    while waiting and len(seen) < _MOST_DIRECTORIES:
        folder, cluster = waiting.pop()
        if cluster in seen:
            continue
        seen.add(cluster)
        for entry in _entries(_directory(descriptor, fat, cluster)):
            name = folder + _name(entry)
            kind = entry[11]
            if kind & _DIRECTORY:
                high, low = struct.unpack_from("<H", entry, 20)[0], struct.unpack_from("<H", entry, 26)[0]
                target = low | (high << 16 if fat.bits == 32 else 0)  # noqa: PLR2004 (FAT32)
                if entry[:1] != b"." and target:
                    waiting.append((f"{name}/", target))
                continue
            size = struct.unpack_from("<I", entry, 28)[0]
            if size > fat.n_clusters * fat.n_cluster_bytes:
                yield name, size


def _opened(descriptor: int, start: int) -> _Fat | None:
    boot = os.pread(descriptor, _SECTOR, start)
    if boot[510:512] != b"\x55\xaa":
        return None
    sector, per_cluster, reserved, n_tables, n_root, total = struct.unpack_from("<HBHBHH", boot, 11)
    table_sectors = struct.unpack_from("<H", boot, 22)[0] or struct.unpack_from("<I", boot, 36)[0]
    total = total or struct.unpack_from("<I", boot, 32)[0]
    if sector not in _SECTOR_SIZES or not (per_cluster and reserved and n_tables and table_sectors):
        return None
    root = (reserved + n_tables * table_sectors) * sector
    data = root + -(-n_root * _ENTRY // sector) * sector
    n_clusters = (total * sector - data) // (per_cluster * sector)
    if n_clusters < 1:
        return None
    bits = 12 if n_clusters < _CLUSTERS_OF_FAT12 else 16 if n_clusters < _CLUSTERS_OF_FAT16 else 32
    table = os.pread(descriptor, min(table_sectors * sector, _MOST_TABLE_BYTES), start + reserved * sector)
    root_cluster = struct.unpack_from("<I", boot, 44)[0] if not n_root else 0
    return _Fat(
        start, root, n_root * _ENTRY, root_cluster, data, per_cluster * sector, n_clusters, bits, table
    )


def _directory(descriptor: int, fat: _Fat, cluster: int) -> bytes:
    if not cluster:
        return os.pread(descriptor, fat.n_root_bytes, fat.start + fat.root)
    parts: list[bytes] = []
    n_bytes = 0
    for one in fat.chain(cluster):
        place = fat.start + fat.data + (one - _FIRST_CLUSTER) * fat.n_cluster_bytes
        parts.append(os.pread(descriptor, fat.n_cluster_bytes, place))
        n_bytes += fat.n_cluster_bytes
        if n_bytes >= _MOST_DIRECTORY_BYTES:
            break
    return b"".join(parts)


def _entries(directory: bytes) -> Iterator[bytes]:
    """Yield the entries of files and directories that are in use, up to the end mark."""
    for at in range(0, len(directory) - _ENTRY + 1, _ENTRY):
        entry = directory[at : at + _ENTRY]
        if entry[0] == 0:
            return
        is_long = entry[11] & 0x3F == _LONG_NAME
        if entry[0] != 0xE5 and not is_long and not entry[11] & _VOLUME:  # noqa: PLR2004 (mark of a deleted one)
            yield entry


def _name(entry: bytes) -> str:
    stem, ending = (part.decode("cp437").strip() for part in (entry[:8], entry[8:11]))
    return "".join(
        c if c.isprintable() and c != "/" else "_" for c in stem + (f".{ending}" if ending else "")
    )
