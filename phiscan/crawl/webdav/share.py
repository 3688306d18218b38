"""Crawl a WebDAV server: ``davs://server[:port]/folder``, on this machine also ``dav://`` without encryption.

Source: RFC 4918, 9.1 (PROPFIND); RFC 9110, 13 and 14 (If-Match, ranges).
"""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote_to_bytes

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, credentials_of
from phiscan.crawl.http_client import HttpClient
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import parse_url
from phiscan.crawl.retries import RetryPolicy
from phiscan.crawl.share import Crawled, OpenFile
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.crawl.walk import Entry, walk
from phiscan.crawl.webdav.properties import (
    ACCESS,
    ETAG,
    STATE,
    Properties,
    access_of,
    is_folder,
    path_of,
    request_for,
    responses,
    source_of,
    text_of,
)
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

if TYPE_CHECKING:
    from httpx2 import Response

_MULTI_STATUS, _PARTIAL = 207, 206
_MOST_BYTES = 1024**3  # of a listing
_RANGE = re.compile(r"bytes (\d+)-\d+/(\d+)")


class WebDavShare:
    """One root on a WebDAV server."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        location = parse_url(root.decode("utf-8", "surrogateescape"))
        self.root = location.root
        who = credentials_of(self.root, settings)
        self._client = HttpClient(settings, _Login(who), ca_file=who.ca_file, extra="webdav")
        self._server = f"{'https' if location.scheme == 'davs' else 'http'}://{location.host}"
        self._server += f":{location.port}" if location.port else ""
        self._folder = "/".join(("", *location.path)).encode("utf-8", "surrogateescape")
        self._patience = RetryPolicy(settings)
        self._is_conditional = True

    @property
    def retry_policy(self) -> RetryPolicy:
        """The retry policy of this server."""
        return self._patience

    def connect(self) -> None:
        """Ask for the root folder; see ``Share``."""
        shown = self.root.decode("utf-8", "backslashreplace")
        try:
            if not is_folder(self._properties(b"")):
                message = f"{shown}: cannot be opened: not a folder"
                raise InputError(message)
        except (RefusedError, UnansweredError) as error:
            what = "no such folder" if error.reason == FailReason.CHANGED else error.detail
            message = f"{shown}: cannot be opened: {what}"
            raise InputError(message) from None
        finally:
            self.close()

    def close(self) -> None:
        """Close all connections; see ``RemoteShare``."""
        self._patience.stop()
        self._client.close()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (a listing does not tell hard links)
        """Yield every entry below the root that is not a folder; see ``Share``."""
        try:
            yield from walk(self.root, lambda path: self._patience.run(lambda: self._list(path)), ignore)
        finally:
            self.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled file at a position; see ``RemoteShare``."""
        properties = self._compared(source, STATE + ACCESS)
        owner, readers = access_of(properties)
        opened = _DavFile(self, replace(source, owner=owner, readers=readers))
        opened.begin(offset, text_of(properties, ETAG))
        yield opened

    def get(self, source: SourceFile, start: int, n_bytes: int, etag: str) -> Response:
        """Return the bytes of a file from a position on, or all of ``n_bytes`` with a start below 0.

        Only of the version with this ETag, if the server takes conditions: some name other ETags in answers
        than in listings.
        """
        url = self._url(source.path)
        headers = {"Accept-Encoding": "identity"}
        if self._is_conditional and etag.startswith('"'):
            headers["If-Match"] = etag
        try:
            if start < 0:
                return self._client.request("GET", url, headers=headers, most_bytes=n_bytes)
            return self._client.get_range(url, start, headers=headers)
        except RefusedError as error:
            if error.reason != FailReason.CHANGED or "If-Match" not in headers:
                raise
            self._compared(source, STATE)
            self._is_conditional = False
            return self.get(source, start, n_bytes, etag)

    def verify(self, source: SourceFile) -> None:
        """Compare what the server says of a file with what was crawled.

        Raises:
            RefusedError: changed.
        """
        self._compared(source, STATE)

    def _compared(self, source: SourceFile, names: str) -> Properties:
        properties = self._properties(source.path, names)
        now = source_of(self.root, source.path, properties)
        same = (now.size, now.mtime_ns, now.inode) == (source.size, source.mtime_ns, source.inode)
        if not same or is_folder(properties):
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
        return properties

    def _properties(self, path: bytes, names: str = STATE) -> Properties:
        answer = self._ask(self._url(path), "0", names)
        found = next(responses(answer), None)
        if found is None:
            raise RefusedError(FailReason.CHANGED, "vanished before it was read")
        return found[1]

    def _list(self, folder: bytes) -> list[Entry]:
        """Return the entries of a folder.

        Raises:
            RefusedError, UnansweredError: it cannot be listed.
        """
        own = self._path(folder).rstrip(b"/")
        base = folder + b"/" if folder else b""
        parents: set[str] = set()  # this folder as the server writes it
        entries = []
        for href, properties in responses(self._ask(self._url(folder).rstrip("/") + "/", "1", STATE)):
            parent, _, last = path_of(href, own).rstrip("/").rpartition("/")
            name = unquote_to_bytes(last)
            if parent not in parents:
                if unquote_to_bytes(f"{parent}/{last}").rstrip(b"/") == own:
                    continue  # the folder itself
                if unquote_to_bytes(parent) != own:
                    raise RefusedError(FailReason.IO_ERROR, "the server lists entries of another folder")
                parents.add(parent)
            if name in {b"", b".", b".."} or b"/" in name or b"\0" in name:
                if not name:
                    continue  # the folder at the top of the server
                raise RefusedError(FailReason.IO_ERROR, "the server lists a name that no file can have")
            entries.append(Entry(source_of(self.root, base + name, properties), is_folder(properties)))
        return entries

    def _ask(self, url: str, depth: str, names: str) -> bytes:
        """Return the answer to PROPFIND."""
        headers = {"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}
        answer = self._client.request(
            "PROPFIND", url, headers=headers, content=request_for(names), most_bytes=_MOST_BYTES
        )
        if answer.status_code != _MULTI_STATUS:
            raise RefusedError(FailReason.IO_ERROR, "the server does not answer as one of WebDAV")
        return answer.content

    def _path(self, path: bytes) -> bytes:
        return b"/".join((self._folder.rstrip(b"/"), path)) if path else self._folder

    def _url(self, path: bytes) -> str:
        return self._server + (quote(self._path(path), safe="/") or "/")


class _Login:
    """Signs in by a token, or by user name and password."""

    def __init__(self, who: Credentials) -> None:
        self._headers: dict[str, str] = {}
        if who.token:
            self._headers["Authorization"] = f"Bearer {who.token}"
        elif who.username:
            pair = base64.b64encode(f"{who.username}:{who.password}".encode())
            self._headers["Authorization"] = f"Basic {pair.decode()}"

    def headers(self, *, renew: bool) -> Mapping[str, str]:
        """Return the headers that sign in; they are not repeated, which might lock the account."""
        if renew:
            raise RefusedError(FailReason.NO_PERMISSION, "wrong user name, password or token")
        return self._headers


class _DavFile:
    """A file on a WebDAV server, read range by range."""

    def __init__(self, share: WebDavShare, source: SourceFile) -> None:
        self._share = share
        self._data = b""
        self._start = 0  # of the data
        self.source = source
        self.n_bytes = 0

    def begin(self, offset: int, etag: str) -> None:
        """Request the first bytes from a position on, which tells the length of the file too."""
        self._etag = etag
        # From a byte before the position, so that a file of this length is not asked for what it has not.
        before = min(offset, 1)
        self._fetch(offset - before)
        self._data, self._start = self._data[before:], offset

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        if not self._data and self._start < self.n_bytes:
            self._fetch(self._start)
        data, self._data = self._data[:n_bytes], self._data[n_bytes:]
        self._start += len(data)
        return data

    def verify(self) -> None:
        """Compare it with what was crawled."""
        self._share.verify(self.source)

    def _fetch(self, start: int) -> None:
        answer = self._share.get(self.source, start, 0, self._etag)
        if answer.status_code == _PARTIAL:
            found = _RANGE.fullmatch(answer.headers.get("Content-Range", ""))
            if found is None or int(found[1]) != start:
                raise RefusedError(
                    FailReason.IO_ERROR, "the server returns another part than the one requested"
                )
            self._data, self.n_bytes = answer.content, int(found[2])
            return
        # The server does not know ranges: the answer is the content, up to the end of the range requested.
        content, length = answer.content, answer.headers.get("Content-Length", "")
        self.n_bytes = int(length) if length.isdecimal() else len(content)
        if len(content) < self.n_bytes:
            content = self._share.get(self.source, -1, self.n_bytes, self._etag).content
        self._data = content[start:]
