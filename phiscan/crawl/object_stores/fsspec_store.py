"""Crawl the other object stores that fsspec supports: Google Cloud Storage, Azure Blob Storage.

They are listed folder by folder. A hash of the content marks of an object (ETag, generation, checksum) is
used as its inode, so that a replaced object is a different file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import parse_url
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.share import Crawled, OpenFile, identity_number
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.crawl.walk import Entry, walk
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason, SourceFile

RANGE_BYTES = 8 * 1024**2  # per request
_MARKS = ("etag", "generation", "version_id", "md5hash", "content_md5", "crc32c")
_TIMES = ("mtime", "updated", "last_modified", "lastmodified", "timecreated", "created")


class ObjectStoreShare:
    """One root in a store supported by fsspec; credentials come from the store's own environment."""

    def __init__(self, root: bytes, settings: SharesTable, files: Any = None) -> None:
        location = parse_url(root.decode("utf-8", "surrogateescape"))
        self.root = location.root
        self._files = _filesystem(location.scheme) if files is None else files
        self._base = "/".join((location.host, *location.path))
        self._patience = RetryPolicy(settings)

    @property
    def retry_policy(self) -> RetryPolicy:
        """The retry policy of this store."""
        return self._patience

    def connect(self) -> None:
        """List the root; see ``Share``."""
        try:
            self._list(b"")
        except (RefusedError, UnansweredError) as error:
            shown = self.root.decode("utf-8", "backslashreplace")
            message = f"{shown}: cannot be listed: {error.detail}"
            raise InputError(message) from None

    def close(self) -> None:
        """Send no more requests; see ``RemoteShare``."""
        self._patience.stop()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (objects have no links)
        """Yield every object below the root; see ``Share``."""
        yield from walk(self.root, lambda path: self._patience.run(lambda: self._list(path)), ignore)

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled object at a position; see ``RemoteShare``."""
        name = self._name(source.path)
        opened = _ObjectFile(source, self._files, name, offset)
        opened.verify()
        yield opened

    def _list(self, folder: bytes) -> list[Entry]:
        base = self._name(folder)
        try:
            listed = self._files.ls(base, detail=True)
        except Exception as error:  # noqa: BLE001 (of any library after fsspec)
            raise _translated(error) from None
        entries = []
        for info in listed:
            name = str(info["name"]).rstrip("/").rpartition("/")[2].encode("utf-8", "surrogatepass")
            if not name or str(info["name"]).strip("/") == base.strip("/"):
                continue  # the marker of the folder itself
            path = folder + b"/" + name if folder else name
            is_folder = info.get("type") == "directory"
            entries.append(Entry(_source(self.root, path, info), is_folder=is_folder))
        return entries

    def _name(self, path: bytes) -> str:
        return f"{self._base}/{path.decode('utf-8', 'surrogatepass')}" if path else self._base


class _ObjectFile:
    """An object, read range by range."""

    def __init__(self, source: SourceFile, files: Any, name: str, offset: int) -> None:
        self._source = source
        self._files = files
        self._name = name
        self._next = offset

    @property
    def source(self) -> SourceFile:
        """The object; fsspec provides neither owner nor readers."""
        return self._source

    @property
    def n_bytes(self) -> int:
        """Its size when it was crawled."""
        return self._source.size

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        end = min(self._next + min(n_bytes, RANGE_BYTES), self._source.size)
        if self._next >= end:
            return b""
        try:
            data: bytes = self._files.cat_file(self._name, start=self._next, end=end)
        except Exception as error:  # noqa: BLE001 (of any library after fsspec)
            raise _translated(error) from None
        self._next += len(data)
        return data

    def verify(self) -> None:
        """Compare size and content marks with those that were crawled."""
        try:
            info = self._files.info(self._name)
        except Exception as error:  # noqa: BLE001 (of any library after fsspec)
            raise _translated(error) from None
        now = _source(self._source.root, self._source.path, info)
        if (now.size, now.inode) != (self._source.size, self._source.inode):
            raise RefusedError(FailReason.CHANGED, "not the object that was crawled")


def _filesystem(scheme: str) -> Any:
    try:
        import fsspec  # noqa: PLC0415 (an optional part)

        return fsspec.filesystem(scheme, skip_instance_cache=True, use_listings_cache=False)
    except ImportError:
        package = "gcsfs" if scheme.startswith("g") else "adlfs"
        message = f"{scheme}://: needs the packages fsspec and {package}"
        raise InputError(message) from None
    except Exception as error:  # noqa: BLE001 (of any library after fsspec: no account named, no key)
        message = f"{scheme}://: the store's own settings are not usable: {type(error).__name__}"
        raise InputError(message) from None


def _source(root: bytes, path: bytes, info: Mapping[str, Any]) -> SourceFile:
    attributes = {str(name).lower(): value for name, value in info.items()}
    moment = next((_nanoseconds(attributes[name]) for name in _TIMES if attributes.get(name)), 0)
    # Without any mark, a replaced object is recognised by its modification time.
    marks = [str(attributes[name]) for name in _MARKS if attributes.get(name)] or [str(moment)]
    return SourceFile(
        root, path, int(attributes.get("size") or 0), moment, moment, identity_number(*marks), 0
    )


def _nanoseconds(moment: Any) -> int:
    """Return nanoseconds since 1970 of a time in any of the libraries' formats; 0 for other values.

    >>> _nanoseconds("2026-01-01T00:00:00Z"), _nanoseconds(1.5), _nanoseconds("yesterday")
    (1767225600000000000, 1500000000, 0)
    """
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            return 0
    if isinstance(moment, datetime):
        moment = moment.timestamp()
    # Some stores return the same time as a number or as a date; both have at least microseconds.
    return round(moment * 1_000_000) * 1_000 if isinstance(moment, int | float) else 0


def _translated(error: Exception) -> PhiscanError:
    if isinstance(error, PermissionError):
        return RefusedError(FailReason.NO_PERMISSION, "access denied")
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return RefusedError(FailReason.CHANGED, "vanished before it was read")
    return UnansweredError(f"no answer from the store ({type(error).__name__})", is_gone=True)
