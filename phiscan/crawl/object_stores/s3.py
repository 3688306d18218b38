"""Crawl a bucket or prefix in Amazon S3 or a compatible store: ``s3://bucket/prefix``.

The bucket is listed page by page in the order of its keys, with S3's own calls: through fsspec a whole
prefix would be held in memory. Each range of an object is requested with its ETag, so that a replacement
during reading is detected.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.credentials import credentials_of
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import parse_url
from phiscan.crawl.object_stores.s3_access import AccessLists
from phiscan.crawl.object_stores.s3_client import Range, S3Client
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.share import Crawled, OpenFile, identity_number, unlisted
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import InputError
from phiscan.model import FailReason, SkipReason, SourceFile

RANGE_BYTES = 8 * 1024**2  # per request
_LAST_CHARACTER = "\U0010ffff"


class S3Share:
    """One root in an S3 store."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        location = parse_url(root.decode("utf-8", "surrogateescape"))
        self.root = location.root
        self._prefix = "".join(part + "/" for part in location.path)
        self._patience = RetryPolicy(settings)
        self._client = S3Client(location.host, settings, credentials_of(self.root, settings))
        self._access = AccessLists(self._client)

    @property
    def retry_policy(self) -> RetryPolicy:
        """The retry policy of this store."""
        return self._patience

    def connect(self) -> None:
        """List one key of the root; see ``Share``."""
        shown = self.root.decode("utf-8", "backslashreplace")
        try:
            page = self._client.call("list_objects_v2", Prefix=self._prefix, MaxKeys=1)
        except (RefusedError, UnansweredError) as error:
            message = f"{shown}: cannot be listed: {error.detail}"
            raise InputError(message) from None
        if self._prefix and not page.get("Contents"):
            message = f"{shown}: the bucket has no object there"
            raise InputError(message)

    def close(self) -> None:
        """Send no more requests; see ``RemoteShare``."""
        self._patience.stop()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (objects have no links)
        """Yield every object below the root, by key; see ``Share``. Memory: one page of keys."""
        where: dict[str, str] = {}
        while True:
            try:
                page = self._patience.run(partial(self._page, where))
            except (RefusedError, UnansweredError) as error:
                yield unlisted(self.root, b"", error.reason, f"not listed to its end: {error.detail}")
                return
            beyond = yield from self._judge_page(page.get("Contents", ()), ignore)
            if beyond:  # after an ignored folder, whose keys need not be listed
                where = {"StartAfter": f"{self._prefix}{beyond}/{_LAST_CHARACTER}"}
            elif page.get("IsTruncated"):
                where = {"ContinuationToken": page["NextContinuationToken"]}
            else:
                return

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled object at a position; see ``RemoteShare``."""
        key = self._prefix + _text(source.path)
        first = self._client.get(key, offset, RANGE_BYTES)
        if first.size != source.size or identity_number(first.etag) != source.inode:
            raise RefusedError(FailReason.CHANGED, "not the object that was crawled")
        owner, readers = self._access.of(key)
        described = replace(source, owner=owner, readers=readers)
        yield _S3File(described, self._client, key, first, offset)

    def _page(self, where: dict[str, str]) -> dict[str, Any]:
        return self._client.call("list_objects_v2", Prefix=self._prefix, **where)

    def _judge_page(self, objects: Any, ignore: IgnoreRules) -> Generator[Crawled, None, str]:
        """Yield the entries of one page; return the ignored folder at which it stopped, or ""."""
        for listed in objects:
            name = listed["Key"][len(self._prefix) :]
            if not name or (name.endswith("/") and not listed["Size"]):
                continue  # the marker of an empty folder
            folder = self._ignored_folder(name, ignore)
            if folder:
                source = SourceFile(self.root, _raw(folder), 0, 0, 0, 0, 0)
                yield Crawled(source, skip=SkipReason.IGNORED)
                return folder
            moment = int(listed["LastModified"].timestamp() * 1000) * 1_000_000
            source = SourceFile(
                root=self.root,
                path=_raw(name),
                size=listed["Size"],
                mtime_ns=moment,
                ctime_ns=moment,
                inode=identity_number(listed["ETag"]),
                device=0,
            )
            skip = SkipReason.EMPTY if not source.size else None
            if ignore.matches(source.path, source.absolute, is_folder=False):
                skip = SkipReason.IGNORED
            yield Crawled(source, skip=skip)
        return ""

    def _ignored_folder(self, name: str, ignore: IgnoreRules) -> str:
        """Return the outermost ignored folder of a name, or ""."""
        if not ignore.spec.patterns:
            return ""
        at = name.find("/")
        while at > 0:
            raw = _raw(name[:at])
            if ignore.matches(raw, self.root + b"/" + raw, is_folder=True):
                return name[:at]
            at = name.find("/", at + 1)
        return ""


class _S3File:
    """An object, read range by range."""

    def __init__(self, source: SourceFile, client: S3Client, key: str, first: Range, offset: int) -> None:
        self._source = source
        self._client = client
        self._key = key
        self._etag = first.etag
        self._data = first.data
        self._next = offset + len(first.data)

    @property
    def source(self) -> SourceFile:
        """The object with its owner and its readers."""
        return self._source

    @property
    def n_bytes(self) -> int:
        """Its size when it was crawled."""
        return self._source.size

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        if not self._data and self._next < self._source.size:
            self._data = self._client.get(self._key, self._next, RANGE_BYTES, etag=self._etag).data
            self._next += len(self._data)
        data, self._data = self._data[:n_bytes], self._data[n_bytes:]
        return data

    def verify(self) -> None:
        """Do nothing: every range was requested with the ETag of the crawled object."""


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogatepass")
