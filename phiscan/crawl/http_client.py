"""HTTP requests of the sources that have an HTTP interface, with errors translated to phiscan's."""

from __future__ import annotations

import logging
import ssl
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from phiscan.config import SharesTable
from phiscan.crawl.location import is_protected
from phiscan.crawl.share import RefusedError, UnansweredError, optional
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason

if TYPE_CHECKING:
    from httpx2 import Response

RANGE_BYTES = 8 * 1024**2  # per request
_MOST_BYTES = 256 * 1024**2  # of an answer that is read whole
SLOWEST = 1024  # bytes a second: what comes more slowly would never end
_PARTIAL = 206
_MAX_REDIRECTS = 5
_OK = 400  # statuses from here on are errors
_UNAUTHORIZED = 401
_REFUSED = {
    403: (FailReason.NO_PERMISSION, "access denied"),
    404: (FailReason.CHANGED, "vanished before it was read"),
    407: (FailReason.NO_PERMISSION, "the proxy asks for a password"),
    410: (FailReason.CHANGED, "vanished before it was read"),
    412: (FailReason.CHANGED, "replaced before it was read"),
    416: (FailReason.CHANGED, "replaced before it was read"),
    423: (FailReason.IO_ERROR, "locked by a program that prevents reading"),
}
_UNSENT = frozenset({"InvalidURL", "LocalProtocolError", "UnicodeEncodeError"})  # nobody was asked
_TEMPORARY = frozenset({408, 425, 429, 509})  # and all from 500 on

# The library logs addresses, which have names of files in them.
for _name in ("httpx2", "httpcore", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)


class HttpClient:
    """Requests to the servers of one source; thread-safe.

    ``sign_in`` returns the headers that sign in (``renew``: those of the last request were refused).
    ``refine`` may give a refusal its own error, by what the server says besides the status.
    """

    def __init__(
        self,
        settings: SharesTable,
        sign_in: Callable[..., Mapping[str, str]] = lambda **_: {},
        *,
        ca_file: str = "",
        extra: str,
        refine: Callable[[Response], PhiscanError | None] = lambda _: None,
    ) -> None:
        with optional(extra, "httpx2", extra):
            import httpx2  # noqa: PLC0415 (an optional part)
        self._sign_in = sign_in
        self._refine = refine
        context = tls_context(ca_file, extra)
        limits = httpx2.Limits(max_connections=settings.connections + 4)
        self._client = httpx2.Client(verify=context, timeout=settings.timeout_s, limits=limits)
        self._timeout_s = settings.timeout_s

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        most_bytes: int = 0,
        **how: Any,
    ) -> Response:
        """Return the answer to a request, read whole; ``how`` as in httpx2 (params, content, json).

        Tokens are sent to the server of the URL alone, never to one that it redirects to. With ``most_bytes``
        no more of the answer is read.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        for renew in (False, True):
            token = self._sign_in(renew=renew)
            answer = self._send((method, url), headers or {}, token, most_bytes, how)
            if answer.status_code != _UNAUTHORIZED:
                break
        if answer.status_code >= _OK:
            raise self._refine(answer) or _refusal(answer.status_code, answer.headers)
        return answer

    def send(
        self, method: str, url: str, *, headers: Mapping[str, str] | None = None, **how: Any
    ) -> Response:
        """Return the answer of any status to a request that signs in to nothing, read whole.

        Raises:
            RefusedError, UnansweredError: not encrypted, redirected too often, or there is no answer.
        """
        return self._send((method, url), headers or {}, {}, 0, how)

    def get_json(self, url: str, *, headers: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the JSON of an address.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        try:
            body: dict[str, Any] = self.request("GET", url, headers=headers).json()
        except ValueError:
            message = "the server's answer is not JSON"
            raise UnansweredError(message, is_gone=False) from None
        return body

    def get_range(self, url: str, start: int, *, headers: Mapping[str, str] | None = None) -> Response:
        """Return the bytes from a position on, at most ``RANGE_BYTES``; none after the end.

        A server that does not know ranges answers 200 with the whole content, which is cut.

        Raises:
            RefusedError, UnansweredError: see there.
        """
        requested = {"Accept-Encoding": "identity", "Range": f"bytes={start}-{start + RANGE_BYTES - 1}"}
        end = start + RANGE_BYTES
        answer = self.request("GET", url, headers={**requested, **(headers or {})}, most_bytes=end)
        if answer.status_code == _PARTIAL:
            if not answer.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
                raise RefusedError(FailReason.IO_ERROR, "the server returns another part of the file")
            start = 0
        answer._content = answer.content[start:end]  # noqa: SLF001 (of a whole file, the part)
        return answer

    def _send(
        self,
        what: tuple[str, str],
        headers: Mapping[str, str],
        token: Mapping[str, str],
        most_bytes: int,
        how: dict[str, Any],
    ) -> Response:
        method, url = what
        answer = None
        try:
            for _ in range(_MAX_REDIRECTS):
                require_protected(url)
                with self._client.stream(method, url, headers={**headers, **token}, **how) as answer:
                    if answer.next_request is None:
                        return self._read(answer, most_bytes)
                    target = str(answer.next_request.url)
                if url.startswith("https:") and not target.startswith("https:"):
                    raise RefusedError(FailReason.IO_ERROR, "redirected to where nothing is encrypted")  # noqa: TRY301 (as any other)
                how = {name: value for name, value in how.items() if name != "params"}
                if urlsplit(target)[:2] != urlsplit(url)[:2]:
                    token, how = {}, {}  # a body may have a secret as well
                url = target
        except PhiscanError:
            raise
        except Exception as error:  # noqa: BLE001 (of the library and of sockets: all mean no answer)
            raise _translated(error, has_begun=answer is not None) from None
        raise RefusedError(FailReason.IO_ERROR, "redirected too often")

    def _read(self, answer: Response, most_bytes: int) -> Response:
        """Read an answer to its end, or to a number of bytes, and return it."""
        data, begun = bytearray(), time.monotonic()
        for chunk in answer.iter_bytes():
            data += chunk
            if len(data) >= (most_bytes or _MOST_BYTES):
                break
            if time.monotonic() > begun + self._timeout_s + len(data) / SLOWEST:
                raise TimeoutError
        if not most_bytes and len(data) >= _MOST_BYTES:
            raise RefusedError(FailReason.TOO_LARGE, f"an answer of over {_MOST_BYTES} bytes")
        answer._content = bytes(data[: most_bytes or None])  # noqa: SLF001 (else the library refuses to return it)
        return answer


def tls_context(ca_file: str, extra: str) -> ssl.SSLContext:
    """Return what checks the certificates of servers: by a file of authorities, or by those of the system.

    Raises:
        InputError: there is no such file, or it has no certificates.
    """
    try:
        return ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError):
        raise InputError(extra, "ca_file: expected a file of certificates in PEM") from None


def require_protected(url: str) -> None:
    """Check that a URL is an https address, or one of this machine: others could read password and content.

    Raises:
        RefusedError: it is not.
    """
    if not is_protected(url):
        raise RefusedError(FailReason.IO_ERROR, "the connection would not be encrypted; expected https")


def _refusal(status: int, headers: Mapping[str, str]) -> PhiscanError:
    """Return the error of a status; the server's own message is left out, which may quote its input."""
    if status == _UNAUTHORIZED:
        return RefusedError(FailReason.NO_PERMISSION, "wrong user name, password or token")
    if status in _REFUSED:
        return RefusedError(*_REFUSED[status])
    detail = f"the server answered {status}"
    if status in _TEMPORARY or status >= 500:  # noqa: PLR2004 (RFC 9110: errors of the server)
        return UnansweredError(detail, is_gone=False, pause_s=_seconds(headers.get("Retry-After", "")))
    return RefusedError(FailReason.IO_ERROR, detail)


def _seconds(asked: str) -> float:
    """Return the pause of a Retry-After: a number of seconds or a date (RFC 9110, 10.2.3); else 0.

    >>> _seconds("120"), _seconds("soon")
    (120.0, 0.0)
    """
    if asked.isascii() and asked.isdecimal():
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return 0.0


def _translated(error: Exception, *, has_begun: bool) -> PhiscanError:
    """Return phiscan's error; a server that began to answer, or was never asked, is not gone."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return RefusedError(FailReason.IO_ERROR, "the server's certificate is not trusted")
        cause = cause.__cause__ or cause.__context__
    is_gone = not has_begun and type(error).__name__ not in _UNSENT
    return UnansweredError(f"no answer from the server ({type(error).__name__})", is_gone=is_gone)
