"""Requests to one bucket through s3fs, with errors translated to phiscan's."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason

for _name in ("s3fs", "fsspec", "aiobotocore", "botocore", "asyncio"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)

# Source: Amazon S3 API reference, "Error responses".
_FORBIDDEN = frozenset(
    {
        *("AccessDenied", "403", "Forbidden", "AllAccessDisabled", "AccountProblem", "ExpiredToken"),
        *("InvalidAccessKeyId", "InvalidToken", "SignatureDoesNotMatch", "RequestTimeTooSkewed"),
    }
)
_CHANGED = frozenset(
    {"NoSuchKey", "NoSuchVersion", "404", "412", "416", "PreconditionFailed", "InvalidRange"}
)
_REFUSED = {
    "NoSuchBucket": "no such bucket",
    "InvalidBucketName": "no name of a bucket",
    "InvalidObjectState": "archived, and not restored",
    "PermanentRedirect": "the bucket is in another region",
}
# Raised here, before anything is sent.
_NO_CREDENTIALS = frozenset({"NoCredentialsError", "PartialCredentialsError", "ProfileNotFound"})


@dataclass(frozen=True, slots=True)
class Range:
    """A part of an object, with size and ETag of the whole."""

    data: bytes
    size: int
    etag: str


class S3Client:
    """Requests to one bucket; thread-safe."""

    def __init__(self, bucket: str, settings: SharesTable, credentials: Credentials) -> None:
        try:
            from s3fs import S3FileSystem  # noqa: PLC0415 (an optional part, and slow to load)
        except ImportError:
            message = "s3://: needs the package s3fs; expected phiscan installed with [s3]"
            raise InputError(message) from None
        self._bucket = bucket
        self._timeout_s = settings.timeout_s
        self._files = S3FileSystem(
            anon=settings.s3_access == "anonymous",
            endpoint_url=credentials.endpoint or settings.s3_endpoint or None,
            key=credentials.username or None,
            secret=credentials.password or None,
            token=credentials.token or None,
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

    def call(self, method: str, **arguments: Any) -> dict[str, Any]:
        """Call one operation of S3 on the bucket.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        try:
            answer: dict[str, Any] = self._files.call_s3(method, Bucket=self._bucket, **arguments)
        except Exception as error:  # noqa: BLE001 (of several libraries; all mean no answer)
            raise _translated(error) from None
        return answer

    def get(self, key: str, start: int, n_bytes: int, *, etag: str = "") -> Range:
        """Return a range of an object; with an ``etag``, only if the object still has it.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        from fsspec.asyn import sync  # noqa: PLC0415 (an optional part)

        part, same = (start, start + n_bytes), {"IfMatch": etag} if etag else {}
        try:
            got: Range = sync(self._files.loop, self._get, key, part, same, timeout=2 * self._timeout_s)
        except Exception as error:  # noqa: BLE001 (of several libraries; all mean no answer)
            raise _translated(error) from None
        return got

    async def _get(self, key: str, part: tuple[int, int], requested: dict[str, str]) -> Range:
        start, end = part
        requested = {"Range": f"bytes={start}-{end - 1}", **requested}
        answer = await self._files._call_s3("get_object", Bucket=self._bucket, Key=key, **requested)  # noqa: SLF001 (inside the event loop there is no other way)
        async with answer["Body"] as body:
            data = bytearray()
            while len(data) < end and (more := await body.read(end - len(data))):
                data += more
        ranged = answer.get("ContentRange", "")  # without: the store ignores ranges and returns the whole
        size = int(ranged.rpartition("/")[2] or answer["ContentLength"])
        return Range(bytes(data[0 if ranged else start :]), size, answer["ETag"])


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
    if code in _FORBIDDEN:
        return RefusedError(FailReason.NO_PERMISSION, code)
    if code in _CHANGED:
        return RefusedError(FailReason.CHANGED, "vanished or replaced before it was read")
    if code in _REFUSED:
        return RefusedError(FailReason.IO_ERROR, _REFUSED[code])
    return UnansweredError(f"the store answered {code or 'nothing'}", is_gone=False)
