"""Drives and mailboxes of the fake Microsoft 365: what they show, and what a delta query reports of them.

Each resource is shown as https://learn.microsoft.com/graph documents it (resources/driveitem, permission,
sharinglink, sharepointidentityset, deleted, message and mailfolder; concepts/outlook-immutable-id and
delta-query-messages).
"""

import uuid
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from tests.servers.cloud import Drive, Item, Log, next_time, opaque_id

IMMUTABLE = 'IdType="ImmutableId"'


def guid(name: str) -> str:
    """Return the same GUID for the same name."""
    return str(uuid.uuid5(uuid.NAMESPACE_URL, name))


class GraphDrive(Drive):
    """A library or a OneDrive; what items have more are facets.

    An item may be reported twice, first as it was before it was renamed or moved (api/driveitem-delta: "You
    should use the last occurrence you see").
    """

    def __init__(self, name: str, permission: dict[str, Any] | None, owner: dict[str, Any]) -> None:
        self.owner = owner
        super().__init__(name, permission)

    def trash(self, item: Item) -> None:
        """What is deleted lies in the recycle bin, and delta reports it as deleted."""
        self.delete(item)

    def changes(self, since: int) -> list[Any]:
        """Return the latest state of what changed, the latest change first, so that parents come last.

        No order is documented ("the same item can show up anywhere"). The folders above come too, unless a
        header asks for something else.
        """
        found = self.since(since)[::-1]
        if since:
            found = list(dict.fromkeys([*found, *(above for one in found for above in one.ancestors)]))
        found = [one for one in found if since or not one.is_deleted]
        renamed = [(one, one.former) for one in found if one.former and not one.is_deleted]
        return [*renamed, *found, *found[-1:]]

    def shown_change(self, entry: Any, _prefer: set[str]) -> dict[str, Any]:
        """Show an item as delta does: no path; of a deleted one no name."""
        item, (name, parent) = entry if isinstance(entry, tuple) else (entry, (entry.name, entry.parent))
        shown = self.shown(item) | {"name": name}
        del shown["parentReference"]["path"]
        if parent is not None:
            shown["parentReference"]["id"] = parent.id
        if item.is_deleted:
            del shown["name"]
            shown["deleted"] = {"state": "deleted"}
        return shown

    def shown(self, item: Item) -> dict[str, Any]:
        above = quote("".join(f"/{one.name}" for one in [*item.ancestors][-2::-1]))
        reference = {"driveId": self.id, "path": f"/drives/{self.id}/root:{above}"}
        facets: dict[str, Any] = {"folder": {"childCount": len(item.children)}} if item.is_folder else {}
        if item.content is not None:
            facets = {"file": {"mimeType": "application/octet-stream"}}
        if item.parent is None:
            facets["root"] = {}
        else:
            reference["id"] = item.parent.id
        return {
            "id": item.id,
            "name": item.name,
            "size": sum(len(one.content or b"") for one in item.tree),
            "eTag": f'"{{{item.id}}},{item.version}"',
            "createdDateTime": item.created,
            "lastModifiedDateTime": item.modified,
            "createdBy": self.owner,
            "lastModifiedBy": self.owner,
            "parentReference": reference,
            **facets,
            **item.more,
        }


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
    return {"id": opaque_id(""), "roles": [role], "grantedToV2": who, "grantedTo": old}


def invited(email: str) -> dict[str, Any]:
    """Return an invitation that was not redeemed: no identity."""
    invitation = {"email": email, "signInRequired": True}
    return {"id": opaque_id(""), "roles": ["read"], "invitation": invitation}


def link(scope: str, *people: dict[str, Any]) -> dict[str, Any]:
    """Return a sharing link: anonymous, organization, users (then with people) or existingAccess."""
    facet = {"scope": scope, "type": "view", "webUrl": "https://contoso.sharepoint.com/:t:/s/a577ghg9"}
    return {"id": opaque_id(""), "roles": ["read"], "link": facet, "grantedToIdentitiesV2": list(people)}


@dataclass(slots=True, eq=False)
class Message:
    immutable_id: str
    id: str
    content: bytes
    folder: "MailFolder"
    properties: dict[str, Any]
    version: int = 1

    def shown(self, prefer: set[str]) -> dict[str, Any]:
        return {
            "@odata.type": "#microsoft.graph.message",
            "@odata.etag": f'W/"{self.version}"',
            "id": self.immutable_id if IMMUTABLE in prefer else self.id,
            "parentFolderId": self.folder.id,
            "changeKey": f"CQ{self.version}",
            **self.properties,
        }


class MailFolder(Log):
    """A folder; a delta query of its messages reports what came, changed and left."""

    def __init__(self, name: str, parent: str) -> None:
        super().__init__()
        self.id, self.name, self.parent = opaque_id("AQMk"), name, parent

    def changes(self, since: int) -> list[Any]:
        return [one for one in self.since(since) if since or not one[0]]

    @staticmethod
    def shown_change(entry: Any, prefer: set[str]) -> dict[str, Any]:
        reason, message = entry
        shown: dict[str, Any] = message.shown(prefer)
        removed = {"@odata.type": shown["@odata.type"], "id": shown["id"], "@removed": {"reason": reason}}
        return removed if reason else shown


class Mailbox(Log):
    """The folders of a user; a delta query of them reports all, whatever their depth."""

    def __init__(self) -> None:
        super().__init__()
        self.folders: dict[str, MailFolder] = {}
        self.messages: dict[str, Message] = {}
        self.root_id = opaque_id("AQMk")
        self.inbox = self.add_folder("Inbox")

    changes = Log.since

    def add_folder(self, name: str, parent: MailFolder | None = None) -> MailFolder:
        folder = MailFolder(name, parent.id if parent else self.root_id)
        self.folders[folder.id] = folder
        self.record(folder.id, folder)
        return folder

    def rename_folder(self, folder: MailFolder, name: str) -> None:
        folder.name = name
        self.record(folder.id, folder)

    def add(self, content: bytes, folder: MailFolder | None = None) -> Message:
        folder = folder or self.inbox
        names = ("createdDateTime", "lastModifiedDateTime", "receivedDateTime", "sentDateTime")
        properties: dict[str, Any] = {"isRead": False, **dict.fromkeys(names, next_time())}
        message = Message(opaque_id("AAkA"), opaque_id("AAMk"), content, folder, properties)
        self.messages[message.immutable_id] = message
        folder.record(message.immutable_id, ("", message))
        return message

    def update(self, message: Message, **properties: Any) -> None:
        message.version += 1
        message.properties |= {"lastModifiedDateTime": next_time(), **properties}
        message.folder.record(message.immutable_id, ("", message))

    def move(self, message: Message, folder: MailFolder) -> None:
        """Move: the id changes, the immutable id does not (concepts/outlook-immutable-id)."""
        message.folder.record(message.immutable_id, ("changed", replace(message)))
        message.folder, message.id = folder, opaque_id("AAMk")
        self.update(message)

    def delete(self, message: Message) -> None:
        message.folder.record(message.immutable_id, ("deleted", message))
        del self.messages[message.immutable_id]

    def find(self, key: str) -> Message | None:
        return next((one for one in self.messages.values() if key in {one.id, one.immutable_id}), None)

    @staticmethod
    def shown_change(entry: Any, _prefer: set[str]) -> dict[str, Any]:
        kind = {"@odata.type": "#microsoft.graph.mailFolder", "id": entry.id}
        return kind | {"displayName": entry.name, "parentFolderId": entry.parent}
