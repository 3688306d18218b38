"""Properties of files on a WebDAV server: the answers to PROPFIND.

Source: RFC 4918, 14 and 15; RFC 3744, 5 (owner, acl); the properties of Nextcloud and ownCloud: Nextcloud's
developer manual (WebDAV; types of the OCS share API).
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import lru_cache
from typing import Any
from urllib.parse import quote, unquote_to_bytes

from lxml import etree

from phiscan.crawl.share import identity_number
from phiscan.crawl.share_errors import RefusedError
from phiscan.model import FailReason, SourceFile

_DAV, _OC, _NC = "{DAV:}", "{http://owncloud.org/ns}", "{http://nextcloud.org/ns}"
_RESPONSE, _HREF, _PROPSTAT, _PROP, _STATUS = (
    _DAV + name for name in ("response", "href", "propstat", "prop", "status")
)
ETAG = _DAV + "getetag"
STATE = "<resourcetype/><getcontentlength/><getlastmodified/><getetag/>"
ACCESS = "<owner/><acl/><oc:owner-id/><oc:owner-display-name/><oc:share-types/><nc:sharees/>"
_UNKNOWN_SIZE = 1  # of a file whose listing has no length; when it is read, the answer has it
_DATE = re.compile(r"\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT")
# Principals of RFC 3744, and types of shares of Nextcloud and ownCloud; others than these are left out.
_PRINCIPALS = {"all": "everyone", "unauthenticated": "everyone", "authenticated": "group Authenticated Users"}
_PUBLIC_LINK = "3"
_SHAREES = {
    "0": "user {}",
    "1": "group {}",
    "4": "user {} (guest)",  # by mail
    "6": "user {} (guest)",  # of another server
    "7": "group {}",  # a circle
    "9": "group {} (guest)",
    "10": "group {}",  # the members of a conversation
}
Properties = Mapping[str, Any]


def request_for(names: str) -> bytes:
    """Return the body of a request for properties, which are named as elements of XML."""
    spaces = 'xmlns="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"'
    body = f'<?xml version="1.0" encoding="utf-8"?><propfind {spaces}><prop>{names}</prop></propfind>'
    return body.encode()


def responses(answer: bytes) -> Iterator[tuple[str, Properties]]:
    """Yield the address and the properties of each resource; they are valid until the next one.

    Raises:
        RefusedError: not XML, or XML with definitions of its own.
    """
    try:
        parsed = etree.iterparse(
            io.BytesIO(answer), tag=_RESPONSE, resolve_entities=False, no_network=True, huge_tree=True
        )
        for _, response in parsed:
            if response.getroottree().docinfo.doctype:
                raise RefusedError(FailReason.IO_ERROR, "the server's answer defines entities")
            found: dict[str, Any] = {}
            for part in response.iterchildren(_PROPSTAT):
                if " 200" in (part.findtext(_STATUS) or ""):
                    found.update((one.tag, one) for prop in part.iterchildren(_PROP) for one in prop)
            yield response.findtext(_HREF) or "", found
            response.clear()
            while response.getprevious() is not None:
                del response.getparent()[0]
    except etree.XMLSyntaxError:
        raise RefusedError(FailReason.IO_ERROR, "the server's answer is not XML") from None


def path_of(href: str, folder: bytes) -> str:
    """Return the encoded path of an address: with or without server, or relative to a folder.

    >>> path_of("https://files:444/a%20b/c?x=1", b""), path_of("/a", b""), path_of("c", b"/a b")
    ('/a%20b/c', '/a', '/a%20b/c')
    """
    href = href.strip().partition("#")[0].partition("?")[0]
    if href.startswith("/"):
        return href
    scheme, is_absolute, rest = href.partition("://")
    if is_absolute and scheme.isalnum():
        return "/" + rest.partition("/")[2]
    return f"{quote(folder, safe='/')}/{href.removeprefix('./')}"


def text_of(properties: Properties, name: str) -> str:
    """Return the text of a property; none where it is missing."""
    found = properties.get(name)
    return "" if found is None else (found.text or "").strip()


def is_folder(properties: Properties) -> bool:
    """Return whether the properties are those of a folder."""
    kind = properties.get(_DAV + "resourcetype")
    return kind is not None and kind.find(_DAV + "collection") is not None


def source_of(root: bytes, path: bytes, properties: Properties) -> SourceFile:
    """Return a file; a number of its ETag, weak or strong, takes the place of the inode."""
    length, etag = text_of(properties, _DAV + "getcontentlength"), text_of(properties, ETAG)
    size = int(length) if length.isdecimal() else _UNKNOWN_SIZE
    moment = _nanoseconds(text_of(properties, _DAV + "getlastmodified"))
    number = identity_number(etag.removeprefix("W/")) if etag else 0
    return SourceFile(root, path, size, moment, moment, number, 0)


def _nanoseconds(moment: str) -> int:
    """Return nanoseconds since 1970 of a date of HTTP; 0 for anything else.

    >>> _nanoseconds("Thu, 01 Jan 1970 00:01:02 GMT"), _nanoseconds("yesterday")
    (62000000000, 0)
    """
    try:
        if _DATE.fullmatch(moment):
            seconds = int(moment[17:19]) * 3600 + int(moment[20:22]) * 60 + int(moment[23:25])
            return (_midnight(moment[5:16]) + seconds) * 10**9
        return int(parsedate_to_datetime(moment).timestamp()) * 10**9
    except ValueError:
        return 0


@lru_cache(4096)
def _midnight(day: str) -> int:
    return int(datetime.strptime(day, "%d %b %Y").replace(tzinfo=UTC).timestamp())


def access_of(properties: Properties) -> tuple[str, tuple[str, ...]]:
    """Return the owner, and who may read: by shares of Nextcloud or ownCloud, and by the list of RFC 3744."""
    owner = text_of(properties, _OC + "owner-id") or text_of(properties, _OC + "owner-display-name")
    if not owner and (held := properties.get(_DAV + "owner")) is not None:
        owner = _last(held.findtext(_HREF) or held.text or "")
    readers = [f"user {owner}"] if owner and _OC + "owner-id" in properties else []
    if (types := properties.get(_OC + "share-types")) is not None:
        readers += ["everyone" for one in types if one.text == _PUBLIC_LINK]
    for sharee in properties.get(_NC + "sharees", ()):
        kind, name = sharee.findtext(_NC + "type"), sharee.findtext(_NC + "id")
        if kind == _PUBLIC_LINK:
            readers.append("everyone")
        elif kind in _SHAREES and name:
            readers.append(_SHAREES[kind].format(name))
    for ace in properties.get(_DAV + "acl", ()):
        readers += _of_entry(ace, owner)
    return owner, tuple(dict.fromkeys(readers))


def _of_entry(ace: Any, owner: str) -> list[str]:
    """Return the reader that an entry of an access control list names, "not ..." where it denies."""
    granted, denied = ace.find(_DAV + "grant"), ace.find(_DAV + "deny")
    rights = granted if granted is not None else denied
    principal = ace.find(_DAV + "principal")
    if rights is None or principal is None or ace.find(_DAV + "invert") is not None:
        return []
    if not any(right.tag in {_DAV + "read", _DAV + "all"} for one in rights for right in one):
        return []
    who = next(iter(principal), None)
    kind = "" if who is None else str(who.tag).removeprefix(_DAV)
    if kind == "href":
        name = f"{'group' if '/groups/' in who.text else 'user'} {_last(who.text)}"
    elif kind == "property" and who.find(_DAV + "owner") is not None and owner:
        name = f"user {owner}"
    else:
        name = _PRINCIPALS.get(kind, "")
    return [name if granted is not None else f"not {name}"] if name else []


def _last(href: str) -> str:
    """Return the last part of an address.

    >>> _last("/principals/users/ann%20b/")
    'ann b'
    """
    return unquote_to_bytes(href.strip().rstrip("/").rpartition("/")[2]).decode("utf-8", "replace")
