"""Crawl a WebDAV server: ``davs://server[:port]/folder``, on this machine also ``dav://`` without encryption.

Source: RFC 4918, 9.1 and 14 (PROPFIND, properties); RFC 3744, 5 (owner, acl); RFC 9110, 13 and 14 (If-Match,
ranges); Nextcloud's developer manual (its properties in WebDAV; types of shares).
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from lxml import etree

from phiscan.config import SharesTable
from phiscan.crawl.http_client import RANGE_BYTES, HttpClient
from phiscan.crawl.remote import FolderShare, RangeFile
from phiscan.crawl.share import Crawled, RefusedError, identity_number
from phiscan.model import FailReason, SourceFile

_DAV, _OC, _NC = "{DAV:}", "{http://owncloud.org/ns}", "{http://nextcloud.org/ns}"
_SPACES = 'xmlns="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'
_STATE = "<resourcetype/><getcontentlength/><getlastmodified/><getetag/>"
_ACCESS = "<owner/><acl/><oc:owner-id/><oc:share-types/><nc:sharees/>"
_MULTI_STATUS = 207
_MOST_BYTES = 1024**3  # of a listing, or of a file that is read whole
_UNKNOWN_SIZE = 1  # of a file whose listing has no length; when it is read, the answer has it
_NUMBER = re.compile(r"[0-9]{1,18}")  # of bytes; more digits are no size
_N_DATES = 65_536
# Principals of RFC 3744, and types of shares of Nextcloud; others than these are left out.
_PRINCIPALS = {"all": "everyone", "unauthenticated": "everyone", "authenticated": "group Authenticated Users"}
_LINK = "3"
_SHAREES = {
    "0": "user {}",
    "1": "group {}",
    _LINK: "everyone",
    "4": "user {} (guest)",  # by mail
    "6": "user {} (guest)",  # of another server
    "7": "group {}",  # a circle
    "9": "group {} (guest)",
    "10": "group {}",  # the members of a conversation
}
Properties = Mapping[str, Any]  # name -> element of XML


class WebDavShare(FolderShare):
    """One root on a WebDAV server."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        ca_file, place = self.credentials.ca_file, self.location
        self._client = HttpClient(settings, self._sign_in, ca_file=ca_file, extra="webdav")
        self._server = f"{'https' if place.scheme == 'davs' else 'http'}://{place.server}"
        self._folder = "".join(f"/{part}" for part in place.path).encode("utf-8", "surrogateescape")

    def check(self) -> None:
        """Ask for the root folder; see ``ServerShare``."""
        if not _is_folder(self._properties(b"", _STATE)):
            raise RefusedError(FailReason.IO_ERROR, "not a folder")

    def close(self) -> None:
        """Close all connections; see ``ServerShare``."""
        super().close()
        self._client.close()

    def list_folder(self, folder: bytes) -> list[Crawled]:
        """Return the entries of a folder; see ``FolderShare``."""
        own, base = self._path(folder).rstrip(b"/"), folder + b"/" if folder else b""
        parents: set[str] = set()  # this folder as the server writes it
        entries = []
        for href, properties in responses(self._ask(base, "1", _STATE)):
            path = _path_of(href, own).rstrip("/")
            if unquote_to_bytes(path) == own:
                continue  # the folder itself
            parent, _, last = path.rpartition("/")
            if parent not in parents:
                if unquote_to_bytes(parent) != own:
                    raise RefusedError(FailReason.IO_ERROR, "the server lists entries of another folder")
                parents.add(parent)
            source = _source(self.root, base + unquote_to_bytes(last), properties)
            entries.append(Crawled(source, is_folder=_is_folder(properties)))
        return entries

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled file at a position; see ``ServerShare``."""
        owner, readers = access_of(self._compared(source, _STATE + _ACCESS))
        headers: dict[str, str] = {}
        # From a byte before the position, so that no more is requested than the file has.
        before = min(offset, 1)
        first, n_bytes = self._part(source.path, offset - before, headers)
        yield RangeFile(
            replace(source, owner=owner, readers=readers),
            lambda start: self._part(source.path, start, headers)[0],
            offset,
            n_bytes=n_bytes,
            first=first[before:],
            verify=lambda: self._compared(source, _STATE),
        )

    def _part(self, path: bytes, start: int, headers: dict[str, str]) -> tuple[bytes, int]:
        """Return bytes of a file from a position on, and the length of the file.

        Once one part came, the others are requested of the same version. Listings may have other ETags.
        """
        answer = self._client.get_range(self._url(path), start, headers=headers)
        if (etag := answer.headers.get("ETag", "")).startswith('"'):
            headers["If-Match"] = etag
        content: bytes = answer.content
        ranged = answer.headers.get("Content-Range", "")
        n_bytes = _number(ranged.rpartition("/")[2] or answer.headers.get("Content-Length", ""), -1)
        if n_bytes < 0 and len(content) >= RANGE_BYTES:
            raise RefusedError(FailReason.IO_ERROR, "the server gives neither length nor parts of the file")
        if not ranged and start + len(content) < n_bytes <= _MOST_BYTES:
            whole = self._client.request("GET", self._url(path), headers=headers, most_bytes=n_bytes)
            content = whole.content[start:]
        return content, max(n_bytes, start + len(content))

    def _compared(self, source: SourceFile, names: str) -> Properties:
        properties = self._properties(source.path, names)
        now = _source(self.root, source.path, properties)
        is_same = (now.size, now.mtime_ns, now.inode) == (source.size, source.mtime_ns, source.inode)
        if not is_same or _is_folder(properties):
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
        return properties

    def _properties(self, path: bytes, names: str) -> Properties:
        for _, properties in responses(self._ask(path, "0", names)):
            return properties
        raise RefusedError(FailReason.CHANGED, "vanished before it was read")

    def _ask(self, path: bytes, depth: str, names: str) -> bytes:
        """Return the answer to PROPFIND."""
        body = f'<?xml version="1.0" encoding="utf-8"?><propfind {_SPACES}><prop>{names}</prop></propfind>'
        headers = {"Depth": depth, "Content-Type": "application/xml; charset=utf-8"}
        answer = self._client.request(
            "PROPFIND", self._url(path), headers=headers, content=body.encode(), most_bytes=_MOST_BYTES
        )
        if answer.status_code != _MULTI_STATUS:
            raise RefusedError(FailReason.IO_ERROR, "the server does not answer as one of WebDAV")
        return answer.content

    def _sign_in(self, *, renew: bool) -> Mapping[str, str]:
        """Return the header that signs in; it is not sent again, which might lock the account."""
        who = self.credentials
        if renew:
            raise RefusedError(FailReason.NO_PERMISSION, "wrong user name, password or token")
        pair = base64.b64encode(f"{who.username}:{who.password}".encode()).decode()
        how = f"Bearer {who.token}" if who.token else f"Basic {pair}" if who.username else ""
        return {"Authorization": how} if how else {}

    def _url(self, path: bytes) -> str:
        return self._server + quote(self._path(path), safe="/")

    def _path(self, path: bytes) -> bytes:
        return self._folder + b"/" + path


def responses(answer: bytes) -> Iterator[tuple[str, Properties]]:
    """Yield the address and the properties of each resource of an answer; they are valid until the next one.

    Raises:
        RefusedError: not XML, or XML with definitions of its own.
    """
    how = {"resolve_entities": False, "no_network": True, "huge_tree": True}
    is_first = True
    try:
        for _, response in etree.iterparse(io.BytesIO(answer), tag=_DAV + "response", **how):
            if is_first and response.getroottree().docinfo.doctype:
                raise RefusedError(FailReason.IO_ERROR, "the server's answer defines entities")
            is_first = False
            found: dict[str, Any] = {}
            for part in response.iterchildren(_DAV + "propstat"):
                if " 200" in (part.findtext(_DAV + "status") or ""):
                    for prop in part.iterchildren(_DAV + "prop"):
                        found.update((one.tag, one) for one in prop)
            yield response.findtext(_DAV + "href") or "", found
            response.clear(keep_tail=True)  # or a listing of a million files would be held as a tree
    except etree.XMLSyntaxError:
        raise RefusedError(FailReason.IO_ERROR, "the server's answer is not XML") from None


def _path_of(href: str, folder: bytes) -> str:
    """Return the encoded path of an address: with or without server, or relative to a folder.

    >>> _path_of("https://files:444/a%20b/c?x=1", b""), _path_of("/a", b""), _path_of("c", b"/a b")
    ('/a%20b/c', '/a', '/a%20b/c')
    """
    href = href.strip().partition("#")[0].partition("?")[0]
    if href.startswith("/"):
        return href
    scheme, is_absolute, rest = href.partition("://")
    if is_absolute and scheme.isalnum():
        return "/" + rest.partition("/")[2]
    return f"{quote(folder, safe='/')}/{href}"


def _text(properties: Properties, name: str) -> str:
    found = properties.get(name)
    return "" if found is None else (found.text or "").strip()


def _is_folder(properties: Properties) -> bool:
    kind = properties.get(_DAV + "resourcetype")
    return kind is not None and kind.find(_DAV + "collection") is not None


def _source(root: bytes, path: bytes, properties: Properties) -> SourceFile:
    """Return a file; a number of its ETag, weak or strong, takes the place of the inode."""
    etag = _text(properties, _DAV + "getetag")
    size = _number(_text(properties, _DAV + "getcontentlength"), _UNKNOWN_SIZE)
    moment = _nanoseconds(_text(properties, _DAV + "getlastmodified"))
    number = identity_number(etag.removeprefix("W/")) if etag else 0
    return SourceFile(root, path, size, moment, moment, number, 0)


def _number(text: str, default: int) -> int:
    return int(text) if _NUMBER.fullmatch(text) else default


@lru_cache(_N_DATES)
def _nanoseconds(moment: str) -> int:
    """Return nanoseconds since 1970 of a date of HTTP; 0 for anything else.

    >>> _nanoseconds("Thu, 01 Jan 1970 00:01:02 GMT"), _nanoseconds("yesterday")
    (62000000000, 0)
    """
    try:
        return int(parsedate_to_datetime(moment).timestamp()) * 10**9
    except (ValueError, OverflowError):
        return 0


def access_of(properties: Properties) -> tuple[str, tuple[str, ...]]:
    """Return the owner, and who may read: by shares of Nextcloud or ownCloud, and by the list of RFC 3744."""
    held = properties.get(_DAV + "owner")
    owner = _text(properties, _OC + "owner-id") or ("" if held is None else _name(held))
    readers = [f"user {owner}"] if _OC + "owner-id" in properties else []
    readers += ["everyone" for one in properties.get(_OC + "share-types", ()) if one.text == _LINK]
    for sharee in properties.get(_NC + "sharees", ()):
        kind, name = sharee.findtext(_NC + "type") or "", sharee.findtext(_NC + "id") or ""
        if kind in _SHAREES and (name or kind == _LINK):
            readers.append(_SHAREES[kind].format(name))
    for ace in properties.get(_DAV + "acl", ()):
        rights = {right.tag for right in ace.iterfind(f"*/{_DAV}privilege/*")}
        who = next(ace.iterfind(f"{_DAV}principal/*"), None)
        if who is None or not rights & {_DAV + "read", _DAV + "all"}:
            continue
        kind = str(who.tag).removeprefix(_DAV)
        reader = _PRINCIPALS.get(kind, "")
        if kind == "href":
            reader = f"{'group' if '/groups/' in (who.text or '') else 'user'} {_name(who)}"
        elif kind == "property" and owner:  # the only property that names a reader is the owner
            reader = f"user {owner}"
        if reader:
            readers.append(reader if ace.find(_DAV + "grant") is not None else f"not {reader}")
    return owner, tuple(dict.fromkeys(readers))


def _name(held: Any) -> str:
    """Return the last part of the address in an element."""
    href = (held.findtext(_DAV + "href") or held.text or "").strip().rstrip("/")
    return unquote_to_bytes(href.rpartition("/")[2]).decode("utf-8", "replace")
