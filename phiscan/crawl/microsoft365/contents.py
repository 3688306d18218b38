"""Files and messages of Microsoft 365: what a listing says of one, and its content.

Source: Microsoft Graph documentation, resource types driveItem, mailFolder and message; "Download a file";
"Get MIME content of a message".
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

from phiscan.crawl.listed_tree import item_identity
from phiscan.crawl.listing_cache import Item, Kind, path_name
from phiscan.crawl.microsoft365.graph import Graph
from phiscan.crawl.microsoft365.readers import access_of, name_of
from phiscan.crawl.remote import RangeFile
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


def open_drive_file(source: SourceFile, graph: Graph, place: str, offset: int) -> RangeFile:
    """Return a file of a drive, read range by range from the address that Graph gives for it.

    Raises:
        RefusedError, UnansweredError: it is not the file that was crawled, or cannot be read.
    """

    def checked() -> dict[str, Any]:
        """Return the state of the file on the server, which must be the crawled one."""
        state = graph.get(place)
        if "malware" in state:
            raise RefusedError(FailReason.IO_ERROR, "the service found malware in it and gives it to nobody")
        item = drive_item_of(state)
        if item is None or (item.size, item_identity(item)) != (source.size, source.inode):
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
        return state

    state = checked()

    def fetch(start: int) -> bytes:
        nonlocal state
        try:
            return graph.part(state[_ADDRESS], start)
        except RefusedError:  # the address is valid for some minutes
            state = checked()
            return graph.part(state[_ADDRESS], start)

    owner, readers = _access(graph, place)
    owner = owner or name_of((state.get("createdBy") or {}).get("user") or {})
    return RangeFile(replace(source, owner=owner, readers=readers), fetch, offset, verify=checked)


def _access(graph: Graph, place: str) -> tuple[str, tuple[str, ...]]:
    permissions: list[dict[str, Any]] = []
    link = f"{place}/permissions"
    while link:
        try:
            page = graph.get(link)
        except RefusedError:  # the application may read the file and not its permissions
            return "", ()
        permissions += page["value"]
        link = page.get("@odata.nextLink", "")
    return access_of(permissions)


def open_message(source: SourceFile, graph: Graph, place: str, user: str, offset: int) -> RangeFile:
    """Return a message of a user's mailbox as MIME; its delegates are not known to Graph.

    Raises:
        RefusedError, UnansweredError: it cannot be read.
    """

    def verify() -> None:
        item = message_of(graph.get(f"{place}?$select={MESSAGE}", prefer=IMMUTABLE))
        if item_identity(item) != source.inode:
            raise RefusedError(FailReason.CHANGED, "not the message that was crawled")

    data = graph.whole(f"{place}/$value", prefer=IMMUTABLE)
    described = replace(source, owner=user, readers=(f"user {user}",))
    return RangeFile(described, lambda start: data[start:], offset, n_bytes=len(data), verify=verify)


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
