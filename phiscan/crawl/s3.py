"""Crawl a bucket or prefix in Amazon S3 or a compatible store: ``s3://bucket/prefix``.

The bucket is listed page by page in the order of its keys, with S3's own calls: through fsspec a whole
prefix would be held in memory. Each range of an object is requested with its ETag, so that a replacement
during reading is detected. Source: Amazon S3 API reference, "Error responses"; Amazon S3 user guide, "Access
control list (ACL) overview", predefined groups.
"""

from __future__ import annotations

import logging
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.remote import RangeFile, ServerShare
from phiscan.crawl.share import (
    Crawled,
    RefusedError,
    UnansweredError,
    identity_number,
    known_error,
    optional,
    unlisted,
)
from phiscan.errors import PhiscanError
from phiscan.model import FailReason, SkipReason, SourceFile

for _name in ("s3fs", "fsspec", "aiobotocore", "botocore", "asyncio"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

RANGE_BYTES = 8 * 1024**2  # per request
_LAST_CHARACTER = "\U0010ffff"
_FORBIDDEN = (
    *("AccessDenied", "403", "Forbidden", "AllAccessDisabled", "AccountProblem", "ExpiredToken"),
    *("InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch", "RequestTimeTooSkewed"),
)
_CHANGED = ("NoSuchKey", "NoSuchVersion", "404", "412", "416", "PreconditionFailed", "InvalidRange")
_REFUSED = {
    **{code: (FailReason.NO_PERMISSION, code) for code in _FORBIDDEN},
    **dict.fromkeys(_CHANGED, (FailReason.CHANGED, "vanished or replaced before it was read")),
    "NoSuchBucket": (FailReason.IO_ERROR, "no such bucket"),
    "InvalidBucketName": (FailReason.IO_ERROR, "no name of a bucket"),
    "InvalidObjectState": (FailReason.IO_ERROR, "archived, and not restored"),
    "PermanentRedirect": (FailReason.IO_ERROR, "the bucket is in another region"),
}
# Raised before anything is sent.
_NO_CREDENTIALS = frozenset({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"})
_GROUPS = {
    "http://acs.amazonaws.com/groups/global/AllUsers": "everyone",
    "http://acs.amazonaws.com/groups/global/AuthenticatedUsers": "group of all AWS accounts",
    "http://acs.amazonaws.com/groups/s3/LogDelivery": "group log delivery",
}
_MAY_READ = frozenset({"READ", "FULL_CONTROL"})


class S3Share(ServerShare):
    """One root in an S3 store."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        with optional("s3://", "s3fs", "s3"):
            from s3fs import S3FileSystem  # noqa: PLC0415 (an optional part, and slow to load)
        super().__init__(root, settings)
        self._prefix = "".join(part + "/" for part in self.location.path)
        self._gives_lists = True  # of access; after one refusal no more are requested
        who = self.credentials
        self._files = S3FileSystem(
            anon=settings.s3_access == "anonymous",
            endpoint_url=who.endpoint or settings.s3_endpoint or None,
            key=who.username or None,
            secret=who.password or None,
            token=who.token or None,
            config_kwargs={
                "connect_timeout": settings.timeout_s,
                "read_timeout": settings.timeout_s,
                "max_pool_connections": settings.connections + 1,
                "retries": {"total_max_attempts": 1},  # retries are made by RetryPolicy
            },
            use_listings_cache=False,
            skip_instance_cache=True,
        )
        self._files.retries = 1

    def check(self) -> None:
        """List one key of the root; see ``ServerShare``."""
        page = self._call("list_objects_v2", Prefix=self._prefix, MaxKeys=1)
        if self._prefix and not page.get("Contents"):
            raise RefusedError(FailReason.IO_ERROR, "the bucket has no object there")

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (objects have no links)
        """Yield every object below the root, by key; see ``ServerShare``. Memory: one page of keys."""
        where: dict[str, str] = {}
        listed = partial(self._call, "list_objects_v2", Prefix=self._prefix)
        try:
            while True:
                page = self.retry_policy.run(partial(listed, **where))
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
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled object at a position; see ``ServerShare``."""
        key = self._prefix + _text(source.path)
        first, size, etag = self._range(key, offset)
        if size != source.size or identity_number(etag) != source.inode:
            raise RefusedError(FailReason.CHANGED, "not the object that was crawled")

        owner, readers = self._access_of(key)
        described = replace(source, owner=owner, readers=readers)
        yield RangeFile(described, lambda start: self._range(key, start, etag)[0], offset, first=first)

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

    def _call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call one operation of S3 on the bucket."""
        try:
            answer: dict[str, Any] = self._files.call_s3(method, Bucket=self.location.host, **arguments)
        except Exception as error:  # noqa: BLE001 (of several libraries; all mean no answer)
            raise _translated(error) from None
        return answer

    def _range(self, key: str, start: int, etag: str = "") -> tuple[bytes, int, str]:
        """Return a range of an object, and size and ETag of the whole, which must be ``etag`` if given."""
        from fsspec.asyn import sync  # noqa: PLC0415 (an optional part)

        requested = {
            "Range": f"bytes={start}-{start + RANGE_BYTES - 1}",
            **({"IfMatch": etag} if etag else {}),
        }
        loop, timeout_s = self._files.loop, 2 * self.settings.timeout_s
        try:
            got: tuple[bytes, int, str] = sync(loop, self._get, key, start, requested, timeout=timeout_s)
        except Exception as error:  # noqa: BLE001 (of several libraries; all mean no answer)
            raise _translated(error) from None
        return got

    async def _get(self, key: str, start: int, requested: dict[str, str]) -> tuple[bytes, int, str]:
        how, end = {"Bucket": self.location.host, "Key": key, **requested}, start + RANGE_BYTES
        answer = await self._files._call_s3("get_object", **how)  # noqa: SLF001 (inside the event loop there is no other way)
        async with answer["Body"] as body:
            data = bytearray()
            while len(data) < end and (more := await body.read(end - len(data))):
                data += more
        ranged = answer.get("ContentRange", "")  # without: the store ignores ranges and returns the whole
        size = int(ranged.rpartition("/")[2] or answer["ContentLength"])
        return bytes(data[0 if ranged else start :]), size, answer["ETag"]

    def _access_of(self, key: str) -> tuple[str, tuple[str, ...]]:
        """Return owner and readers of an object ("everyone", "user NAME", "group NAME"), if known."""
        everyone = ("everyone",) if self._is_public else ()
        try:
            answer = self._call("get_object_acl", Key=key) if self._gives_lists else {}
        except (RefusedError, UnansweredError) as error:
            self._gives_lists = isinstance(error, UnansweredError)
            answer = {}
        owner = answer.get("Owner", {})
        granted = (
            _grantee(grant.get("Grantee", {}))
            for grant in answer.get("Grants", ())
            if grant.get("Permission") in _MAY_READ
        )
        return owner.get("DisplayName") or owner.get("ID", ""), tuple(dict.fromkeys((*everyone, *granted)))

    @cached_property
    def _is_public(self) -> bool:
        """Whether the policy of the bucket lets everyone read."""
        try:
            answer = self._call("get_bucket_policy_status")
            return bool(answer.get("PolicyStatus", {}).get("IsPublic"))
        except (RefusedError, UnansweredError):  # no policy, or no right to read it
            return False


def _translated(error: Exception) -> PhiscanError:
    """Return phiscan's error for the library's; without the store's message, which may quote its input."""
    source = error if hasattr(error, "response") else error.__cause__
    response = getattr(source, "response", None)
    if not isinstance(response, dict):
        name = type(source or error).__name__
        if name in _NO_CREDENTIALS:
            return RefusedError(FailReason.NO_PERMISSION, "no credentials")
        return UnansweredError(f"no answer from the store ({name})", is_gone=True)
    code = str(response.get("Error", {}).get("Code", ""))
    if code in _REFUSED:
        return RefusedError(*_REFUSED[code])
    return UnansweredError(f"the store answered {code or 'nothing'}", is_gone=False)


def _grantee(grantee: dict[str, Any]) -> str:
    """Return the name of a grantee.

    >>> _grantee({"Type": "Group", "URI": "http://acs.amazonaws.com/groups/global/AllUsers"})
    'everyone'
    """
    if grantee.get("Type") == "Group":
        uri = grantee.get("URI", "")
        return _GROUPS.get(uri, f"group {uri.rpartition('/')[2]}")
    return f"user {grantee.get('DisplayName') or grantee.get('EmailAddress') or grantee.get('ID', '')}"


def _raw(name: str) -> bytes:
    return name.encode("utf-8", "surrogatepass")


def _text(path: bytes) -> str:
    return path.decode("utf-8", "surrogatepass")
