"""Crawl Microsoft 365: ``m365://TENANT/sites/NAME``, ``.../drives/USER`` and ``.../mail/USER``.

Without a name, all sites, drives or mailboxes of the tenant. A feed of the stored listing is named by its
path in Graph: a list of sites, libraries or users, or the delta of a drive, of mail folders or of messages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from phiscan.config import SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.listed_tree import ListedTree
from phiscan.crawl.listing_cache import Item, Kind, Page, original_name, path_name
from phiscan.crawl.microsoft365.contents import (
    DRIVE_ITEM,
    IMMUTABLE,
    MAIL_FOLDER,
    MESSAGE,
    drive_item_of,
    mail_folder_of,
    message_of,
    open_drive_file,
    open_message,
)
from phiscan.crawl.microsoft365.graph import Graph
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.share import Crawled, OpenFile
from phiscan.crawl.share_errors import RefusedError
from phiscan.errors import InputError
from phiscan.model import FailReason, SourceFile

_KINDS = ("sites", "drives", "mail")


class Microsoft365Share(ServerShare):
    """One root in a tenant."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._kind, *self._names = self.location.path or ("",)
        if self._kind not in _KINDS:
            known = ", ".join(f"m365://TENANT/{kind}" for kind in _KINDS)
            message = f"{self.shown}: expected {known}, each with or without /NAME"
            raise InputError(message)
        self._graph = Graph(self.location.host, settings, self.credentials, self.retry_policy)
        self._tree = ListedTree(self.root, settings, self)

    def check(self) -> None:
        """Sign in and request the first page of the root's listing; see ``ServerShare``."""
        try:
            feed, below = self.start()
            whole = {"drive": feed, "mailFolders": f"{feed}?$top=1&$select=id"}
            self._get(whole.get(feed.rpartition("/")[2], feed))
        except RefusedError as error:
            if error.reason is FailReason.CHANGED:
                raise RefusedError(FailReason.IO_ERROR, "no such site or user") from None
            raise
        if below:
            self._tree.check()

    def close(self) -> None:
        """Send no more requests; see ``ServerShare``."""
        super().close()
        self._graph.close()
        self._tree.close()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (items have no hard links)
        """Yield every entry below the root that is not a folder; see ``Share``."""
        try:
            yield from self._tree.crawl(ignore)
        finally:
            self.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled file or message at a position; see ``RemoteShare``."""
        feed, item = self._tree.find(source)
        if item.kind is Kind.PACKAGE:
            raise RefusedError(
                FailReason.UNSUPPORTED, "a package, such as a notebook, of which no files are listed"
            )
        if feed.endswith("/messages"):
            place = f"{feed.partition('/mailFolders/')[0]}/messages/{_quoted(item.id)}"
            user = self._names[0] if self._names else source.path.split(b"/")[0].decode("utf-8", "replace")
            yield open_message(source, self._graph, place, user, offset)
        else:
            yield open_drive_file(source, self._graph, f"{feed}/items/{_quoted(item.id)}", offset)

    # What ``ListedTree`` asks.

    def start(self) -> tuple[str, Sequence[bytes]]:
        """Return the feed of the root; see ``Feeds``."""
        if not self._names:
            return ("sites/getAllSites" if self._kind == "sites" else "users"), ()
        below = [name.encode("utf-8", "surrogateescape") for name in self._names[1:]]
        if self._kind == "sites":
            return f"sites/{self._site}/drives", below
        return self._of_user(self._names[0]), below

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a feed; see ``Feeds``."""
        if feed in {"users", "sites/getAllSites"} or feed.endswith("/drives"):
            yield from self._mounts(feed)
        elif feed.endswith("/messages"):
            yield from self._delta(token or f"{feed}/delta?$select={MESSAGE}", message_of)
        else:
            yield from self._delta_of_tree(feed, token)

    def inner_feed(self, feed: str, folder: str) -> str:
        """Return the feed of a mail folder's messages; see ``Feeds``."""
        return f"{feed}/{_quoted(folder)}/messages" if feed.endswith("/mailFolders") else ""

    @cached_property
    def _site(self) -> str:
        """The id of the site that the root names: by its path below "sites" or "teams", or its host."""
        name = original_name(self._names[0].encode("utf-8", "surrogateescape"))
        try:
            answer = self._get("sites/root?$select=id,webUrl")
            host = urlsplit(answer["webUrl"]).netloc
            if name == host:
                return _quoted(answer["id"])
        except RefusedError as error:
            if error.reason is not FailReason.NO_PERMISSION:
                raise
            host = f"{self.location.host.partition('.')[0]}.sharepoint.com"  # it may read its site only
        other = name if name.startswith("teams/") else f"teams/{name}"
        try:
            answer = self._get(f"sites/{host}:/{quote(f'sites/{name}')}")
        except RefusedError as error:
            if error.reason is not FailReason.CHANGED:
                raise
            answer = self._get(f"sites/{host}:/{quote(other)}")
        return _quoted(answer["id"])

    def _get(self, path: str) -> dict[str, Any]:
        return self.retry_policy.run(lambda: self._graph.get(path))

    def _of_user(self, user: str) -> str:
        """Return the feed of a user's mail folders or drive."""
        return f"users/{_quoted(user)}/{'mailFolders' if self._kind == 'mail' else 'drive'}"

    def _mounts(self, feed: str) -> Iterator[Page]:
        """Yield the sites of a tenant, the libraries of a site, or the users, as folders."""
        query = {"users": "?$select=id,userPrincipalName&$top=999", "sites/getAllSites": ""}
        for page in self._graph.pages(feed + query.get(feed, "?$select=id,name")):
            items = []
            for entry in page["value"]:
                if feed == "users":
                    name, mark = entry["userPrincipalName"], self._of_user(entry["id"])
                elif feed.endswith("/drives"):
                    name, mark = entry["name"], f"drives/{_quoted(entry['id'])}"
                else:
                    name, mark = _site_name(entry), f"sites/{_quoted(entry['id'])}/drives"
                if name:
                    items.append(Item(entry["id"], "", path_name(name), Kind.MOUNT, mark=mark))
            yield Page(items)

    def _delta_of_tree(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a drive or in the folders of a mailbox; first, where it is, its root."""
        is_mail = feed.endswith("/mailFolders")
        if not token:
            place = f"{feed}/msgfolderroot" if is_mail else f"{feed}/root"
            try:
                root = self._get(f"{place}?$select=id")
            except RefusedError as error:
                if self._names or error.reason is not FailReason.CHANGED:
                    raise
                yield Page(())  # one of all users, without a drive or mailbox
                return
            yield Page((Item(root["id"], None, None, Kind.ROOT),))
            token = f"{feed}/delta?$select={MAIL_FOLDER}"
            token = token if is_mail else f"{feed}/root/delta?$select={DRIVE_ITEM}"
        yield from self._delta(token, mail_folder_of if is_mail else drive_item_of)

    def _delta(self, link: str, item_of: Callable[[dict[str, Any]], Item | None]) -> Iterator[Page]:
        for page in self._graph.pages(link, prefer=IMMUTABLE):
            last = {entry["id"]: entry for entry in page["value"]}  # an item may come twice
            found = {one: None if "@removed" in entry else item_of(entry) for one, entry in last.items()}
            items = [item for item in found.values() if item is not None]
            removed = [one for one, item in found.items() if item is None]
            yield Page(items, removed, page.get("@odata.deltaLink", ""))


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
