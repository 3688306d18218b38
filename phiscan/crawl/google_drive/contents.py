"""A file of Google Drive: what a listing says of it, its owner and readers, and its content.

Source: Google Drive API v3, resources files and permissions; "Export MIME types for Google Workspace
documents".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

from phiscan.crawl.google_drive.api import get_json
from phiscan.crawl.http_client import HttpClient
from phiscan.crawl.listed_tree import item_identity
from phiscan.crawl.listing_cache import Item, Kind, path_name
from phiscan.crawl.remote import RangeFile
from phiscan.crawl.share_errors import RefusedError
from phiscan.model import FailReason, SourceFile

FIELDS = (
    "id,name,mimeType,parents,size,modifiedTime,createdTime,md5Checksum,headRevisionId,version,trashed,"
    "explicitlyTrashed,ownedByMe"
)
ALL_DRIVES = "supportsAllDrives=true"
_NATIVE = "application/vnd.google-apps."
_OFFICE = "application/vnd.openxmlformats-officedocument."
_EXPORTS = {
    "document": f"{_OFFICE}wordprocessingml.document",
    "spreadsheet": f"{_OFFICE}spreadsheetml.sheet",
    "presentation": f"{_OFFICE}presentationml.presentation",
    "drawing": "application/pdf",
}
_EXPORT_BYTES = 65_536  # estimated: the size is known when it is made


def open_file(source: SourceFile, client: HttpClient, place: str, own_domain: str, offset: int) -> RangeFile:
    """Return a file, read range by range, or a document of Google, exported whole.

    Raises:
        RefusedError, UnansweredError: it is not the file that was crawled, or cannot be read.
    """

    def checked() -> dict[str, Any]:
        """Return the state of the file on the server, which must be the crawled one."""
        state = get_json(client, f"{place}?{ALL_DRIVES}&fields={FIELDS}")
        item = item_of(state)
        if state.get("trashed") or (item.size, item_identity(item)) != (source.size, source.inode):
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
        return state

    def fetch(start: int) -> bytes:
        answer = client.get_range(f"{place}?alt=media&{ALL_DRIVES}", start)
        is_part = answer.status_code == 206  # noqa: PLR2004 (partial content)
        return answer.content if is_part else answer.content[start:]

    kind = str(checked().get("mimeType", ""))
    owner, readers = _access(client, place, own_domain)
    described = replace(source, owner=owner, readers=readers)
    if not kind.startswith(_NATIVE):
        return RangeFile(described, fetch, offset, verify=checked)
    wanted = _EXPORTS.get(kind.removeprefix(_NATIVE))
    if wanted is None:
        raise RefusedError(FailReason.UNSUPPORTED, f"Google exports no {kind.removeprefix(_NATIVE)}")
    data = client.request("GET", f"{place}/export?mimeType={quote(wanted, safe='')}").content
    return RangeFile(described, lambda start: data[start:], offset, n_bytes=len(data), verify=checked)


def _access(client: HttpClient, place: str, own_domain: str) -> tuple[str, tuple[str, ...]]:
    """Return owner and readers; they are unknown if Google does not give them to the account."""
    fields = "nextPageToken,permissions(type,role,emailAddress,domain,deleted)"
    url = f"{place}/permissions?pageSize=100&{ALL_DRIVES}&fields={fields}"
    owner, readers, token = "", dict[str, None](), ""
    while True:
        try:
            page = get_json(client, f"{url}&pageToken={quote(token, safe='')}" if token else url)
        except RefusedError:
            return "", ()
        for permission in page.get("permissions", ()):
            if permission.get("deleted"):
                continue
            readers[_reader(permission, own_domain)] = None
            if permission.get("role") == "owner":
                owner = permission.get("emailAddress", "")
        token = page.get("nextPageToken", "")
        if not token:
            return owner, tuple(readers)


def _reader(permission: Mapping[str, Any], own_domain: str) -> str:
    """Return who a permission lets read; a user of another domain is a guest.

    >>> _reader({"type": "user", "emailAddress": "a@other.example"}, "example.org")
    'user a@other.example (guest)'
    """
    kind, name = permission.get("type"), permission.get("emailAddress", "")
    if kind == "anyone":
        return "everyone"
    if kind == "domain":
        return f"group everyone in {permission.get('domain', '')}"
    if kind == "group":
        return f"group {name}"
    is_guest = own_domain and name.rpartition("@")[2].lower() != own_domain.lower()
    return f"user {name} (guest)" if is_guest else f"user {name}"


def item_of(entry: Mapping[str, Any]) -> Item:
    """Return a file of a drive; of several folders that have it, the first by id is its parent."""
    kind = entry.get("mimeType", "")
    size = int(entry.get("size") or 0)
    mark = entry.get("md5Checksum") or entry.get("headRevisionId")
    if kind.startswith(_NATIVE):
        size, mark = _EXPORT_BYTES, entry.get("version")
    moment = entry.get("modifiedTime")
    return Item(
        id=entry["id"],
        parent=min(entry.get("parents") or (), default=None),
        name=path_name(entry.get("name", "")),
        kind={f"{_NATIVE}folder": Kind.FOLDER, f"{_NATIVE}shortcut": Kind.LINK}.get(kind, Kind.FILE),
        size=size,
        mtime_ns=round(datetime.fromisoformat(moment).timestamp() * 1000) * 1_000_000 if moment else 0,
        mark=mark or entry.get("version") or "",
        born=entry.get("createdTime") or "",
    )
