"""Walk the folders of a source by its stored listing, and find the item of a crawled file in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from typing import Protocol

from phiscan.config import SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.listing_cache import (
    DamagedListingError,
    Item,
    Kind,
    ListingCache,
    Page,
    path_name,
)
from phiscan.crawl.share import Crawled
from phiscan.crawl.share_errors import RefusedError
from phiscan.crawl.walk import Entry, walk
from phiscan.model import FailReason, SkipReason, SourceFile

_FOLDERS = frozenset({Kind.FOLDER, Kind.MOUNT})


class Feeds(Protocol):
    """A source that lists its items by feeds."""

    def start(self) -> tuple[str, Sequence[bytes]]:
        """Return the feed of the root, and the names of the folders on the way to the root in it.

        Raises:
            RefusedError, UnansweredError: there is none.
        """

    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a feed since its token; everything, if the token is empty.

        Raises:
            RefusedError, UnansweredError: it cannot be listed.
        """

    def inner_feed(self, feed: str, folder: str) -> str:
        """Return the feed of further entries of a folder, by its id; "" = it has no others."""


class ListedTree:
    """The folders and files below one root; thread-safe."""

    def __init__(self, root: bytes, settings: SharesTable, source: Feeds) -> None:
        self._root = root
        self._source = source
        self._cache = ListingCache(settings.listings, root)

    def close(self) -> None:
        """Close the stored listing."""
        self._cache.close()

    def check(self) -> None:
        """Find the folder of the root.

        Raises:
            RefusedError, UnansweredError: there is none, or it cannot be listed.
        """
        self._enter([], self._refresh)

    def crawl(self, ignore: IgnoreRules) -> Iterator[Crawled]:
        """Yield every entry that is not a folder, with one delta for each feed on the way; see ``Share``."""
        self._cache.begin()
        yield from walk(self._root, self._list, ignore)

    def find(self, source: SourceFile) -> tuple[str, Item]:
        """Return the feed and the item of a crawled file, if need be from a new delta.

        Raises:
            RefusedError: the file is gone, or is another one.
            UnansweredError: no answer.
        """
        for fresh in (self._ensure, self._refresh):
            try:
                feed, item = self._find(source.path.split(b"/"), fresh)
            except RefusedError as error:
                if error.reason is not FailReason.CHANGED:
                    raise
                continue
            if item_identity(item) == source.inode:
                return feed, item
        raise RefusedError(FailReason.CHANGED, "not the file that was crawled")

    def _list(self, folder: bytes) -> list[Entry]:
        try:
            return self._entries(folder)
        except DamagedListingError:
            return self._entries(folder)

    def _entries(self, folder: bytes) -> list[Entry]:
        feed, parent = self._enter(folder.split(b"/") if folder else [], self._refresh)
        items = self._cache.children(feed, parent)
        inner = self._inner_feed(feed, parent)
        if inner:
            self._refresh(inner)
            items += self._cache.children(inner, self._cache.top(inner))
        return entries_of(self._root, folder, items)

    def _find(self, names: Sequence[bytes], fresh: Callable[[str], None]) -> tuple[str, Item]:
        feed, parent = self._enter(names[:-1], fresh)
        item = self._cache.child(feed, parent, names[-1])
        inner = self._inner_feed(feed, parent)
        if item is None and inner:
            fresh(inner)
            feed, item = inner, self._cache.child(inner, self._cache.top(inner), names[-1])
        if item is None:
            raise RefusedError(FailReason.CHANGED, "vanished before it was read")
        return feed, item

    def _enter(self, names: Sequence[bytes], fresh: Callable[[str], None]) -> tuple[str, str]:
        """Return the feed and the id of a folder below the root."""
        feed, outer = self._source.start()
        fresh(feed)
        parent = self._cache.top(feed)
        for name in (*outer, *names):
            item = self._cache.child(feed, parent, name)
            if item is None:  # of the root, as its user wrote it
                written = path_name(name.decode("utf-8", "surrogateescape"))
                item = self._cache.child(feed, parent, written)
            if item is None or item.kind not in _FOLDERS:
                raise RefusedError(FailReason.CHANGED, "no such folder")
            if item.kind is Kind.MOUNT:
                feed = item.mark or ""
                fresh(feed)
                parent = self._cache.top(feed)
            else:
                parent = item.id
        return feed, parent

    def _inner_feed(self, feed: str, folder: str) -> str:
        return "" if folder == self._cache.top(feed) else self._source.inner_feed(feed, folder)

    def _refresh(self, feed: str) -> None:
        self._cache.refresh(feed, lambda token: self._source.pages(feed, token))

    def _ensure(self, feed: str) -> None:
        self._cache.ensure(feed, lambda token: self._source.pages(feed, token))


def entries_of(root: bytes, folder: bytes, items: list[Item]) -> list[Entry]:
    """Return the entries of a folder from its items, each with a name of its own.

    Some sources allow equal names in one folder: the oldest item has the plain name, the others have their id
    before the ending.
    """
    prefix = folder + b"/" if folder else b""
    entries = []
    for name, item in _distinct(items):
        kind, moment = item.kind, item.mtime_ns or 0
        inode = item_identity(item)
        source = SourceFile(root, prefix + name, item.size or 0, moment, moment, inode, device=0)
        is_folder = kind is Kind.FOLDER or kind is Kind.MOUNT
        entries.append(Entry(source, is_folder, SkipReason.SYMLINK if kind is Kind.LINK else None))
    return entries


def item_identity(item: Item) -> int:
    """Return the number that identifies the content of an item, used as its inode."""
    marks = f"{item.id}\0{item.mark or ''}".encode()
    return int.from_bytes(blake2b(marks, digest_size=8).digest(), "big") >> 1


def _distinct(items: list[Item]) -> Iterator[tuple[bytes, Item]]:
    """Yield each item with its own name; items with equal names come in the order of their age."""
    if len({item.name for item in items}) < len(items):
        items = sorted(items, key=lambda item: (item.born or "", item.id))
    taken: set[bytes] = set()
    later: list[tuple[bytes, Item]] = []
    for item in items:
        name = item.name or b"%"
        if name not in taken:
            taken.add(name)
            yield name, item
        else:
            later.append((name, item))
    for name, item in later:
        while name in taken:
            stem, dot, ending = name.rpartition(b".")
            mark = b" [" + path_name(item.id) + b"]"
            name = stem + mark + dot + ending if stem else name + mark  # noqa: PLW2901 (until it is free)
        taken.add(name)
        yield name, item
