"""Files of the fake Google Drive, which tests change, and how the API shows them.

Sources: the discovery document of Drive v3 (schemas File, Change, Drive, Permission, User) and the guides of
https://developers.google.com/workspace/drive/api/guides: about-changes, enable-shareddrives, manage-sharing,
ref-search-terms, mime-types.
"""

import hashlib
import itertools
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

FOLDER = "application/vnd.google-apps.folder"
SHORTCUT = "application/vnd.google-apps.shortcut"
DOCUMENT = "application/vnd.google-apps.document"
TEXT = "text/plain"
_START = datetime(2026, 1, 1)  # noqa: DTZ001 (shown as UTC)
_clock = itertools.count()
_numbers = itertools.count()


def _new_id(prefix: str) -> str:
    return prefix + hashlib.sha256(f"{prefix}{next(_numbers)}".encode()).hexdigest()[: 33 - len(prefix)]


def _now() -> str:
    return f"{(_START + timedelta(seconds=next(_clock))).isoformat()}.000Z"


def user(email: str, name: str = "") -> dict[str, Any]:
    """Return a User resource."""
    number = str(int(hashlib.sha256(email.encode()).hexdigest()[:15], 16))
    shown = {"kind": "drive#user", "displayName": name or email, "me": False, "permissionId": number}
    return shown | {"emailAddress": email}


def permission(kind: str, who: str = "", role: str = "reader", name: str = "", **more: Any) -> dict[str, Any]:
    """Return a Permission resource: of a user, group, domain or anyone.

    The id is the same for the same grantee ("a unique identifier for the grantee"). ``more``:
    allowFileDiscovery, deleted, pendingOwner, expirationTime, view.
    """
    shown: dict[str, Any] = {"kind": "drive#permission", "type": kind, "role": role}
    if kind == "anyone":
        return shown | {"id": "anyoneWithLink", "allowFileDiscovery": False, **more}
    if kind == "domain":
        extra = {"domain": who, "displayName": who, "allowFileDiscovery": False}
        return shown | {"id": f"{who}k", **extra, **more}
    identity = {"id": user(who)["permissionId"], "emailAddress": who, "displayName": name or who}
    return shown | identity | {"deleted": False, **more}


@dataclass(slots=True, eq=False)
class File:
    """A file with content, a document of an editor with exports, a folder or a shortcut."""

    id: str
    name: str
    mime_type: str
    parent: "File | None"
    corpus: "Corpus"
    content: bytes | None
    exports: dict[str, bytes]
    created: str
    modified: str
    by: dict[str, Any]
    target: "File | None" = None
    version: int = 1
    trashed: bool = False
    can_download: bool = True
    can_share: bool = True
    permissions: list[dict[str, Any]] = field(default_factory=list)
    children: "dict[str, File]" = field(default_factory=dict)

    @property
    def ancestors(self) -> "Iterator[File]":
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    @property
    def is_trashed(self) -> bool:
        return self.trashed or any(one.trashed for one in self.ancestors)

    def _md5(self) -> str:
        return hashlib.md5(self.content or b"", usedforsecurity=False).hexdigest()

    def effective_permissions(self) -> list[dict[str, Any]]:
        """Return own and inherited permissions, one for each grantee; details only in a shared drive."""
        found: dict[str, dict[str, Any]] = {}
        for holder in (self, *self.ancestors):
            for one in holder.permissions:
                detail = {"role": one["role"], "inherited": holder is not self}
                detail["permissionType"] = "file" if holder.parent else "member"
                if holder is not self:
                    detail["inheritedFrom"] = holder.id
                known = found.setdefault(one["id"], {**one, "permissionDetails": []})
                known["permissionDetails"].append(detail)
        if self.corpus.is_shared:
            return list(found.values())
        return [
            {key: value for key, value in one.items() if key != "permissionDetails"} for one in found.values()
        ]

    def shown(self) -> dict[str, Any]:
        """Return the File resource; what is not populated for items in shared drives is left out there.

        Values that take time to compute are functions.
        """
        shown: dict[str, Any] = {
            "kind": "drive#file",
            "id": self.id,
            "name": self.name,
            "mimeType": self.mime_type,
            "trashed": self.is_trashed,
            "explicitlyTrashed": self.trashed,
            "parents": [self.parent.id] if self.parent else [],
            "version": str(self.version),
            "createdTime": self.created,
            "modifiedTime": self.modified,
            "lastModifyingUser": self.by,
            "capabilities": {"canDownload": self.can_download, "canShare": self.can_share},
            "webViewLink": f"https://drive.google.com/file/d/{self.id}/view",
            "spaces": ["drive"],
            "starred": False,
        }
        if self.content is not None:
            shown |= {
                "size": str(len(self.content)),
                "quotaBytesUsed": str(len(self.content)),
                "md5Checksum": self._md5,
                "headRevisionId": f"{self.id}-{len(self.content)}-{self.modified}",
                "originalFilename": self.name,
            }
        if self.exports:
            link = f"https://docs.google.com/feeds/download/{self.id}?format="
            shown["exportLinks"] = {kind: link + kind for kind in self.exports}
            # "Applicable to binary files in Google Drive and Google Docs files": no size of an export.
            shown["size"] = "1024"
        if self.target is not None:
            details = {"targetId": self.target.id, "targetMimeType": self.target.mime_type}
            shown["shortcutDetails"] = details
        if self.corpus.is_shared:
            return shown | {"driveId": self.corpus.id, "hasAugmentedPermissions": bool(self.permissions)}
        shown |= {"owners": [self.corpus.owner], "ownedByMe": True, "shared": len(self.permissions) > 1}
        if self.can_share:
            shown["permissions"] = self.effective_permissions
            shown["permissionIds"] = lambda: [one["id"] for one in self.effective_permissions()]
        return shown


class Corpus:
    """The My Drive of a user or a shared drive, with its log of changes (guides/about-changes)."""

    def __init__(self, owner: dict[str, Any], name: str = "My Drive", *, is_shared: bool = False) -> None:
        self.owner, self.name, self.is_shared = owner, name, is_shared
        self.id = _new_id("0A")
        self.sequence = 0
        self.log: dict[str, tuple[int, str, File | Corpus | None]] = {}
        self.files: dict[str, File] = {}
        self.created = _now()
        role = "organizer" if is_shared else "owner"
        self.root = self._new(self.id, name, FOLDER, None)
        self.root.permissions = [permission("user", owner["emailAddress"], role, owner["displayName"])]
        self.log.clear()

    # What tests change. A path starts below the root and has / between names; names may have / in them too.

    def add(
        self,
        path: str,
        content: bytes | None = b"x",
        *,
        name: str = "",
        mime_type: str = "application/octet-stream",
        exports: dict[str, bytes] | None = None,
        target: File | None = None,
    ) -> File:
        """Add a file, the folders above too; ``exports``: a document, ``target``: a shortcut."""
        above, _, last = path.strip("/").rpartition("/")
        made = self._new(_new_id("1"), name or last, mime_type, self.folder(above))
        made.content = None if exports or target else content
        if exports:
            made.exports = exports
            made.mime_type = mime_type if mime_type.startswith("application/vnd.google-apps.") else DOCUMENT
        if target:
            made.target, made.mime_type = target, SHORTCUT
        return made

    def folder(self, path: str) -> File:
        """Return a folder; it is added if it does not exist."""
        here = self.root
        for name in filter(None, path.split("/")):
            known = next((one for one in here.children.values() if one.name == name), None)
            here = known or self._new(_new_id("1"), name, FOLDER, here)
        return here

    def fill(self, n: int, *, per_folder: int = 1000) -> None:
        """Add n small files in folders."""
        for start in range(0, n, per_folder):
            folder = self.folder(f"folder {start // per_folder:05}")
            for number in range(start, min(n, start + per_folder)):
                made = self._new(_new_id("1"), f"note {number:06}.txt", TEXT, folder)
                made.content = b"note %d\n" % number

    def rename(self, file: File, name: str) -> None:
        file.name = name
        self.touch(file)

    def move(self, file: File, folder: File) -> None:
        """Move; what is in a folder is not reported, since its parents stay the same."""
        if file.parent is not None:
            del file.parent.children[file.id]
        file.parent = folder
        folder.children[file.id] = file
        self.touch(file)

    def replace(self, file: File, content: bytes) -> None:
        file.content = content
        file.modified = _now()
        self.touch(file)

    def trash(self, file: File) -> None:
        """Move to the trash: what is in a folder is trashed too, and reported."""
        file.trashed = True
        for one in _tree(file):
            self.touch(one)

    def delete(self, file: File) -> None:
        """Delete for good ("If the target is a folder, all descendants [...] are also deleted")."""
        if file.parent is not None:
            del file.parent.children[file.id]
        for one in _tree(file):
            del self.files[one.id]
            self.record(one.id, "file", None)

    def share(self, file: File, *permissions: dict[str, Any]) -> None:
        """Set the permissions of a file besides its owner's."""
        owners = [one for one in file.permissions if one["role"] in {"owner", "organizer"}]
        file.permissions = [*owners, *permissions]
        self.touch(file)

    def touch(self, file: File) -> None:
        file.version += 1
        self.record(file.id, "file", file)

    def record(self, key: str, kind: str, state: "File | Corpus | None") -> None:
        """Enter a change; one of the same item is replaced by it."""
        self.sequence += 1
        self.log.pop(key, None)
        self.log[key] = (self.sequence, kind, state)

    def _new(self, key: str, name: str, mime_type: str, parent: File | None) -> File:
        made = File(key, name, mime_type, parent, self, None, {}, _now(), "", self.owner)
        made.modified = made.created
        if parent is not None:
            parent.children[key] = made
        self.files[key] = made
        self.record(key, "file", made)
        return made

    def shown(self) -> dict[str, Any]:
        """Return the Drive resource."""
        return {"kind": "drive#drive", "id": self.id, "name": self.name, "createdTime": self.created}


def _tree(file: File) -> list[File]:
    return [file, *(one for child in list(file.children.values()) for one in _tree(child))]


def query(text: str) -> Callable[[File], bool]:
    """Return what a search query means (guides/ref-search-terms).

    Known: name, mimeType, modifiedTime, trashed, parents and owners; and, or, not, brackets.

    Raises:
        ValueError: it is something else.
    """
    tokens = re.findall(r"'(?:[^'\\]|\\.)*'|[()]|[<>!]?=|[<>]|\w+", text)
    found = _either(tokens)
    if tokens:
        raise ValueError(text)
    return found


def _either(tokens: list[str]) -> Callable[[File], bool]:
    parts = [_both(tokens)]
    while tokens and tokens[0] == "or":
        tokens.pop(0)
        parts.append(_both(tokens))
    return lambda file: any(part(file) for part in parts)


def _both(tokens: list[str]) -> Callable[[File], bool]:
    parts = [_term(tokens)]
    while tokens and tokens[0] == "and":
        tokens.pop(0)
        parts.append(_term(tokens))
    return lambda file: all(part(file) for part in parts)


def _term(tokens: list[str]) -> Callable[[File], bool]:
    if not tokens:
        raise ValueError(tokens)
    first = tokens.pop(0)
    if first == "not":
        inner = _term(tokens)
        return lambda file: not inner(file)
    if first == "(":
        inner = _either(tokens)
        if not tokens or tokens.pop(0) != ")":
            raise ValueError(first)
        return inner
    if len(tokens) < 2:
        raise ValueError(first)
    operator, value = tokens.pop(0), tokens.pop(0)
    if first.startswith("'") and operator == "in":
        return _membership(re.sub(r"\\(.)", r"\1", first[1:-1]), value)
    return _comparison(first, operator, re.sub(r"\\(.)", r"\1", value.strip("'")))


def _membership(member: str, collection: str) -> Callable[[File], bool]:
    if collection == "parents":
        # "root" is an alias of the top folder of My Drive (guides/folder).
        return lambda file: file.parent is not None and member in {file.parent.id, *_alias(file.parent)}
    if collection == "owners":
        return lambda file: not file.corpus.is_shared and member in {"me", file.corpus.owner["emailAddress"]}
    raise ValueError(collection)


def _alias(folder: File) -> set[str]:
    return {"root"} if folder.parent is None and not folder.corpus.is_shared else set()


def _comparison(name: str, operator: str, value: str) -> Callable[[File], bool]:
    operators: dict[str, Callable[[str, str], bool]] = {
        "=": lambda one, other: one == other,
        "!=": lambda one, other: one != other,
        "contains": lambda one, other: other.casefold() in one.casefold(),
        "<": lambda one, other: one < other,
        "<=": lambda one, other: one <= other,
        ">": lambda one, other: one > other,
        ">=": lambda one, other: one >= other,
    }
    values: dict[str, Callable[[File], str]] = {
        "name": lambda file: file.name,
        "mimeType": lambda file: file.mime_type,
        "modifiedTime": lambda file: file.modified,
        "trashed": lambda file: str(file.is_trashed).lower(),
    }
    if operator not in operators or name not in values:
        raise ValueError(name)
    return lambda file: operators[operator](values[name](file), value)
