"""Crawl the other object stores that fsspec supports: Google Cloud Storage, Azure Blob Storage.

They are listed folder by folder. A hash of the content marks of an object (ETag, generation, checksum) is
used as its inode, so that a replaced object is a different file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import Crawled, RefusedError, UnansweredError, identity_number, nanoseconds_of
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason, SourceFile

RANGE_BYTES = 8 * 1024**2  # per request
_MARKS = ("etag", "generation", "version_id", "md5hash", "content_md5", "crc32c")
_TIMES = ("mtime", "updated", "last_modified", "lastmodified", "timecreated", "created")


class ObjectStoreShare(FolderShare):
    """One root in a store supported by fsspec; credentials come from the store's own environment."""

    def __init__(self, root: bytes, settings: SharesTable, files: Any = None) -> None:
        super().__init__(root, settings)
        self._files = _filesystem(self.location.scheme) if files is None else files
        self._base = "/".join((self.location.host, *self.location.path))

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled object at a position; see ``ServerShare``."""
        name = self._name(source.path)

        def fetch(start: int) -> bytes:
            end = min(start + RANGE_BYTES, source.size)
            return bytes(self._ask(lambda: self._files.cat_file(name, start=start, end=end)))

        def verify() -> None:
            now = _source(self.root, source.path, self._ask(lambda: self._files.info(name)))
            if (now.size, now.inode) != (source.size, source.inode):
                raise RefusedError(FailReason.CHANGED, "not the object that was crawled")

        verify()
        yield RangeFile(source, fetch, offset, verify=verify)

    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the entries of a folder; see ``FolderShare``."""
        base = self._name(folder)
        entries = []
        for info in self._ask(lambda: self._files.ls(base, detail=True)):
            name = str(info["name"]).rstrip("/").rpartition("/")[2].encode("utf-8", "surrogatepass")
            if not name or str(info["name"]).strip("/") == base.strip("/"):
                continue  # the marker of the folder itself
            path = folder + b"/" + name if folder else name
            is_folder = info.get("type") == "directory"
            entries.append(Crawled(_source(self.root, path, info), is_folder=is_folder))
        return entries

    def _ask(self, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Exception as error:  # noqa: BLE001 (of any library after fsspec)
            raise _translated(error) from None

    def _name(self, path: bytes) -> str:
        return f"{self._base}/{path.decode('utf-8', 'surrogatepass')}" if path else self._base


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
    moment = next((nanoseconds_of(attributes[name]) for name in _TIMES if attributes.get(name)), 0)
    # Without any mark, a replaced object is recognised by its modification time.
    marks = [str(attributes[name]) for name in _MARKS if attributes.get(name)] or [str(moment)]
    size = int(attributes.get("size") or 0)
    return SourceFile(root, path, size, moment, moment, identity_number(*marks), 0)


def _translated(error: Exception) -> PhiscanError:
    if isinstance(error, PermissionError):
        return RefusedError(FailReason.NO_PERMISSION, "access denied")
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return RefusedError(FailReason.CHANGED, "vanished before it was read")
    return UnansweredError(f"no answer from the store ({type(error).__name__})", is_gone=True)
