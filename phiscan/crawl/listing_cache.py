"""Listings of sources that report only changes, kept between scans in one SQLite file for each root.

A feed is what has a delta token of its own: a drive, or one folder of a mailbox. All pages of a delta and the
token of the next one are stored in one transaction, so that a process that is killed leaves the state before
or after it. The file holds names, sizes and times, as the database does, and can always be read again from
the source; a damaged one is.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from enum import IntEnum
from functools import lru_cache, partial
from pathlib import Path
from typing import NamedTuple

from blake3 import blake3

from phiscan.crawl.location import escaped, unescaped
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.model import FailReason

_VERSION = 1  # of the tables; another one is read again from the source
_TABLES = """
CREATE TABLE feeds (number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, token TEXT NOT NULL);
CREATE TABLE items (
    feed INTEGER NOT NULL, id TEXT NOT NULL, parent TEXT, name BLOB, kind INTEGER, size INTEGER,
    mtime_ns INTEGER, mark TEXT, born TEXT, PRIMARY KEY (feed, id)
);
CREATE INDEX children ON items (feed, parent, name);
CREATE INDEX roots ON items (feed) WHERE kind = 2;
"""
_STORE = """
INSERT INTO items VALUES {rows} ON CONFLICT (feed, id) DO UPDATE SET
    parent = coalesce(excluded.parent, parent), name = coalesce(excluded.name, name),
    kind = coalesce(excluded.kind, kind), size = coalesce(excluded.size, size),
    mtime_ns = coalesce(excluded.mtime_ns, mtime_ns), mark = coalesce(excluded.mark, mark),
    born = coalesce(excluded.born, born)
"""
_COLUMNS = "id, parent, name, kind, size, mtime_ns, mark, born"
_ROWS = 200  # stored by one statement
_WAIT_S = 600.0  # for another process that stores a delta of the same root
_CACHE_KIB = 65_536  # ids come in no order, so that a small cache would be written again and again
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_WITH_ID = re.compile(rb" \[([^\[\]]+)\](?:\.[^.]*)?$")


class Kind(IntEnum):
    """What an item is to a walk."""

    FILE = 0
    FOLDER = 1
    ROOT = 2  # (also in the statements above) the folder that contains all others of its feed
    MOUNT = 3  # a folder whose entries are those of another feed, which its mark names
    LINK = 4  # a shortcut, never followed
    PACKAGE = 5  # a folder if it has entries, else a file


_KINDS = tuple(Kind)
_PLAIN = (Kind.FILE, Kind.FOLDER)


class Item(NamedTuple):
    """An item of a source; what a delta does not report of a known item is None and stays as it was."""

    id: str
    parent: str | None
    name: bytes | None  # as in the path, see ``path_name``
    kind: Kind | None
    size: int | None = None
    mtime_ns: int | None = None
    mark: str | None = None  # changes with the content
    born: str | None = None  # of items with equal names, the oldest has the plain name


class Page(NamedTuple):
    """A part of a delta; the token of the last page is stored. An empty token: the next listing is whole."""

    items: Iterable[Item]
    removed: Iterable[str] = ()
    token: str = ""


Pages = Callable[[str], Iterator[Page]]


class DamagedListingError(UnansweredError):
    """The stored listing was damaged and has been removed; it is read again at the next attempt."""

    def __init__(self) -> None:
        super().__init__("the stored listing was damaged", is_gone=False)


class ListingCache:
    """The items of one root, by feed and parent; thread-safe."""

    def __init__(self, folder: str, root: bytes) -> None:
        self._path = Path(folder) / f"{blake3(root).hexdigest()[:32]}.sqlite"
        self._reading, self._writing = threading.Lock(), threading.Lock()
        self._locks: dict[str, threading.Lock] = {}
        self._reader: sqlite3.Connection | None = None
        self._writer: sqlite3.Connection | None = None
        self._refreshed: set[str] = set()  # feeds that need no request any more

    def begin(self) -> None:
        """Begin a crawl: every feed is refreshed once, when it is first needed."""
        self._refreshed.clear()

    def close(self) -> None:
        """Close the file."""
        with self._reading, self._writing:
            self._close()

    def refresh(self, feed: str, pages: Pages) -> None:
        """Store what changed in a feed since its token, once in a crawl; ``pages`` gets the token.

        A token that is refused (expired, or of another state of the server) is replaced by a whole listing.

        Raises:
            RefusedError, UnansweredError: it cannot be listed; then nothing is stored.
        """
        with self._locks.setdefault(feed, threading.Lock()):
            if feed in self._refreshed:
                return
            token = self._token(feed) or ""
            try:
                self._apply(feed, pages(token), is_whole=not token)
            except RefusedError:
                if not token:
                    raise
                self._apply(feed, pages(""), is_whole=True)
            self._refreshed.add(feed)

    def ensure(self, feed: str, pages: Pages) -> None:
        """Refresh a feed only if nothing of it is stored.

        Raises:
            RefusedError, UnansweredError: it cannot be listed.
        """
        if self._token(feed) is None:
            self.refresh(feed, pages)

    def top(self, feed: str) -> str:
        """Return the id that the uppermost entries of a feed have as parent."""
        rows = self._rows(feed, "kind = 2", index="roots")
        return rows[0].id if rows else ""

    def children(self, feed: str, parent: str) -> list[Item]:
        """Return the items in a folder, in no order."""
        found = self._rows(feed, "parent = ?", parent, index="children")
        if all(item.kind in _PLAIN for item in found):
            return found
        return [self._unpacked(feed, item) for item in found if item.kind is not Kind.ROOT]

    def child(self, feed: str, parent: str, name: bytes) -> Item | None:
        """Return the item that has a name in the listing of a folder, as ``ListedTree`` gives names."""
        equal = "parent = ? AND name = ? ORDER BY born, id LIMIT 1"
        rows = self._rows(feed, equal, parent, name, index="children")
        if not rows and (match := _WITH_ID.search(name)):
            rows = self._rows(feed, "id = ? AND parent = ?", original_name(match[1]), parent)
        return self._unpacked(feed, rows[0]) if rows else None

    def _unpacked(self, feed: str, item: Item) -> Item:
        """Return an item of which a package is known to be a folder or a file."""
        if item.kind is not Kind.PACKAGE:
            return item
        has_entries = bool(self._rows(feed, "parent = ? LIMIT 1", item.id, index="children"))
        return item._replace(kind=Kind.FOLDER) if has_entries else item

    def _token(self, feed: str) -> str | None:
        """Return the token of a feed; None if nothing of it is stored."""
        with self._reading, self._guarded():
            query = "SELECT token FROM feeds WHERE name = ?"
            row = self._connection(is_reader=True).execute(query, (feed,)).fetchone()
        return None if row is None else str(row[0])

    def _rows(self, feed: str, condition: str, *values: str | bytes, index: str = "") -> list[Item]:
        """Return the items of a feed that meet a condition, by an index that SQLite would not choose."""
        table = f"items INDEXED BY {index}" if index else "items"
        query = f"SELECT {_COLUMNS} FROM {table} WHERE feed = (SELECT number FROM feeds WHERE name = ?) AND "  # noqa: S608 (of this module)
        with self._reading, self._guarded():
            rows = self._connection(is_reader=True).execute(query + condition, (feed, *values)).fetchall()
        return [Item(one, parent, name, _KINDS[kind or 0], *more) for one, parent, name, kind, *more in rows]

    def _apply(self, feed: str, pages: Iterator[Page], *, is_whole: bool) -> None:
        """Store all pages and the token of the last one in one transaction."""
        ahead = ThreadPoolExecutor(1, thread_name_prefix="delta")  # fetches while the page before is stored
        try:
            # Most deltas are one page; it is fetched while other feeds may be stored.
            first = ahead.submit(next, pages, None).result()
            self._store(feed, first, partial(ahead.submit, next, pages, None), is_whole=is_whole)
        finally:
            ahead.shutdown()

    def _store(
        self, feed: str, page: Page | None, fetch: Callable[[], Future[Page | None]], *, is_whole: bool
    ) -> None:
        with self._writing, self._guarded():
            database = self._connection(is_reader=False)
            database.execute("BEGIN IMMEDIATE")
            try:
                database.execute(
                    "INSERT INTO feeds (name, token) VALUES (?, '') ON CONFLICT DO NOTHING", (feed,)
                )
                number = database.execute("SELECT number FROM feeds WHERE name = ?", (feed,)).fetchone()[0]
                if is_whole:
                    database.execute("DELETE FROM items WHERE feed = ?", (number,))
                token = ""
                while page is not None:
                    upcoming = fetch()
                    items = list(page.items)
                    for start in range(0, len(items), _ROWS):
                        rows = items[start : start + _ROWS]
                        values = [value for item in rows for value in (number, *item)]
                        database.execute(_store_rows(len(rows)), values)
                    removed = ((number, one) for one in page.removed)
                    database.executemany("DELETE FROM items WHERE feed = ? AND id = ?", removed)
                    token = page.token
                    page = upcoming.result()
                database.execute("UPDATE feeds SET token = ? WHERE number = ?", (token, number))
            except BaseException:
                database.rollback()
                raise
            database.commit()

    def _connection(self, *, is_reader: bool) -> sqlite3.Connection:
        """Return the connection for reading, or the one for writing; the file is made if there is none."""
        found = self._reader if is_reader else self._writer
        if found is not None:
            return found
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        os.close(os.open(self._path, os.O_CREAT | os.O_RDWR, 0o600))
        made = sqlite3.connect(self._path, _WAIT_S, isolation_level=None, check_same_thread=False)
        made.execute("PRAGMA journal_mode = WAL")
        made.execute("PRAGMA synchronous = NORMAL")
        made.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        if _version_of(made) != _VERSION:
            made.execute("BEGIN IMMEDIATE")
            if _version_of(made) != _VERSION:  # unless another process was faster
                for table in ("items", "feeds"):
                    made.execute(f"DROP TABLE IF EXISTS {table}")
                for statement in filter(str.strip, _TABLES.split(";")):
                    made.execute(statement)
                made.execute(f"PRAGMA user_version = {_VERSION}")
            made.commit()
        if is_reader:
            self._reader = made
        else:
            self._writer = made
        return made

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        """Translate errors of the file, which is removed if it is damaged."""
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            if getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGED:
                detail = f"the stored listing cannot be used ({type(error).__name__})"
                raise RefusedError(FailReason.IO_ERROR, detail) from None
            self._close()
            for ending in ("", "-wal", "-shm"):
                Path(f"{self._path}{ending}").unlink(missing_ok=True)
            self._refreshed.clear()
            raise DamagedListingError from None

    def _close(self) -> None:
        for connection in (self._reader, self._writer):
            if connection is not None:
                connection.close()
        self._reader = self._writer = None


@lru_cache(2 * _ROWS)
def _store_rows(n_rows: int) -> str:
    """Return the statement for several rows, since each statement waits for the thread that fetches."""
    return _STORE.format(rows=", ".join(["(?, ?, ?, ?, ?, ?, ?, ?, ?)"] * n_rows))


def _version_of(database: sqlite3.Connection) -> int:
    version: int = database.execute("PRAGMA user_version").fetchone()[0]
    return version


def path_name(name: str) -> bytes:
    r"""Return a name as one part of a raw path, reversibly: ``original_name`` gives it back.

    >>> path_name("bloods 3/4, 100%.txt"), original_name(path_name("%2F\0"))
    (b'bloods 3%2F4, 100%25.txt', '%2F\x00')
    """
    return escaped(name).replace("\0", "%00").encode("utf-8", "surrogatepass")


def original_name(raw: bytes) -> str:
    """Return the name from which ``path_name`` made a part of a path."""
    return unescaped(raw.decode("utf-8", "surrogatepass").replace("%00", "\0"))
