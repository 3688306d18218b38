"""Crawl Google Drive: ``gdrive://my``, ``gdrive://user/NAME@DOMAIN`` and ``gdrive://shared/DRIVE``.

A service account signs in, for a user by domain-wide delegation. Without a name, ``gdrive://user`` is the
drives of all users and ``gdrive://shared`` all shared drives. Each drive is listed whole once and then by its
changes. Source: Google Drive API v3, resources files, changes, permissions and drives; Directory API, users.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from phiscan.config import SharesTable
from phiscan.crawl.google_drive.api import DRIVES_SCOPE, EXTRA, USERS_SCOPE, SignIn, get_json, refusal_of
from phiscan.crawl.google_drive.contents import ALL_DRIVES, FIELDS, item_of, open_file
from phiscan.crawl.http_client import HttpClient
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.listed_tree import ListedTree
from phiscan.crawl.listing_cache import Item, Kind, Page, path_name
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.share import Crawled, OpenFile
from phiscan.crawl.share_errors import RefusedError
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

if TYPE_CHECKING:
    pass

_API = "https://www.googleapis.com"
_DIRECTORY = "https://admin.googleapis.com"


class GoogleDriveShare(ServerShare):
    """One root in Google Drive."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._kind, self._names = self.location.host, self.location.path
        if self._kind not in {"my", "user", "shared"}:
            message = (
                f"{self.shown}: expected gdrive://my, gdrive://user/NAME@DOMAIN or gdrive://shared/DRIVE"
            )
            raise InputError(message)
        self._base = f"{(self.credentials.endpoint or _API).rstrip('/')}/drive/v3"
        self._lock = threading.Lock()
        self._clients: dict[str, HttpClient] = {}  # by the user for whom it signs in
        self._tops: dict[str, str] = {}  # feed -> the id of its uppermost folder
        self._tree = ListedTree(self.root, settings, self)

    def check(self) -> None:
        """Sign in and request the uppermost folder or the first page of drives or users."""
        try:
            feed, below = self.start()
            if "/" in feed:
                self._top(feed)
            else:
                next(self._mounts(feed))
        except RefusedError as error:
            if error.reason is FailReason.CHANGED:
                raise RefusedError(FailReason.IO_ERROR, "no such drive") from None
            raise
        if below:
            self._tree.check()

    def close(self) -> None:
        """Send no more requests; see ``ServerShare``."""
        super().close()
        self._tree.close()
        with self._lock:
            for client in self._clients.values():
                client.close()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (a file is listed in one folder)
        """Yield every entry below the root that is not a folder; see ``Share``."""
        try:
            yield from self._tree.crawl(ignore)
        finally:
            self.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled file at a position; a document of Google is exported; see ``RemoteShare``."""
        feed, item = self._tree.find(source)
        subject = self._subject(feed)
        own_domain = subject.rpartition("@")[2]
        yield open_file(source, self._client(subject), f"{self._base}/files/{item.id}", own_domain, offset)

    # What ``ListedTree`` asks. Feeds: "users", "drives", "user/NAME" ("user/" for "my") and "shared/DRIVE".

    def start(self) -> tuple[str, Sequence[bytes]]:
        """Return the feed of the root; see ``Feeds``."""
        names = [name.encode("utf-8", "surrogateescape") for name in self._names]
        if self._kind == "my":
            return "user/", names
        if not names:
            return ("users" if self._kind == "user" else "drives"), ()
        return f"{self._kind}/{self._names[0]}", names[1:]

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a drive; all drives or users, where the feed is those; see ``Feeds``."""
        if "/" not in feed:
            yield from self._mounts(feed)
            return
        drive = f"&driveId={quote(feed.partition('/')[2])}" if feed.startswith("shared/") else ""
        if not token:  # taken before the listing, so that a change during the listing is not lost
            answer = self._get(feed, f"{self._base}/changes/startPageToken?{ALL_DRIVES}{drive}")
            token = answer["startPageToken"]
            yield Page((Item(self._top(feed), None, None, Kind.ROOT),))
            corpus = f"corpora=drive&includeItemsFromAllDrives=true{drive}" if drive else "corpora=user"
            query = f"files?pageSize=1000&{corpus}&{ALL_DRIVES}&fields=nextPageToken,files({FIELDS})"
            for page in self._pages_of(feed, f"{self._base}/{query}"):
                yield self._page({entry["id"]: entry for entry in page["files"]}, feed, "")
        fields = f"nextPageToken,newStartPageToken,changes(fileId,removed,file({FIELDS}))"
        shared = f"&includeItemsFromAllDrives=true{drive}" if drive else ""
        query = f"changes?pageSize=1000&includeRemoved=true&{ALL_DRIVES}{shared}&fields={fields}"
        for page in self._pages_of(feed, f"{self._base}/{query}", token):
            found = {
                change["fileId"]: None if change.get("removed") else change.get("file")
                for change in page["changes"]
                if change.get("fileId")  # else of the drive itself
            }
            yield self._page(found, feed, page.get("newStartPageToken", ""))

    def inner_feed(self, feed: str, folder: str) -> str:  # noqa: ARG002 (a folder's entries are all of its feed)
        """Return "": folders have no other entries; see ``Feeds``."""
        return ""

    def _mounts(self, feed: str) -> Iterator[Page]:
        """Yield all shared drives, or all users, as folders."""
        if feed == "drives":
            url = f"{self._base}/drives?pageSize=100&fields=nextPageToken,drives(id,name)"
            for page in self._pages_of(feed, url):
                drives = [(one["id"], one["name"], f"shared/{one['id']}") for one in page["drives"]]
                yield Page(
                    [Item(one, "", path_name(name), Kind.MOUNT, mark=mark) for one, name, mark in drives]
                )
            return
        base = f"{self.credentials.endpoint or _DIRECTORY}/admin/directory/v1/users"
        url = f"{base}?customer=my_customer&maxResults=500&fields=nextPageToken,users(id,primaryEmail)"
        for page in self._pages_of(feed, url):
            users = [(one["id"], one["primaryEmail"]) for one in page.get("users", ())]
            yield Page(
                [Item(one, "", path_name(name), Kind.MOUNT, mark=f"user/{name}") for one, name in users]
            )

    def _page(self, found: Mapping[str, dict[str, Any] | None], feed: str, token: str) -> Page:
        """Return a page of the last state of each file; None for one that is gone."""
        items, removed = [], []
        for one, entry in found.items():
            # In a folder that lies in the bin all is "trashed" and comes back with the folder.
            if entry is None or entry.get("explicitlyTrashed", entry.get("trashed")):
                removed.append(one)
                continue
            item = item_of(entry)
            if item.parent is None and entry.get("ownedByMe"):  # it lost its folder
                item = item._replace(parent=self._top(feed))
            if item.id != self._top(feed):
                items.append(item)
        return Page(items, removed, token)

    def _top(self, feed: str) -> str:
        """Return the id of the uppermost folder of a drive."""
        if feed not in self._tops:
            kind, _, name = feed.partition("/")
            place = f"drives/{quote(name)}" if kind == "shared" else "files/root"
            self._tops[feed] = self._get(feed, f"{self._base}/{place}?fields=id")["id"]
        return self._tops[feed]

    def _pages_of(self, feed: str, url: str, token: str = "") -> Iterator[dict[str, Any]]:
        while True:
            page = self._get(feed, f"{url}&pageToken={quote(token, safe='')}" if token else url)
            yield page
            token = page.get("nextPageToken", "")
            if not token:
                return

    def _get(self, feed: str, url: str) -> dict[str, Any]:
        client = self._client(self._subject(feed), USERS_SCOPE if feed == "users" else DRIVES_SCOPE)
        return self.retry_policy.run(lambda: get_json(client, url))

    def _subject(self, feed: str) -> str:
        """Return the user for whom a feed is read; "" = the service account itself."""
        kind, _, name = feed.partition("/")
        return name if kind == "user" and name else self.credentials.username

    def _client(self, subject: str, scope: str = DRIVES_SCOPE) -> HttpClient:
        key = f"{subject} {scope}"
        with self._lock:
            if key not in self._clients:
                ca_file = self.credentials.ca_file
                sign_in = SignIn(self.settings, self.credentials, subject, scope)
                self._clients[key] = HttpClient(
                    self.settings, sign_in, ca_file=ca_file, extra=EXTRA, refine=refusal_of
                )
            return self._clients[key]
