"""What the servers that stand for cloud services have in common: drives, logs of changes, tokens, pages.

Tests change drives; what a service shows of them, and how, is in the module of the service.
"""

import base64
import hashlib
import itertools
import re
import secrets
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from tests.servers.api_server import Answer, ApiServer, Request

_START = datetime(2026, 1, 1)  # noqa: DTZ001 (shown as UTC)
_clock = itertools.count()
_numbers = itertools.count()


def next_time() -> str:
    """Return a later time than before, one second each."""
    return f"{(_START + timedelta(seconds=next(_clock))).isoformat()}Z"


def opaque_id(prefix: str = "01") -> str:
    return prefix + base64.b32encode(hashlib.sha256(str(next(_numbers)).encode()).digest()[:20]).decode()


class Log:
    """What changed: each thing once, at its latest change."""

    def __init__(self) -> None:
        self.position = 0
        self.latest: dict[str, tuple[int, Any]] = {}

    def record(self, key: str, state: Any) -> None:
        self.position += 1
        self.latest.pop(key, None)
        self.latest[key] = (self.position, state)

    def since(self, position: int) -> list[Any]:
        """Return what changed after a position, the oldest change first."""
        return [state for at, state in list(self.latest.values()) if at > position]


@dataclass(slots=True, eq=False)
class Item:
    """A file with content, or what ``more`` says in words of the service; without either a folder."""

    id: str
    name: str
    parent: "Item | None"
    drive: "Drive"
    content: bytes | None
    more: dict[str, Any]
    created: str = field(default_factory=next_time)
    modified: str = field(default_factory=next_time)
    version: int = 1
    is_deleted: bool = False
    is_trashed: bool = False
    former: "tuple[str, Item | None] | None" = None
    children: "dict[str, Item]" = field(default_factory=dict)
    permissions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def is_folder(self) -> bool:
        return self.content is None and not self.more

    @property
    def ancestors(self) -> "Iterator[Item]":
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    @property
    def tree(self) -> "list[Item]":
        return [self, *(one for child in self.children.values() for one in child.tree)]


class Drive(Log):
    """A tree of items; a path starts below its root and has / between names.

    What is in a folder is not reported when the folder is renamed or moved, since its parents stay the same.
    """

    def __init__(self, name: str, permission: dict[str, Any] | None = None) -> None:
        super().__init__()
        self.id, self.name = opaque_id("b!"), name
        self.items: dict[str, Item] = {}
        self.root = self._new("root", None, None, {})
        self.root.permissions = [permission] if permission else []

    def add(self, path: str, content: bytes | None = b"x", *, name: str = "", **more: Any) -> Item:
        """Add a file and the folders above; ``name``: in place of the last part, may have / in it."""
        above, _, last = path.strip("/").rpartition("/")
        return self._new(name or last, self.folder(above), content, more)

    def folder(self, path: str) -> Item:
        """Return a folder; it is added if it does not exist."""
        here = self.root
        for name in filter(None, path.split("/")):
            known = next((one for one in here.children.values() if one.name == name), None)
            here = known or self._new(name, here, None, {})
        return here

    def rename(self, item: Item, name: str) -> None:
        item.former, item.name = (item.name, item.parent), name
        self.touch(item)

    def move(self, item: Item, folder: Item) -> None:
        item.former = (item.name, item.parent)
        self._detach(item)
        item.parent = folder
        folder.children[item.id] = item
        self.touch(item)

    def replace(self, item: Item, content: bytes) -> None:
        item.content = content
        self.touch(item)

    def delete(self, item: Item) -> None:
        """Delete for good; what is in it is reported too."""
        self._detach(item)
        for one in item.tree:
            one.is_deleted = True
            self.touch(one)

    def trash(self, item: Item) -> None:
        """Move to the trash: what is in a folder is trashed too, and reported."""
        item.is_trashed = True
        for one in item.tree:
            self.touch(one)

    def share(self, item: Item, *permissions: dict[str, Any]) -> None:
        """Set the item's own permissions; its version stays."""
        item.permissions = list(permissions)
        self.record(item.id, item)

    def touch(self, item: Item) -> None:
        item.version += 1
        item.modified = next_time()
        self.record(item.id, item)

    def find(self, key: str) -> Item | None:
        """Return an item by its id, or "root"."""
        found = self.root if key == "root" else self.items.get(key)
        return None if found is None or found.is_deleted else found

    def _new(self, name: str, parent: Item | None, content: bytes | None, more: dict[str, Any]) -> Item:
        item = Item(opaque_id(), name, parent, self, content, more)
        self.items[item.id] = item
        if parent is not None:
            parent.children[item.id] = item
        self.record(item.id, item)
        return item

    @staticmethod
    def _detach(item: Item) -> None:
        if item.parent is not None:
            del item.parent.children[item.id]


class Refused(Exception):  # noqa: N818 (an answer, no fault of the server)
    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.status)
        self.answer = answer


def refuse(answer: Answer) -> NoReturn:
    raise Refused(answer)


@dataclass(frozen=True, slots=True)
class Listing:
    """What a token of a listing stands for: rows from an offset on; without rows the state of a log."""

    about: object
    rows: list[Any] | None
    offset: int = 0
    until: int = 0
    options: dict[str, str] = field(default_factory=dict)


class CloudServer(ApiServer):
    """A service with access tokens and tokens of listings, each of which stands for what is kept of it.

    ``secret`` may be shown to nobody, ``public`` is a permission of everybody.
    """

    api: str  # the path of each request, but those that sign in
    changes_path: str  # in that of each request for changes
    users_root: str  # the URL above users' drives
    secret: str
    public: dict[str, Any]
    shortcut: dict[str, Any]  # what an item has more that is one
    routes: tuple[tuple[str, Callable[..., Answer]], ...]

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__(folder)
        self.page_size = 1000  # of files and changes
        self.tokens: dict[str, Any] = {}  # access token -> what was granted
        self.kept: dict[str, Any] = {}

    @abstractmethod
    def environment(self, folder: Path) -> dict[str, str]:
        """Return what signs in, with files in a folder."""

    @abstractmethod
    def add_user(self, name: str) -> Drive:
        """Add a user, and return the drive of the user."""

    @abstractmethod
    def throttle(self, n: int, *, path: str = "") -> None:
        """Refuse the next n requests whose path contains a text, as when there are too many."""

    @abstractmethod
    def expire_listings(self, code: str = "") -> None:
        """Make all tokens of listings invalid; ``code``: of the answer, where there are several."""

    def expire_tokens(self) -> None:
        """Make all access tokens invalid."""
        self.tokens.clear()

    def grant(self, to: Any) -> dict[str, Any]:
        """Return an access token (RFC 6749, 5.1)."""
        token = secrets.token_urlsafe(24)
        self.tokens[token] = to
        return {"token_type": "Bearer", "access_token": token, "expires_in": 3599}

    def keep(self, value: Any) -> str:
        token = secrets.token_urlsafe(24)
        self.kept[token] = value
        return token

    def listing(self, token: str, about: object) -> Listing | None:
        """Return what a token stands for, if it is of a listing of this."""
        known = self.kept.get(token)
        return known if isinstance(known, Listing) and known.about == about else None

    def cut(self, listing: Listing, n_rows: int) -> tuple[list[Any], str]:
        """Return rows, and the token of the rows behind them; "" at the end."""
        rows, end = listing.rows or [], listing.offset + n_rows
        return rows[listing.offset : end], self.keep(replace(listing, offset=end)) if end < len(rows) else ""

    def routed(self, request: Request, path: str, *given: object) -> Answer | None:
        """Return the answer of the route that a path has; None without one."""
        for pattern, method in self.routes:
            if request.method == "GET" and (match := re.fullmatch(pattern, path)):
                try:
                    return method(self, request, *given, *(group or "" for group in match.groups()))
                except Refused as refused:
                    return refused.answer
        return None
