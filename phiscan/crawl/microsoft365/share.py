"""Crawl Microsoft 365: ``m365://TENANT/sites/NAME``, ``.../drives/USER`` and ``.../mail/USER``.

Without a name, all sites, drives or mailboxes of the tenant. A feed of the stored listing is named by its
path in Graph: a list of sites, libraries or users, or the delta of a drive, of mail folders or of messages.
Source: Microsoft Graph documentation, resource types driveItem, mailFolder and message; "Download a file";
"Get MIME content of a message".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property, partial
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from phiscan.config import SharesTable
from phiscan.crawl.listing_cache import Item, Kind, ListedShare, Page, pages_of, path_name
from phiscan.crawl.location import unescaped
from phiscan.crawl.microsoft365.graph import Graph, access_of, name_of
from phiscan.crawl.remote import RangeFile
from phiscan.crawl.share import RefusedError, identity_number, nanoseconds_of
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

_KINDS = ("sites", "drives", "mail")
DRIVE_ITEM = (
    "id,name,parentReference,size,eTag,lastModifiedDateTime,file,folder,package,remoteItem,root,deleted"
)
_MAIL_FOLDER = "id,displayName,parentFolderId"
_MESSAGE = "id,receivedDateTime,lastModifiedDateTime,changeKey"
_MESSAGE_BYTES = 65_536  # estimated: Graph gives no sizes of messages
_FACETS = {"remoteItem": Kind.LINK, "file": Kind.FILE, "folder": Kind.FOLDER, "package": Kind.PACKAGE}
_ADDRESS, _NEXT = "@microsoft.graph.downloadUrl", "@odata.nextLink"


class Microsoft365Share(ListedShare):
    """One root in a tenant."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._kind, *self._names = self.location.path or ("",)
        if self._kind not in _KINDS:
            known = ", ".join(f"m365://TENANT/{kind}" for kind in _KINDS)
            raise InputError(self.shown, f"expected {known}, each with or without /NAME")
        self._graph = Graph(self.location.host, settings, self.credentials)

    def close(self) -> None:
        """Send no more requests; see ``ServerShare``."""
        super().close()
        self._graph.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[RangeFile]:
        """Open a crawled file or message at a position; see ``ServerShare``."""
        feed, item = self.find(source)
        if item.kind == Kind.PACKAGE:
            detail = "a package, such as a notebook, of which no files are listed"
            raise RefusedError(FailReason.UNSUPPORTED, detail)
        yield (self._message if feed.endswith("/messages") else self._file)(source, feed, item, offset)

    def start(self) -> tuple[str, Sequence[str]]:
        """Return the feed of the root; see ``ListedShare``."""
        if not self._names:
            return ("sites/getAllSites" if self._kind == "sites" else "users"), ()
        feed = f"sites/{self._site}/drives" if self._kind == "sites" else self._of_user(self._names[0])
        return feed, self._names[1:]

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a feed; see ``ListedShare``."""
        if feed in {"users", "sites/getAllSites"} or feed.endswith("/drives"):
            yield from self._mounts(feed)
            return
        root, delta = "root", f"root/delta?$select={DRIVE_ITEM}"
        item_of: Callable[[dict[str, Any]], Item | None] = _drive_item_of
        if feed.endswith("/messages"):
            root, delta, item_of = "", f"delta?$select={_MESSAGE}", _message_of
        elif feed.endswith("/mailFolders"):
            root, delta = "msgfolderroot", f"delta?$select={_MAIL_FOLDER}"
            item_of = partial(_mail_folder_of, feed)
        if root and not token:
            try:
                top = self._get(f"{feed}/{root}?$select=id")["id"]
            except RefusedError as error:
                if self._names or error.reason is not FailReason.CHANGED:
                    raise
                return  # one of all users, without a drive or mailbox
            yield Page({}, top=top)
        for page in pages_of(self._get, token or f"{feed}/{delta}", _NEXT):
            last = {entry["id"]: entry for entry in page["value"]}  # an item may come twice
            items = {one: None if "@removed" in entry else item_of(entry) for one, entry in last.items()}
            yield Page(items, page.get("@odata.deltaLink", ""))

    @cached_property
    def _site(self) -> str:
        """The id of the site that the root names: by its path below "sites" or "teams", or its host."""
        name = unescaped(self._names[0])
        try:
            answer = self._get("sites/root?$select=id,webUrl")
            host = urlsplit(answer["webUrl"]).netloc
            if name == host:
                return _quoted(answer["id"])
        except RefusedError as error:
            if error.reason is not FailReason.NO_PERMISSION:
                raise
            host = f"{self.location.host.partition('.')[0]}.sharepoint.com"  # it may read its site only
        try:
            answer = self._get(f"sites/{host}:/sites/{quote(name)}")
        except RefusedError as error:
            if error.reason is not FailReason.CHANGED:
                raise
            answer = self._get(f"sites/{host}:/teams/{quote(name.removeprefix('teams/'))}")
        return _quoted(answer["id"])

    def _get(self, path: str) -> dict[str, Any]:
        return self.retry_policy.run(lambda: self._graph.get(path))

    def _of_user(self, user: str) -> str:
        """Return the feed of a user's mail folders or drive."""
        return f"users/{_quoted(user)}/{'mailFolders' if self._kind == 'mail' else 'drive'}"

    def _mounts(self, feed: str) -> Iterator[Page]:
        """Yield the sites of a tenant, the libraries of a site, or the users, as folders."""
        query = {"users": "?$select=id,userPrincipalName&$top=999", "sites/getAllSites": ""}
        for page in pages_of(self._get, feed + query.get(feed, "?$select=id,name"), _NEXT):
            items: dict[str, Item | None] = {}
            for entry in page["value"]:
                one: str = entry["id"]
                if feed == "users":
                    name, inner = entry["userPrincipalName"], self._of_user(one)
                elif feed.endswith("/drives"):
                    name, inner = entry["name"], f"drives/{_quoted(one)}"
                else:
                    name, inner = _site_name(entry), f"sites/{_quoted(one)}/drives"
                if name:
                    items[one] = Item(one, "", path_name(name), Kind.FOLDER, feed=inner)
            yield Page(items)

    def _file(self, source: SourceFile, feed: str, item: Item, offset: int) -> RangeFile:
        """Return a file of a drive, read range by range from the address that Graph gives for it."""
        place = f"{feed}/items/{_quoted(item.id)}"

        def checked() -> dict[str, Any]:
            """Return the state of the file on the server, which must be the crawled one."""
            state = self._graph.get(place)
            if "malware" in state:
                detail = "the service found malware in it and gives it to nobody"
                raise RefusedError(FailReason.IO_ERROR, detail)
            now = _drive_item_of(state)
            if now is None or (now.size, now.identity) != (source.size, source.inode):
                raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
            return state

        state = checked()

        def fetch(start: int) -> bytes:
            nonlocal state
            try:
                return self._graph.part(state[_ADDRESS], start)
            except RefusedError:  # the address is valid for some minutes
                state = checked()
                return self._graph.part(state[_ADDRESS], start)

        try:
            pages = list(pages_of(self._graph.get, f"{place}/permissions", _NEXT))
        except RefusedError:  # the application may read the file and not its permissions
            pages = []
        owner, readers = access_of(permission for page in pages for permission in page["value"])
        owner = owner or name_of((state.get("createdBy") or {}).get("user") or {})
        return RangeFile(replace(source, owner=owner, readers=readers), fetch, offset, verify=checked)

    def _message(self, source: SourceFile, feed: str, item: Item, offset: int) -> RangeFile:
        """Return a message of a user's mailbox as MIME; its delegates are not known to Graph."""
        place = f"{feed.partition('/mailFolders/')[0]}/messages/{_quoted(item.id)}"
        user = self._names[0] if self._names else source.path.split(b"/")[0].decode("utf-8", "replace")

        def verify() -> None:
            if _message_of(self._graph.get(f"{place}?$select={_MESSAGE}")).identity != source.inode:
                raise RefusedError(FailReason.CHANGED, "not the message that was crawled")

        data = self._graph.content(f"{place}/$value")
        described = replace(source, owner=user, readers=(f"user {user}",))
        return RangeFile(described, lambda start: data[start:], offset, n_bytes=len(data), verify=verify)


def _drive_item_of(entry: dict[str, Any]) -> Item | None:
    """Return an item of a drive; None if it was deleted."""
    if entry.get("deleted") is not None:
        return None
    parent = (entry.get("parentReference") or {}).get("id")
    kind = next((kind for facet, kind in _FACETS.items() if entry.get(facet) is not None), None)
    moment = nanoseconds_of(entry.get("lastModifiedDateTime")) or None
    identity = _identity(entry, entry.get("eTag"))
    return Item(entry["id"], parent, _name(entry.get("name")), kind, entry.get("size"), moment, identity)


def _mail_folder_of(feed: str, entry: dict[str, Any]) -> Item:
    """Return a folder of a mailbox; its messages are in a feed of their own."""
    one, parent, name = entry["id"], entry.get("parentFolderId"), _name(entry.get("displayName"))
    return Item(one, parent, name, Kind.FOLDER, feed=f"{feed}/{_quoted(one)}/messages")


def _message_of(entry: dict[str, Any]) -> Item:
    """Return a message, named by the time at which it came; its subject is in its content."""
    received = entry.get("receivedDateTime")
    name = _name(received and f"{received}.eml".replace(":", "."))
    mark = entry.get("changeKey") or str(entry.get("@odata.etag") or "").removeprefix("W/").strip('"')
    moment = nanoseconds_of(entry.get("lastModifiedDateTime")) or None
    return Item(entry["id"], "", name, Kind.FILE, _MESSAGE_BYTES, moment, _identity(entry, mark))


def _identity(entry: dict[str, Any], mark: str | None) -> int | None:
    return identity_number(entry["id"], mark) if mark else None


def _name(name: str | None) -> bytes | None:
    return None if name is None else path_name(name)


def _site_name(site: dict[str, Any]) -> str:
    """Return the name of a site by its address; "" for the site of a user's own drive.

    >>> _site_name({"webUrl": "https://example.sharepoint.com/sites/wards/icu"})
    'wards/icu'
    """
    parts = urlsplit(site["webUrl"])
    if site.get("isPersonalSite") or parts.netloc.partition(".")[0].endswith("-my"):
        return ""
    return unquote(parts.path).strip("/").removeprefix("sites/") or parts.netloc


def _quoted(part: str) -> str:
    return quote(part, safe="!@,")
