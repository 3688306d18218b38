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
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.object_stores.s3_access import AccessLists
from phiscan.crawl.object_stores.s3_client import S3Client
from phiscan.crawl.remote import RangeFile, ServerShare
from phiscan.crawl.share import Crawled, OpenFile, identity_number, unlisted
from phiscan.crawl.share_errors import RefusedError, known_error
from phiscan.model import FailReason, SkipReason, SourceFile

RANGE_BYTES = 8 * 1024**2  # per request
_LAST_CHARACTER = "\U0010ffff"


class S3Share(ServerShare):
    """One root in an S3 store."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._prefix = "".join(part + "/" for part in self.location.path)
        self._client = S3Client(self.location.host, settings, self.credentials)
        self._access = AccessLists(self._client)

    def check(self) -> None:
        """List one key of the root; see ``ServerShare``."""
        page = self._client.call("list_objects_v2", Prefix=self._prefix, MaxKeys=1)
        if self._prefix and not page.get("Contents"):
            raise RefusedError(FailReason.IO_ERROR, "the bucket has no object there")

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (objects have no links)
        """Yield every object below the root, by key; see ``Share``. Memory: one page of keys."""
        where: dict[str, str] = {}
        try:
            while True:
                page = self.retry_policy.run(partial(self._page, where))
                beyond = yield from self._judge_page(page.get("Contents", ()), ignore)
                if beyond:  # after an ignored folder, whose keys need not be listed
                    where = {"StartAfter": f"{self._prefix}{beyond}/{_LAST_CHARACTER}"}
                elif page.get("IsTruncated"):
                    where = {"ContinuationToken": page["NextContinuationToken"]}
                else:
                    return
        except Exception as error:  # noqa: BLE001 (a page may be damaged)
            found = known_error(error)
            yield unlisted(self.root, b"", found.reason, f"not listed to its end: {found.detail}")

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled object at a position; see ``RemoteShare``."""
        key = self._prefix + _text(source.path)
        first = self._client.get(key, offset, RANGE_BYTES)
        if first.size != source.size or identity_number(first.etag) != source.inode:
            raise RefusedError(FailReason.CHANGED, "not the object that was crawled")

        def fetch(start: int) -> bytes:
            return self._client.get(key, start, RANGE_BYTES, etag=first.etag).data

        owner, readers = self._access.of(key)
        described = replace(source, owner=owner, readers=readers)
        yield RangeFile(described, fetch, offset, first=first.data)

    def _page(self, where: dict[str, str]) -> dict[str, Any]:
        return self._client.call("list_objects_v2", Prefix=self._prefix, **where)

    def _judge_page(self, objects: Any, ignore: IgnoreRules) -> Generator[Crawled, None, str]:
        """Yield the entries of one page; return the ignored folder at which it stopped, or ""."""
        for listed in objects:
            name = listed["Key"][len(self._prefix) :]
            if not name or (name.endswith("/") and not listed["Size"]):
                continue  # the marker of an empty folder
            folder = ignore.ignored_folder(self.root, _raw(name.rpartition("/")[0]))
            if folder:
                source = SourceFile(self.root, folder, 0, 0, 0, 0, 0)
                yield Crawled(source, skip=SkipReason.IGNORED)
                return _text(folder)
            moment = int(listed["LastModified"].timestamp() * 1000) * 1_000_000
            size, number = listed["Size"], identity_number(listed["ETag"])
            source = SourceFile(self.root, _raw(name), size, moment, moment, number, 0)
            skip = SkipReason.EMPTY if not source.size else None
            if ignore.matches(source.path, source.absolute, is_folder=False):
                skip = SkipReason.IGNORED
            yield Crawled(source, skip=skip)
        return ""


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogatepass")
