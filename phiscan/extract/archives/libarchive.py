"""The libarchive library (BSD licence), where it is installed: archives that Python cannot open itself.

Only the formats named here are switched on: others of the library read files beside the archive (mtree) or
start programs (lrzip). Everything happens in memory.
"""

from __future__ import annotations

import ctypes
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from phiscan.errors import ExtractError
from phiscan.model import FailReason

_NAMES = ("libarchive.so.13", "libarchive.so", "libarchive.13.dylib")
_FORMATS = ("rar", "rar5", "cab", "ar", "cpio", "lha", "xar", "7zip", "zip_seekable")
_RAW_FILTERS = ("lzip", "compress", "lz4", "lzma", "uu")
_OK, _EOF, _WARN = 0, 1, -20


@lru_cache(maxsize=1)
def library() -> Any:
    """Return the library, or None where it is not installed."""
    for name in _NAMES:
        try:
            loaded = ctypes.CDLL(name)
        except OSError:
            continue
        return _declare(loaded)
    return None


def version() -> str:
    """Return the library's own version, empty where it is not installed."""
    lib = library()
    return str(lib.archive_version_string().decode("ascii", "replace")) if lib is not None else ""


def _declare(loaded: Any) -> Any:
    pointer, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t
    for name, result, arguments in (
        ("archive_read_new", pointer, []),
        ("archive_read_free", ctypes.c_int, [pointer]),
        ("archive_read_open_memory", ctypes.c_int, [pointer, pointer, size]),
        ("archive_read_next_header", ctypes.c_int, [pointer, ctypes.POINTER(pointer)]),
        ("archive_read_data", ctypes.c_ssize_t, [pointer, pointer, size]),
        ("archive_read_add_passphrase", ctypes.c_int, [pointer, text]),
        ("archive_read_has_encrypted_entries", ctypes.c_int, [pointer]),
        ("archive_entry_pathname", text, [pointer]),
        ("archive_entry_pathname_w", ctypes.c_wchar_p, [pointer]),
        ("archive_entry_filetype", ctypes.c_uint, [pointer]),
        ("archive_entry_is_data_encrypted", ctypes.c_int, [pointer]),
        ("archive_version_string", text, []),
    ):
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


@dataclass(frozen=True, slots=True)
class Entry:
    """One member: its name, and its bytes as they are unpacked; to be read before the next one."""

    name: str
    is_encrypted: bool
    stream: _Stream


class _Stream:
    """The bytes of the member at which the archive stands."""

    def __init__(self, archive: Any) -> None:
        self._archive = archive
        self.damaged = False

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes; none at the end or at the damage."""
        if self.damaged:
            return b""
        buffer = ctypes.create_string_buffer(size)
        n_bytes = library().archive_read_data(self._archive, buffer, size)
        if n_bytes < 0:
            self.damaged = True
            return b""
        return buffer.raw[:n_bytes]


def entries(data: bytes, passwords: Sequence[str] = (), *, raw: bool = False) -> Iterator[Entry]:
    """Yield the files of an archive, or with ``raw`` the one stream of a compressed file.

    Raises:
        ExtractError: unsupported (the library is missing), encrypted or corrupt.
    """
    lib = library()
    if lib is None:
        raise ExtractError(FailReason.UNSUPPORTED, "needs libarchive, which is not installed")
    archive = lib.archive_read_new()
    try:
        for name in ("raw",) if raw else _FORMATS:
            getattr(lib, f"archive_read_support_format_{name}")(ctypes.c_void_p(archive))
        for name in _RAW_FILTERS if raw else ():
            getattr(lib, f"archive_read_support_filter_{name}")(ctypes.c_void_p(archive))
        for password in passwords:
            lib.archive_read_add_passphrase(archive, password.encode())
        held = ctypes.create_string_buffer(data, len(data))
        if lib.archive_read_open_memory(archive, held, len(data)) < _WARN:
            raise ExtractError(FailReason.CORRUPT, "damaged archive")
        yield from _walk(lib, archive)
    finally:
        lib.archive_read_free(archive)


def _walk(lib: Any, archive: Any) -> Iterator[Entry]:
    entry = ctypes.c_void_p()
    while (status := lib.archive_read_next_header(archive, ctypes.byref(entry))) != _EOF:
        if status < _WARN:
            if lib.archive_read_has_encrypted_entries(archive) > 0:
                raise ExtractError(FailReason.ENCRYPTED)
            raise ExtractError(FailReason.CORRUPT, "damaged archive")
        kind = lib.archive_entry_filetype(entry)
        if kind in (0, stat.S_IFREG):
            encrypted = bool(lib.archive_entry_is_data_encrypted(entry))
            yield Entry(_name(lib, entry), encrypted, _Stream(archive))


def _name(lib: Any, entry: Any) -> str:
    wide = lib.archive_entry_pathname_w(entry)
    if wide is not None:
        return str(wide)
    return (lib.archive_entry_pathname(entry) or b"").decode("utf-8", "replace")
