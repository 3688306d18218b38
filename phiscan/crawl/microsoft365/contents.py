"""Files and messages of Microsoft 365: what a listing says of one, and its content.

Source: Microsoft Graph documentation, resource types driveItem, mailFolder and message; "Download a file";
"Get MIME content of a message".
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from phiscan.crawl.listing_cache import Item, Kind, item_identity, path_name
from phiscan.crawl.microsoft365.graph import Graph
from phiscan.crawl.microsoft365.readers import access_of, name_of
from phiscan.crawl.share_errors import RefusedError
from phiscan.model import FailReason, SourceFile

IMMUTABLE = 'IdType="ImmutableId"'  # of a message that moves to another folder
DRIVE_ITEM = (
    "id,name,parentReference,size,eTag,lastModifiedDateTime,file,folder,package,remoteItem,root,deleted"
)
MAIL_FOLDER = "id,displayName,parentFolderId"
MESSAGE = "id,receivedDateTime,lastModifiedDateTime,changeKey"
_MESSAGE_BYTES = 65_536  # estimated: Graph gives no sizes of messages
_FACETS = (
    ("remoteItem", Kind.LINK),
    ("file", Kind.FILE),
    ("root", Kind.ROOT),
    ("folder", Kind.FOLDER),
    ("package", Kind.PACKAGE),
)
_ADDRESS = "@microsoft.graph.downloadUrl"


class DriveFile:
    """A file of a drive, read range by range from the address that Graph gives for it."""

    def __init__(self, source: SourceFile, graph: Graph, place: str, offset: int) -> None:
        self._graph = graph
        self._place = place
        self._crawled = source
        self._next = offset
        self._data = b""
        state = self._checked()
        owner, readers = self._access()
        owner = owner or name_of((state.get("createdBy") or {}).get("user") or {})
        self._source = replace(source, owner=owner, readers=readers)
        self._address: str = state[_ADDRESS]

    @property
    def source(self) -> SourceFile:
        """The file with its owner and its readers."""
        return self._source

    @property
    def n_bytes(self) -> int:
        """Its size when it was crawled."""
        return self._crawled.size

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        if not self._data and self._next < self._crawled.size:
            try:
                self._data = self._graph.part(self._address, self._next)
            except RefusedError:  # the address is valid for some minutes
                self._address = self._checked()[_ADDRESS]
                self._data = self._graph.part(self._address, self._next)
            self._next += len(self._data)
        data, self._data = self._data[:n_bytes], self._data[n_bytes:]
        return data

    def verify(self) -> None:
        """Compare size and eTag with those that were crawled."""
        self._checked()

    def _checked(self) -> dict[str, Any]:
        """Return the state of the file on the server, which must be the crawled one."""
        state = self._graph.get(self._place)
        if "malware" in state:
            raise RefusedError(FailReason.IO_ERROR, "the service found malware in it and gives it to nobody")
        item = drive_item_of(state)
        if item is None or (item.size, item_identity(item)) != (self._crawled.size, self._crawled.inode):
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
        return state

    def _access(self) -> tuple[str, tuple[str, ...]]:
        permissions: list[dict[str, Any]] = []
        link = f"{self._place}/permissions"
        while link:
            try:
                page = self._graph.get(link)
            except RefusedError:  # the application may read the file and not its permissions
                return "", ()
            permissions += page["value"]
            link = page.get("@odata.nextLink", "")
        return access_of(permissions)


class Message:
    """A message of a mailbox, read whole as MIME; its delegates are not known to Graph."""

    def __init__(self, source: SourceFile, graph: Graph, place: str, user: str, offset: int) -> None:
        self._graph = graph
        self._place = place
        self._crawled = source
        self._data = graph.whole(f"{place}/$value", prefer=IMMUTABLE)
        self._next = offset
        self._source = replace(source, owner=user, readers=(f"user {user}",))

    @property
    def source(self) -> SourceFile:
        """The message with the mailbox's user as owner and reader."""
        return self._source

    @property
    def n_bytes(self) -> int:
        """Its size as MIME."""
        return len(self._data)

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        data = self._data[self._next : self._next + n_bytes]
        self._next += len(data)
        return data

    def verify(self) -> None:
        """Compare the version of the message with the one that was crawled."""
        item = message_of(self._graph.get(f"{self._place}?$select={MESSAGE}", prefer=IMMUTABLE))
        if item_identity(item) != self._crawled.inode:
            raise RefusedError(FailReason.CHANGED, "not the message that was crawled")


def drive_item_of(entry: dict[str, Any]) -> Item | None:
    """Return an item of a drive; None if it was deleted."""
    if entry.get("deleted") is not None:
        return None
    kind = next((kind for facet, kind in _FACETS if entry.get(facet) is not None), None)
    name = entry.get("name")
    return Item(
        id=entry["id"],
        parent=(entry.get("parentReference") or {}).get("id"),
        name=None if name is None else path_name(name),
        kind=kind,
        size=entry.get("size"),
        mtime_ns=_nanoseconds(entry.get("lastModifiedDateTime")),
        mark=entry.get("eTag"),
    )


def mail_folder_of(entry: dict[str, Any]) -> Item:
    """Return a folder of a mailbox."""
    name = entry.get("displayName")
    return Item(
        entry["id"], entry.get("parentFolderId"), None if name is None else path_name(name), Kind.FOLDER
    )


def message_of(entry: dict[str, Any]) -> Item:
    """Return a message, named by the time at which it came; its subject is in its content."""
    received = entry.get("receivedDateTime")
    name = None if received is None else path_name(f"{received}.eml".replace(":", "."))
    moment = _nanoseconds(entry.get("lastModifiedDateTime"))
    mark = entry.get("changeKey") or str(entry.get("@odata.etag") or "").removeprefix("W/").strip('"') or None
    return Item(entry["id"], "", name, Kind.FILE, _MESSAGE_BYTES, moment, mark)


def _nanoseconds(moment: str | None) -> int | None:
    """Return nanoseconds since 1970 of a time in ISO 8601; None without one.

    >>> _nanoseconds("1970-01-01T00:00:01Z"), _nanoseconds(None)
    (1000000000, None)
    """
    try:
        return round(datetime.fromisoformat(moment).timestamp() * 1e6) * 1000 if moment else None
    except ValueError:
        return None
