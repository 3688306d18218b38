"""Drives of the fake Microsoft 365, which tests change, and what a delta query reports of them.

Each resource is shown as https://learn.microsoft.com/graph documents it (resources/driveitem, permission,
sharinglink, sharepointidentityset, deleted, drive, site).
"""

import base64
import hashlib
import itertools
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Protocol
from urllib.parse import quote

_START = datetime(2026, 1, 1)  # noqa: DTZ001 (shown as UTC)
_clock = itertools.count()
_numbers = itertools.count()


def guid(name: str) -> str:
    """Return the same GUID for the same name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


def opaque_id(prefix: str) -> str:
    return prefix + base64.b32encode(hashlib.sha256(str(next(_numbers)).encode()).digest()[:20]).decode()


_quoted = lru_cache(quote)


def next_time() -> str:
    """Return a later time than before, one second each."""
    return f"{(_START + timedelta(seconds=next(_clock))).isoformat()}Z"


class Feed(Protocol):
    """What a delta query enumerates."""

    sequence: int
    always: tuple[str, ...]  # properties that are returned whatever $select names

    def changes(self, since: int) -> list[Any]:
        """Return what changed after a position; all that exists after 0."""

    def shown_change(self, entry: Any, prefer: set[str], /) -> dict[str, Any]: ...


@dataclass(slots=True, eq=False)
class Item:
    """A file, with content, or a folder, or something else, with the facets that say so."""

    id: str
    name: str
    parent: "Item | None"
    content: bytes | None
    facets: dict[str, Any]
    created: str
    modified: str = ""
    version: int = 1
    changed: int = 0
    size: int = 0
    is_deleted: bool = False
    former: tuple[str, "Item | None"] | None = None
    children: dict[str, "Item"] = field(default_factory=dict)
    permissions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ancestors(self) -> "Iterator[Item]":
        above = self.parent
        while above is not None:
            yield above
            above = above.parent


class Drive:
    """A library or a OneDrive.

    An item may be reported twice, first as it was before it was renamed or moved (api/driveitem-delta: "You
    should use the last occurrence you see").
    """

    always: tuple[str, ...] = ()

    def __init__(self, name: str, kind: str, owner: dict[str, Any]) -> None:
        self.id = opaque_id("b!")
        self.name, self.kind, self.owner = name, kind, owner
        self.sequence = 0
        self.items: dict[str, Item] = {}
        self.root = self._new("root", None, None, {"root": {}, "folder": {}})

    # What tests change. A path starts below the root and has / between names.

    def add(self, path: str, content: bytes | None = b"x", **facets: Any) -> Item:
        """Add a file and the folders above; with None as content and a facet something else."""
        above, _, name = path.strip("/").rpartition("/")
        parent = self.folder(above)
        if content is not None:
            facets = {"file": {"mimeType": "application/octet-stream"}, **facets}
        return self._new(name, parent, content, facets)

    def folder(self, path: str) -> Item:
        """Return a folder; it is added if it does not exist."""
        here = self.root
        for name in filter(None, path.split("/")):
            known = next((one for one in here.children.values() if one.name == name), None)
            here = known or self._new(name, here, None, {"folder": {}})
        return here

    def fill(self, n: int, *, per_folder: int = 1000) -> None:
        """Add n small files in folders."""
        for number in range(n):
            if number % per_folder == 0:
                folder = self.folder(f"folder {number // per_folder:05}")
            facets = {"file": {"mimeType": "text/plain"}}
            self._new(f"note {number:06}.txt", folder, b"note %d\n" % number, facets)

    def rename(self, item: Item, name: str) -> None:
        item.former = (item.name, item.parent)
        item.name = name
        self._touch(item)

    def move(self, item: Item, folder: Item) -> None:
        item.former = (item.name, item.parent)
        self._detach(item)
        item.parent = folder
        folder.children[item.id] = item
        self._grow(item, item.size)
        self._touch(item)

    def replace(self, item: Item, content: bytes) -> None:
        self._grow(item, len(content) - item.size)
        item.content, item.size = content, len(content)
        self._touch(item)

    def delete(self, item: Item) -> None:
        """Delete an item; what is in it is reported too, so that "empty" folders can be told."""
        self._detach(item)
        self._bury(item)

    def share(self, item: Item, *permissions: dict[str, Any]) -> None:
        """Set the item's own permissions; its eTag stays, but delta reports it."""
        item.permissions = [{"id": opaque_id(""), **one} for one in permissions]
        self.sequence += 1
        item.changed = self.sequence

    def _new(self, name: str, parent: Item | None, content: bytes | None, facets: dict[str, Any]) -> Item:
        item = Item(opaque_id("01"), name, parent, content, facets, next_time(), size=len(content or b""))
        self.items[item.id] = item
        if parent is not None:
            parent.children[item.id] = item
            self._grow(item, item.size)
        self.sequence += 1
        item.changed, item.modified = self.sequence, item.created
        return item

    def _touch(self, item: Item) -> None:
        item.version += 1
        item.modified = next_time()
        self.sequence += 1
        item.changed = self.sequence

    def _detach(self, item: Item) -> None:
        self._grow(item, -item.size)
        if item.parent is not None:
            del item.parent.children[item.id]

    def _bury(self, item: Item) -> None:
        for child in item.children.values():
            self._bury(child)
        item.is_deleted = True
        self._touch(item)

    def _grow(self, item: Item, n_bytes: int) -> None:
        for above in item.ancestors:
            above.size += n_bytes

    # What is shown.

    def shown(self) -> dict[str, Any]:
        return {"id": self.id, "name": self.name, "driveType": self.kind, "owner": self.owner}

    def changes(self, since: int) -> list[Any]:
        """Return the latest state of what changed, the latest change first, so that parents come last.

        No order is documented ("the same item can show up anywhere"). The folders above come too, unless a
        header asks for something else. Renaming a folder does not report what is in it.
        """
        found = [one for one in list(self.items.values()) if one.changed > since]
        if since:
            found += [parent for one in found for parent in one.ancestors]
            found = list({one.id: one for one in found}.values())
        found = [one for one in found if since or not one.is_deleted]
        found.sort(key=lambda one: -one.changed)
        renamed = [(one, one.former) for one in found if one.former and not one.is_deleted]
        return [*renamed, *found, *found[-1:]]

    def shown_change(self, entry: Any, _prefer: set[str]) -> dict[str, Any]:
        """Show an item as delta does: no path; of a deleted one no name."""
        item, former = entry if isinstance(entry, tuple) else (entry, None)
        shown = self.shown_item(item)
        del shown["parentReference"]["path"]
        if item.is_deleted:
            del shown["name"]
            shown["deleted"] = {"state": "deleted"}
        elif former is not None and former[1] is not None:
            shown["name"] = former[0]
            shown["parentReference"]["id"] = former[1].id
        return shown

    def shown_item(self, item: Item) -> dict[str, Any]:
        reference = {"driveId": self.id, "driveType": self.kind}
        above = _quoted("".join(f"/{one.name}" for one in [*item.ancestors][-2::-1]))
        reference["path"] = f"/drives/{self.id}/root:{above}"
        if item.parent is not None:
            reference["id"] = item.parent.id
        shown = {
            "id": item.id,
            "name": item.name,
            "size": item.size,
            "eTag": f'"{{{item.id}}},{item.version}"',
            "createdDateTime": item.created,
            "lastModifiedDateTime": item.modified,
            "createdBy": self.owner,
            "lastModifiedBy": self.owner,
            "parentReference": reference,
            **item.facets,
        }
        if "folder" in item.facets:
            shown["folder"] = {"childCount": len(item.children)}
        return shown

    @staticmethod
    def permissions_of(item: Item) -> list[dict[str, Any]]:
        """Return the effective permissions: the item's own, and those of the folders above."""
        above = [one | {"inheritedFrom": {"id": two.id}} for two in item.ancestors for one in two.permissions]
        return [*item.permissions, *above]


# Permissions, as resources/permission shows them.


def identity_set(name: str, email: str = "", *, kind: str = "user") -> dict[str, Any]:
    """Return a sharePointIdentitySet of a user, a group or a siteGroup.

    A guest's email has #ext# in it, as the user principal name of guests has (Entra, B2B user properties).
    """
    identity = {"id": guid(email or name), "displayName": name} | ({"email": email} if email else {})
    if kind == "user":
        login = {"loginName": f"i:0#.f|membership|{email}", "id": "7", "displayName": name}
        return {"user": identity, "siteUser": login}
    return {kind: identity | ({"loginName": name} if kind == "siteGroup" else {})}


def granted(who: dict[str, Any], role: str = "read") -> dict[str, Any]:
    """Return a permission of a user or group; the deprecated property is there too."""
    old = {kind: one for kind, one in who.items() if kind in {"user", "group"}}
    return {"roles": [role], "grantedToV2": who, "grantedTo": old}


def invited(email: str, role: str = "read") -> dict[str, Any]:
    """Return an invitation that was not redeemed: no identity."""
    return {"roles": [role], "invitation": {"email": email, "signInRequired": True}}


def link(scope: str, *people: dict[str, Any], role: str = "read") -> dict[str, Any]:
    """Return a sharing link: anonymous, organization, users (then with people) or existingAccess."""
    kind = {"read": "view", "write": "edit"}[role]
    facet = {"scope": scope, "type": kind, "webUrl": "https://contoso.sharepoint.com/:t:/s/a577ghg9"}
    return {"roles": [role], "link": facet, "grantedToIdentitiesV2": list(people)}


@dataclass
class Site:
    id: str
    path: str
    properties: dict[str, Any]
    drives: list[Drive] = field(default_factory=list)


def new_site(host: str, name: str, path: str) -> Site:
    path = path.strip("/")
    key = f"{host},{guid(path)},{guid(path + '/web')}"
    shown = {"id": key, "name": path.rpartition("/")[2], "displayName": name, "createdDateTime": next_time()}
    return Site(key, path, shown | {"webUrl": f"https://{host}/{path}", "siteCollection": {"hostname": host}})
