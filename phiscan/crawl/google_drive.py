"""Crawl Google Drive: ``gdrive://my``, ``gdrive://user/NAME@DOMAIN`` and ``gdrive://shared/DRIVE``.

A service account signs in, for a user by domain-wide delegation. Without a name, ``gdrive://user`` is the
drives of all users and ``gdrive://shared`` all shared drives. Each drive is listed whole once and then by its
changes. Source: Google Drive API v3, resources files, changes, permissions and drives, "Resolve errors",
"Export MIME types for Google Workspace documents"; Directory API, users; Google Identity, "Using OAuth 2.0
for server to server applications".
"""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

from phiscan.config import SharesTable
from phiscan.crawl.credentials import Credentials, read_private
from phiscan.crawl.http_client import HttpClient
from phiscan.crawl.listing_cache import Item, Kind, ListedShare, Page, pages_of, path_name
from phiscan.crawl.remote import RangeFile
from phiscan.crawl.share import RefusedError, UnansweredError, identity_number, nanoseconds_of, optional
from phiscan.errors import InputError, PhiscanError
from phiscan.model import FailReason, SourceFile

_EXTRA = "google"
_API, _DIRECTORY = "https://www.googleapis.com", "https://admin.googleapis.com"
_DRIVES_SCOPE = "https://www.googleapis.com/auth/drive.readonly"
_USERS_SCOPE = "https://www.googleapis.com/auth/admin.directory.user.readonly"
FIELDS = (
    "id,name,mimeType,parents,size,modifiedTime,createdTime,md5Checksum,headRevisionId,version,trashed,"
    "explicitlyTrashed,ownedByMe"
)
_ALL_DRIVES = "supportsAllDrives=true"
_NATIVE, _OFFICE = "application/vnd.google-apps.", "application/vnd.openxmlformats-officedocument."
_EXPORTS = {
    "document": f"{_OFFICE}wordprocessingml.document",
    "spreadsheet": f"{_OFFICE}spreadsheetml.sheet",
    "presentation": f"{_OFFICE}presentationml.presentation",
    "drawing": "application/pdf",
}
_EXPORT_BYTES = 65_536  # estimated: the size is known when it is made
_TEMPORARY = frozenset({"rateLimitExceeded", "userRateLimitExceeded", "sharingRateLimitExceeded"})
_REFUSALS = {
    "exportSizeLimitExceeded": (FailReason.TOO_LARGE, "its export is over the 10 MB that Google exports"),
    "cannotDownloadAbusiveFile": (FailReason.IO_ERROR, "Google holds it for malware or abuse"),
    "cannotDownloadFile": (FailReason.NO_PERMISSION, "its owner does not allow downloads"),
}

for _name in ("google.auth", "google.oauth2"):
    logging.getLogger(_name).setLevel(logging.CRITICAL + 1)  # they log requests for tokens


class GoogleDriveShare(ListedShare):
    """One root in Google Drive. Feeds: "users", "drives", "user/NAME" ("user/" for "my"), "shared/DRIVE"."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._kind, self._names = self.location.host, self.location.path
        if self._kind not in {"my", "user", "shared"}:
            known = "gdrive://my, gdrive://user/NAME@DOMAIN or gdrive://shared/DRIVE"
            raise InputError(self.shown, f"expected {known}")
        self._base = f"{(self.credentials.endpoint or _API).rstrip('/')}/drive/v3"
        self._lock = threading.Lock()
        self._clients: dict[tuple[str, str], HttpClient] = {}  # by the user for whom it signs in, and scope

    def close(self) -> None:
        """Send no more requests; see ``ServerShare``."""
        super().close()
        with self._lock:
            for client in self._clients.values():
                client.close()

    def start(self) -> tuple[str, Sequence[str]]:
        """Return the feed of the root; see ``ListedShare``."""
        if self._kind == "my":
            return "user/", self._names
        if not self._names:
            return ("users" if self._kind == "user" else "drives"), ()
        return f"{self._kind}/{self._names[0]}", self._names[1:]

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a drive, or all drives or users; see ``ListedShare``."""
        if "/" not in feed:
            yield from self._mounts(feed)
            return
        get = partial(self._get, feed)
        kind, _, name = feed.partition("/")
        drive = f"&driveId={quote(name)}" if kind == "shared" else ""
        if not token:
            place = f"drives/{quote(name)}" if drive else "files/root"
            yield Page({}, top=get(f"{self._base}/{place}?fields=id")["id"])
            # Taken before the listing, so that a change during the listing is not lost.
            answer = get(f"{self._base}/changes/startPageToken?{_ALL_DRIVES}{drive}")
            token = answer["startPageToken"]
            corpus = f"corpora=drive&includeItemsFromAllDrives=true{drive}" if drive else "corpora=user"
            query = f"files?pageSize=1000&{corpus}&{_ALL_DRIVES}&fields=nextPageToken,files({FIELDS})"
            for page in _pages_of(get, f"{self._base}/{query}"):
                yield Page({entry["id"]: _item_of(entry) for entry in page["files"]})
        fields = f"nextPageToken,newStartPageToken,changes(fileId,removed,file({FIELDS}))"
        shared = f"&includeItemsFromAllDrives=true{drive}" if drive else ""
        query = f"changes?pageSize=1000&includeRemoved=true&{_ALL_DRIVES}{shared}&fields={fields}"
        for page in _pages_of(get, f"{self._base}/{query}", token):
            items = {
                change["fileId"]: None if change.get("removed") else _item_of(change.get("file"))
                for change in page["changes"]
                if change.get("fileId")  # else of the drive itself
            }
            yield Page(items, page.get("newStartPageToken", ""))

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled file at a position, a document of Google as its export; see ``ServerShare``."""
        feed, item = self.find(source)
        subject = self._subject(feed)
        client, place = self._client(subject), f"{self._base}/files/{item.id}"

        def checked() -> dict[str, Any]:
            """Return the state of the file on the server, which must be the crawled one."""
            state = client.get_json(f"{place}?{_ALL_DRIVES}&fields={FIELDS}")
            now = None if state.get("trashed") else _item_of(state)
            if now is None or (now.size, now.identity) != (source.size, source.inode):
                raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
            return state

        def fetch(start: int) -> bytes:
            return client.get_range(f"{place}?alt=media&{_ALL_DRIVES}", start).content

        kind = str(checked().get("mimeType", ""))
        owner, readers = _access(client, place, subject.rpartition("@")[2])
        described = replace(source, owner=owner, readers=readers)
        if not kind.startswith(_NATIVE):
            yield RangeFile(described, fetch, offset, verify=checked)
            return
        wanted = _EXPORTS.get(kind.removeprefix(_NATIVE))
        if wanted is None:
            raise RefusedError(FailReason.UNSUPPORTED, f"Google exports no {kind.removeprefix(_NATIVE)}")
        data = client.request("GET", f"{place}/export?mimeType={quote(wanted, safe='')}").content
        yield RangeFile(described, lambda start: data[start:], offset, n_bytes=len(data), verify=checked)

    def _mounts(self, feed: str) -> Iterator[Page]:
        """Yield all shared drives, or all users, as folders."""
        if feed == "drives":
            url = f"{self._base}/drives?pageSize=100&fields=nextPageToken,drives(id,name)"
        else:
            base = f"{self.credentials.endpoint or _DIRECTORY}/admin/directory/v1/users"
            url = f"{base}?customer=my_customer&maxResults=500&fields=nextPageToken,users(id,primaryEmail)"
        for page in _pages_of(partial(self._get, feed), url):
            found = [(one["id"], one["name"], f"shared/{one['id']}") for one in page.get("drives", ())]
            users = page.get("users", ())
            found += [(one["id"], one["primaryEmail"], f"user/{one['primaryEmail']}") for one in users]
            folder = Kind.FOLDER
            yield Page({one: Item(one, "", path_name(name), folder, feed=feed) for one, name, feed in found})

    def _get(self, feed: str, url: str) -> dict[str, Any]:
        client = self._client(self._subject(feed), _USERS_SCOPE if feed == "users" else _DRIVES_SCOPE)
        return self.retry_policy.run(lambda: client.get_json(url))

    def _subject(self, feed: str) -> str:
        """Return the user for whom a feed is read; "" = the service account itself."""
        kind, _, name = feed.partition("/")
        return name if kind == "user" and name else self.credentials.username

    def _client(self, subject: str, scope: str = _DRIVES_SCOPE) -> HttpClient:
        with self._lock:
            if (subject, scope) not in self._clients:
                sign_in = _SignIn(self.settings, self.credentials, subject, scope).headers
                ca_file = self.credentials.ca_file
                made = HttpClient(self.settings, sign_in, ca_file=ca_file, extra=_EXTRA, refine=_refusal_of)
                self._clients[subject, scope] = made
            return self._clients[subject, scope]


class _SignIn:
    """Signs in as a service account, for a user where one is named."""

    def __init__(self, settings: SharesTable, credentials: Credentials, subject: str, scope: str) -> None:
        with optional(_EXTRA, "google-auth", _EXTRA):
            from google.oauth2 import service_account  # noqa: PLC0415 (an optional part)
        if not credentials.key_file:
            raise RefusedError(FailReason.NO_PERMISSION, "no key_file of a service account is set")
        self._client = HttpClient(settings, ca_file=credentials.ca_file, extra=_EXTRA)
        self._lock = threading.Lock()
        try:
            key = json.loads(read_private(credentials.key_file, "key_file"))
            account: Any = service_account.Credentials
            self._account = account.from_service_account_info(key, scopes=[scope], subject=subject or None)
        except (ValueError, TypeError, AttributeError):  # their messages may quote the key
            message = "key_file: expected a service account's JSON"
            raise RefusedError(FailReason.NO_PERMISSION, message) from None

    def headers(self, *, renew: bool) -> Mapping[str, str]:
        """Return the header with a token; see ``HttpClient``."""
        from google.auth.exceptions import GoogleAuthError  # noqa: PLC0415 (an optional part)

        with self._lock:
            try:
                if renew or not self._account.valid:
                    self._account.refresh(self._request)
            except GoogleAuthError:
                message = "wrong service account or key, or it has no domain-wide delegation for the user"
                raise RefusedError(FailReason.NO_PERMISSION, message) from None
            return {"Authorization": f"Bearer {self._account.token}"}

    def _request(
        self, url: str, method: str = "GET", body: bytes | None = None, headers: Any = None, **_: Any
    ) -> SimpleNamespace:
        """Return the answer to a request of the library, in its form."""
        answer = self._client.send(method, url, content=body, headers=headers)
        return SimpleNamespace(status=answer.status_code, headers=answer.headers, data=answer.content)


def _refusal_of(answer: Any) -> PhiscanError | None:
    """Return the error for a reason that Google gives; its text is never shown."""
    try:
        reason = str(answer.json()["error"]["errors"][0]["reason"])
    except (ValueError, LookupError, TypeError):
        return None
    if reason in _TEMPORARY:
        return UnansweredError("Google asks for fewer requests", is_gone=False)
    return RefusedError(*_REFUSALS[reason]) if reason in _REFUSALS else None


def _pages_of(get: Callable[[str], dict[str, Any]], url: str, token: str = "") -> Iterator[dict[str, Any]]:
    """Yield the pages of a listing from a token on."""

    def link(token: str) -> str:
        return f"{url}&pageToken={quote(token, safe='')}"

    return pages_of(get, link(token) if token else url, "nextPageToken", link)


def _access(client: HttpClient, place: str, own_domain: str) -> tuple[str, tuple[str, ...]]:
    """Return owner and readers; they are unknown if Google does not give them to the account."""
    fields = "nextPageToken,permissions(type,role,emailAddress,domain,deleted)"
    url = f"{place}/permissions?pageSize=100&{_ALL_DRIVES}&fields={fields}"
    try:
        pages = list(_pages_of(client.get_json, url))
    except RefusedError:
        return "", ()
    found = [one for page in pages for one in page.get("permissions", ()) if not one.get("deleted")]
    owners = [str(one.get("emailAddress", "")) for one in found if one.get("role") == "owner"]
    readers = tuple(dict.fromkeys(_reader(one, own_domain) for one in found))
    return owners[0] if owners else "", readers


def _item_of(entry: Mapping[str, Any] | None) -> Item | None:
    """Return a file of a drive; of several folders that have it, the first by id is its parent.

    In a folder that lies in the bin all is "trashed" and comes back with the folder.
    """
    if entry is None or entry.get("explicitlyTrashed", entry.get("trashed")):
        return None
    kind, moment = entry.get("mimeType", ""), entry.get("modifiedTime")
    size, mark = int(entry.get("size") or 0), entry.get("md5Checksum") or entry.get("headRevisionId")
    if kind.startswith(_NATIVE):
        size, mark = _EXPORT_BYTES, entry.get("version")
    return Item(
        id=entry["id"],
        # One of its owner's that lost its folder is in the uppermost one.
        parent=min(entry.get("parents") or (), default="" if entry.get("ownedByMe") else None),
        name=path_name(entry.get("name", "")),
        kind={f"{_NATIVE}folder": Kind.FOLDER, f"{_NATIVE}shortcut": Kind.LINK}.get(kind, Kind.FILE),
        size=size,
        mtime_ns=nanoseconds_of(moment),
        identity=identity_number(entry["id"], mark or entry.get("version") or ""),
        born=entry.get("createdTime") or "",
    )


def _reader(permission: Mapping[str, Any], own_domain: str) -> str:
    """Return who a permission lets read; a user of another domain is a guest.

    >>> _reader({"type": "user", "emailAddress": "a@other.example"}, "example.org")
    'user a@other.example (guest)'
    """
    kind, name = permission.get("type"), permission.get("emailAddress", "")
    is_guest = own_domain and name.rpartition("@")[2].lower() != own_domain.lower()
    readers = {
        "anyone": "everyone",
        "domain": f"group everyone in {permission.get('domain', '')}",
        "group": f"group {name}",
    }
    return readers.get(str(kind), f"user {name} (guest)" if is_guest else f"user {name}")
