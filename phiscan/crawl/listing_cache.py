"""Sources that report only changes: their listing, kept between scans in one SQLite file for each root.

A feed is what has a delta token of its own: a drive, or one folder of a mailbox. All pages of a delta and the
token of the next one are stored in one transaction, so that a process that is killed leaves the state before
or after it. The file holds names, sizes and times, as the database does, and can always be read again from
the source; a damaged one is.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import IntEnum
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from blake3 import blake3

from phiscan.config import SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.location import escaped
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.share import Crawled, RefusedError, UnansweredError
from phiscan.crawl.walk import walk
from phiscan.model import FailReason, SkipReason, SourceFile

# Ids come in no order, so that a small cache would be written again and again.
_TABLES = """
PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;
CREATE TABLE IF NOT EXISTS feeds (number INTEGER PRIMARY KEY, name TEXT UNIQUE, token TEXT, top TEXT);
CREATE TABLE IF NOT EXISTS items (
    number INTEGER, id TEXT, parent TEXT, name BLOB, kind INTEGER, size INTEGER, mtime_ns INTEGER,
    identity INTEGER, born TEXT, feed TEXT, PRIMARY KEY (number, id)
);
CREATE INDEX IF NOT EXISTS children ON items (number, parent);
CREATE INDEX IF NOT EXISTS identities ON items (identity);
"""
_STORE = """
INSERT INTO items VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (number, id) DO UPDATE SET
    parent = coalesce(excluded.parent, parent), name = coalesce(excluded.name, name),
    kind = coalesce(excluded.kind, kind), size = coalesce(excluded.size, size),
    mtime_ns = coalesce(excluded.mtime_ns, mtime_ns), identity = coalesce(excluded.identity, identity),
    born = coalesce(excluded.born, born), feed = coalesce(excluded.feed, feed)
"""
_SELECT = """
SELECT feeds.name, id, parent, one.name, iif(kind = 3 AND EXISTS (
    SELECT 1 FROM items WHERE number = one.number AND parent = one.id
), 1, kind), size, mtime_ns, identity, born, feed FROM items AS one JOIN feeds USING (number) WHERE
"""
_WAIT_S = 60.0  # for another scan that stores a delta of the same root
# The last one: it has tables of another version.
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR})


class Kind(IntEnum):
    """What an item is to a walk."""

    FILE = 0
    FOLDER = 1  # (the numbers are also in the statements above)
    LINK = 2  # a shortcut, never followed
    PACKAGE = 3  # a folder if it has entries, else a file


class Item(NamedTuple):
    """An item of a source; what a delta does not report of a known item is None and stays as it was."""

    id: str
    parent: str | None  # the id of its folder; "" = it is one of the uppermost of its feed
    name: bytes | None  # as in the path, see ``path_name``
    kind: Kind | None
    size: int | None = None
    mtime_ns: int | None = None
    identity: int | None = None  # number that changes with the content, used as the inode
    born: str | None = None  # of items with equal names, the oldest has the plain name
    feed: str | None = None  # of a folder: the feed of its entries, or of more of them


class Page(NamedTuple):
    """A part of a delta; the token of the last page is stored. An empty token: the next listing is whole."""

    items: Mapping[str, Item | None]  # by id; None = it is gone
    token: str = ""
    top: str | None = None  # id of the folder that has the uppermost items, known from the first page on


Found = tuple[str, Item]  # with its feed
Place = tuple[tuple[str, str], ...]  # feeds, and ids of folders in them, that have the entries of a folder


class ListingCache:
    """The items of one root, by feed and parent; thread-safe."""

    def __init__(self, folder: str, root: bytes) -> None:
        self._path = Path(folder) / f"{blake3(root).hexdigest()[:32]}.sqlite"
        self._lock = threading.RLock()
        self._feed_locks: dict[str, threading.Lock] = {}
        self._connection: sqlite3.Connection | None = None
        self._refreshed: set[str] = set()  # feeds that need no request any more

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def refresh(self, feed: str, pages: Callable[[str], Iterator[Page]]) -> None:
        """Store what changed in a feed since its token, once for a share; ``pages`` gets the token.

        A token that is refused (expired, or of another state of the server) is replaced by a whole listing.

        Raises:
            RefusedError, UnansweredError: it cannot be listed; then nothing is stored.
        """
        with self._feed_locks.setdefault(feed, threading.Lock()):
            if feed in self._refreshed:
                return
            token = ""
            with suppress(RefusedError), self._database() as database:  # else it is damaged, and removed
                query = "SELECT coalesce(max(token), '') FROM feeds WHERE name = ?"
                token = database.execute(query, (feed,)).fetchone()[0]
            try:
                self._store(feed, pages(token), is_whole=not token)
            except RefusedError:
                if not token:
                    raise
                self._store(feed, pages(""), is_whole=True)
            self._refreshed.add(feed)

    def children(self, feed: str, parent: str) -> list[Found]:
        """Return the items in a folder, in no order; ``parent`` as in ``Item``."""
        return self._select("number = (SELECT number FROM feeds WHERE name = ?) AND parent = ?", feed, parent)

    def identified(self, identity: int) -> list[Found]:
        """Return the items, in all feeds, that have an identity."""
        return self._select("identity = ?", identity)

    def _select(self, condition: str, *values: str | int) -> list[Found]:
        with self._database() as database:
            rows = database.execute(_SELECT + condition, values).fetchall()
        return [(feed, Item(*values)) for feed, *values in rows]

    def _store(self, feed: str, pages: Iterator[Page], *, is_whole: bool) -> None:
        first = next(pages, Page({}))  # most deltas are one page: no other feed waits for it
        with self._database() as database, database:
            database.execute("BEGIN IMMEDIATE")
            database.execute("INSERT INTO feeds VALUES (NULL, ?, '', '') ON CONFLICT DO NOTHING", (feed,))
            query = "SELECT number, top FROM feeds WHERE name = ?"
            number, top = database.execute(query, (feed,)).fetchone()
            if is_whole:
                database.execute("DELETE FROM items WHERE number = ?", (number,))
            token = ""
            for page in chain((first,), pages):
                token, top = page.token, top if page.top is None else page.top
                kept = (item for one, item in page.items.items() if item is not None and one != top)
                rows = ((number, one, "" if parent == top else parent, *more) for one, parent, *more in kept)
                database.executemany(_STORE, rows)
                gone = ((number, one) for one, item in page.items.items() if item is None)
                database.executemany("DELETE FROM items WHERE number = ? AND id = ?", gone)
            database.execute("UPDATE feeds SET token = ?, top = ? WHERE number = ?", (token, top, number))

    @contextmanager
    def _database(self) -> Iterator[sqlite3.Connection]:
        """Give the connection to one thread; translate errors of the file, which is removed if damaged."""
        with self._lock:
            try:
                if self._connection is None:
                    self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                    os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
                    self._connection = sqlite3.connect(
                        self._path, _WAIT_S, isolation_level=None, check_same_thread=False
                    )
                    self._connection.executescript(_TABLES)
                yield self._connection
            except (sqlite3.Error, OSError) as error:
                self.close()
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if code == sqlite3.SQLITE_BUSY:
                    detail = "another scan is storing the listing of this root; try again when it has ended"
                    raise UnansweredError(detail, is_gone=False) from None
                if code in _DAMAGED:
                    for ending in ("", "-wal", "-shm"):
                        Path(f"{self._path}{ending}").unlink(missing_ok=True)
                    self._refreshed.clear()
                detail = f"the stored listing cannot be used ({type(error).__name__})"
                raise RefusedError(FailReason.IO_ERROR, detail) from None


class ListedShare(ServerShare):
    """One root on a server that lists by feeds; see ``ServerShare`` for the public methods."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        super().__init__(root, settings)
        self._cache = ListingCache(settings.listings, self.root)
        self._places: dict[bytes, Place] = {}  # of folders that are to be listed, by path

    @abstractmethod
    def start(self) -> tuple[str, Sequence[str]]:
        """Return the feed of the root, and the names of the folders on the way to the root in it."""

    @abstractmethod
    def pages(self, feed: str, token: str) -> Iterator[Page]:
        """Yield what changed in a feed since its token; everything, if the token is empty."""

    def check(self) -> None:
        """Sign in, request the first page of the root's feed, and find its folder; see ``ServerShare``."""
        try:
            feed, below = self.start()
            next(self.pages(feed, ""), None)
        except RefusedError as error:
            if error.reason is FailReason.CHANGED:
                raise RefusedError(FailReason.IO_ERROR, "no such site, user or drive") from None
            raise
        if below:
            self._enter(b"")

    def close(self) -> None:
        """Send no more requests, and close the stored listing; see ``ServerShare``."""
        super().close()
        self._cache.close()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (a file is listed in one folder)
        """Yield every entry that is not a folder, with one delta for each feed; see ``ServerShare``."""
        try:
            yield from walk(self.root, self._list, ignore)
        finally:
            self.close()

    def find(self, source: SourceFile) -> Found:
        """Return the feed and the item of a crawled file, if need be from a new delta.

        Raises:
            RefusedError: the file is gone, or is another one.
            UnansweredError: no answer.
        """
        known = self._cache.identified(source.inode)
        if len(known) == 1:  # a file that is shared with several users is in the feed of each
            return known[0]
        folder, _, name = source.path.rpartition(b"/")
        found = self._entries(self._enter(folder)).get(name)
        if found is None or (found[1].identity or 0) != source.inode:
            raise RefusedError(FailReason.CHANGED, "not the file that was crawled")
        return found

    def _list(self, folder: bytes) -> list[Crawled]:
        place = self._places.pop(folder, ()) or self._enter(folder)
        entries = []
        for name, (feed, item) in self._entries(place).items():
            path, moment = (folder + b"/" + name).lstrip(b"/"), item.mtime_ns or 0
            if item.kind == Kind.FOLDER:
                self._places[path] = _inside(feed, item)
            source = SourceFile(self.root, path, item.size or 0, moment, moment, item.identity or 0, 0)
            skip = SkipReason.SYMLINK if item.kind == Kind.LINK else None
            entries.append(Crawled(source, skip, is_folder=item.kind == Kind.FOLDER))
        return entries

    def _enter(self, folder: bytes) -> Place:
        """Return the place of a folder, by its path relative to the root."""
        feed, names = self.start()
        place: Place = ((feed, ""),)
        outer = [name.encode("utf-8", "surrogateescape") for name in names]
        for name in filter(None, (*outer, *folder.split(b"/"))):
            entries = self._entries(place)
            # Names on the way to the root are as its user wrote them.
            found = entries.get(name) or entries.get(path_name(name.decode("utf-8", "surrogateescape")))
            if found is None or found[1].kind != Kind.FOLDER:
                raise RefusedError(FailReason.CHANGED, "no such folder")
            place = _inside(*found)
        return place

    def _entries(self, place: Place) -> dict[bytes, Found]:
        """Return the entries of a folder, each by a name of its own.

        Some sources allow equal names in one folder: the oldest item has the plain name, the others have
        their id before the ending.
        """
        items: list[Found] = []
        for feed, parent in place:
            self._cache.refresh(feed, partial(self.pages, feed))
            items += self._cache.children(feed, parent)
        found: dict[bytes, Found] = {}
        for feed, item in sorted(items, key=lambda one: (one[1].born or "", one[1].id)):
            name = item.name or b"%"
            while name in found:
                stem, dot, ending = name.rpartition(b".")
                mark = b" [" + path_name(item.id) + b"]"
                name = stem + mark + dot + ending if stem else name + mark
            found[name] = feed, item
        return found


def _inside(feed: str, folder: Item) -> Place:
    """Return the place of the entries of a folder."""
    return ((feed, folder.id), (folder.feed, "")) if folder.feed else ((feed, folder.id),)


def pages_of(
    get: Callable[[str], dict[str, Any]], link: str, key: str, link_of: Callable[[str], str] = str
) -> Iterator[dict[str, Any]]:
    """Yield the pages of a listing, each with a link or token for the next one; none is got twice."""
    seen = set()
    while link:
        if link in seen:
            raise RefusedError(FailReason.IO_ERROR, "the server lists the same page again")
        seen.add(link)
        page = get(link)
        yield page
        link = link_of(page[key]) if page.get(key) else ""


def path_name(name: str) -> bytes:
    """Return a name of the source as one part of a raw path, see ``escaped``."""
    return escaped(name).encode("utf-8", "surrogatepass")
