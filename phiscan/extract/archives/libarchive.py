"""The libarchive library (BSD licence), where it is installed: archives that Python cannot open itself.

Only the formats named here are switched on: others of the library read files beside the archive (mtree) or
start programs (lrzip). Everything happens in memory.
"""

from __future__ import annotations

import ctypes
import logging
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from phiscan.errors import ExtractError
from phiscan.model import FailReason

_FORMATS = ("rar", "rar5", "cab", "ar", "cpio", "lha", "xar", "7zip", "zip_seekable")
_BLOCK_BYTES = 1024**2  # that are unpacked at once
_RAW_FILTERS = ("lzip", "compress", "lzma")


@lru_cache(maxsize=1)
def library() -> Any:
    """Return the library's functions, or None where it is not installed."""
    os.environ.setdefault("LIBARCHIVE", "libarchive.so.13")  # else a program is started that looks for it
    logging.getLogger("libarchive").disabled = True  # its warnings quote names of members
    try:
        from libarchive import ffi  # noqa: PLC0415 (loads the library)
    except (OSError, AttributeError):
        return None
    for name in ("read_has_encrypted_entries", "entry_is_data_encrypted"):
        ffi.ffi(name, [ctypes.c_void_p], ctypes.c_int)
    ffi.ffi("version_string", [], ctypes.c_char_p)
    return ffi


def version() -> str:
    """Return the library's own version, empty where it is not installed."""
    lib = library()
    return str(lib.version_string().decode("ascii", "replace")) if lib is not None else ""


@dataclass(slots=True)
class Entry:
    """One member: its name, and its bytes as they are unpacked; to be read before the next one."""

    name: str
    is_encrypted: bool
    _blocks: Iterator[bytes] = field(repr=False)
    damaged: bool = False

    def read(self, _size: int, /) -> bytes:
        """Return some bytes; none at the end or at the damage."""
        try:
            return next(self._blocks, b"")
        except library().ArchiveError:
            self.damaged = True
            return b""


def entries(data: bytes, passwords: Sequence[str] = (), *, raw: bool = False) -> Iterator[Entry]:
    """Yield the files of an archive, or with ``raw`` the one stream of a compressed file.

    Raises:
        ExtractError: unsupported (the library is missing), encrypted or corrupt.
    """
    lib = library()
    if lib is None:
        raise ExtractError(FailReason.UNSUPPORTED, "needs libarchive, which is not installed")
    from libarchive.read import ArchiveRead  # noqa: PLC0415 (loads the library)

    archive = lib.read_new()
    try:
        for name in ("raw",) if raw else _FORMATS:
            lib.get_read_format_function(name)(archive)
        for name in _RAW_FILTERS if raw else ():
            lib.get_read_filter_function(name)(archive)
        for password in passwords:
            lib.read_add_passphrase(archive, password.encode())
        lib.read_open_memory(archive, data, len(data))
        for entry in ArchiveRead(archive):
            if entry.filetype in (0, stat.S_IFREG):
                path: Any = entry.pathname or ""  # bytes where they are no UTF-8
                shown = path.decode("utf-8", "replace") if isinstance(path, bytes) else path
                is_encrypted = bool(lib.entry_is_data_encrypted(entry._entry_p))  # noqa: SLF001 (no other way)
                yield Entry(shown, is_encrypted, entry.get_blocks(_BLOCK_BYTES))
    except lib.ArchiveError:
        if lib.read_has_encrypted_entries(archive) > 0:
            raise ExtractError(FailReason.ENCRYPTED) from None
        raise ExtractError(FailReason.CORRUPT, "damaged archive") from None
    finally:
        lib.read_free(archive)
