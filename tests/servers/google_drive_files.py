"""Files of the fake Google Drive, which tests change, and how the API shows them.

Sources: the discovery document of Drive v3 (schemas File, Change, Drive, Permission, User) and the guides of
https://developers.google.com/workspace/drive/api/guides: about-changes, enable-shareddrives, manage-sharing,
mime-types.
"""

import hashlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

_GOOGLE = "application/vnd.google-apps."
FOLDER, SHORTCUT, DOCUMENT = f"{_GOOGLE}folder", f"{_GOOGLE}shortcut", f"{_GOOGLE}document"
_START = datetime(2026, 1, 1)  # noqa: DTZ001 (shown as UTC)
_clock = itertools.count()
_numbers = itertools.count()


def _new_id(prefix: str) -> str:
    return prefix + hashlib.sha256(f"{prefix}{next(_numbers)}".encode()).hexdigest()[: 33 - len(prefix)]


def _now() -> str:
    return f"{(_START + timedelta(seconds=next(_clock))).isoformat()}.000Z"


def permission(kind: str, who: str = "", role: str = "reader", **more: Any) -> dict[str, Any]:
    """Return a Permission resource: of a user, group, domain or anyone.

    The id is the same for the same grantee ("a unique identifier for the grantee").
    """
    shown: dict[str, Any] = {"kind": "drive#permission", "type": kind, "role": role, "id": f"{who or kind}k"}
    if kind == "domain":
        shown |= {"domain": who, "displayName": who}
    elif kind != "anyone":
        shown |= {"emailAddress": who, "displayName": who, "deleted": False}
    return shown | more


@dataclass(slots=True, eq=False)
class File:
    """A file with content, a document of an editor with exports, a folder or a shortcut."""

    id: str
    name: str
    mime_type: str
    parent: "File | None"
    corpus: "Corpus"
    content: bytes | None = None
    exports: dict[str, bytes] = field(default_factory=dict)
    created: str = field(default_factory=_now)
    modified: str = ""
    target: "File | None" = None
    version: int = 1
    trashed: bool = False
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
        """Return own and inherited permissions, one for each grantee."""
        holders = [self, *self.ancestors][::-1]
        return list({one["id"]: one for holder in holders for one in holder.permissions}.values())

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
            "modifiedTime": self.modified or self.created,
        }
        if self.content is not None:
            shown |= {"size": str(len(self.content)), "md5Checksum": self._md5}
            shown["headRevisionId"] = f"{self.id}-{len(self.content)}-{self.modified}"
        if self.exports:
            # "Applicable to binary files in Google Drive and Google Docs files": no size of an export.
            shown["size"] = "1024"
        if self.target is not None:
            details = {"targetId": self.target.id, "targetMimeType": self.target.mime_type}
            shown["shortcutDetails"] = details
        if self.corpus.is_shared:
            return shown | {"driveId": self.corpus.id}
        shown |= {"owners": [{"emailAddress": self.corpus.owner}], "ownedByMe": True}
        return shown | {"shared": len(self.permissions) > 1, "permissions": self.effective_permissions}


class Corpus:
    """The My Drive of a user or a shared drive, with its log of changes (guides/about-changes)."""

    def __init__(self, owner: str, name: str = "My Drive", *, is_shared: bool = False) -> None:
        self.owner, self.name, self.is_shared = owner, name, is_shared
        self.id = _new_id("0A")
        self.sequence = 0
        self.log: dict[str, tuple[int, str, File | Corpus | None]] = {}
        self.files: dict[str, File] = {}
        self.root = self._new(self.id, name, FOLDER, None)
        self.root.permissions = [permission("user", owner, "organizer" if is_shared else "owner")]
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
            made.mime_type = mime_type if mime_type.startswith(_GOOGLE) else DOCUMENT
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
        for number in range(n):
            if number % per_folder == 0:
                folder = self.folder(f"folder {number // per_folder:05}")
            made = self._new(_new_id("1"), f"note {number:06}.txt", "text/plain", folder)
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
        made = File(key, name, mime_type, parent, self)
        if parent is not None:
            parent.children[key] = made
        self.files[key] = made
        self.record(key, "file", made)
        return made

    def shown(self) -> dict[str, Any]:
        """Return the Drive resource."""
        return {"kind": "drive#drive", "id": self.id, "name": self.name}


def _tree(file: File) -> list[File]:
    return [file, *(one for child in list(file.children.values()) for one in _tree(child))]
