"""Mailboxes of the fake Microsoft 365, which tests change, and what a delta query reports of them.

Sources: https://learn.microsoft.com/graph, resources/message and mailfolder, concepts/outlook-immutable-id
and delta-query-messages.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.servers.microsoft365_drives import next_time, opaque_id

IMMUTABLE = 'IdType="ImmutableId"'


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


@dataclass(slots=True, eq=False)
class MailFolder:
    """A folder; a delta query of its messages reports what came, changed and left."""

    id: str
    name: str
    parent: str
    changed: int
    is_deleted: bool = False
    sequence: int = 0
    log: dict[str, tuple[int, str, Message]] = field(default_factory=dict)  # by immutable id
    always: tuple[str, ...] = ("id", "@odata.type", "@odata.etag", "@removed")

    def record(self, message: Message, reason: str = "") -> None:
        self.sequence += 1
        self.log[message.immutable_id] = (self.sequence, reason, message)

    @property
    def messages(self) -> list[Message]:
        return [message for _, reason, message in self.log.values() if not reason]

    def changes(self, since: int, prefer: set[str]) -> list[Any]:
        del prefer
        entries = [(reason, message) for at, reason, message in list(self.log.values()) if at > since]
        return [one for one in entries if since or not one[0]]

    def shown_change(self, entry: Any, since: int, prefer: set[str]) -> dict[str, Any]:
        del since
        reason, message = entry
        if not reason:
            shown: dict[str, Any] = message.shown(prefer)
            return shown
        key = message.immutable_id if IMMUTABLE in prefer else message.id
        return {"@odata.type": "#microsoft.graph.message", "id": key, "@removed": {"reason": reason}}


class Mailbox:
    """The folders of a user; a delta query of them reports all, whatever their depth."""

    always: tuple[str, ...] = ("id", "@odata.type", "@removed")

    def __init__(self, owner: str) -> None:
        self.owner = owner
        self.sequence = 0
        self.folders: dict[str, MailFolder] = {}
        self.messages: dict[str, Message] = {}
        self.root_id = opaque_id("AQMk")
        self.inbox = self.add_folder("Inbox")

    def add_folder(self, name: str, parent: MailFolder | None = None) -> MailFolder:
        self.sequence += 1
        folder = MailFolder(opaque_id("AQMk"), name, parent.id if parent else self.root_id, self.sequence)
        self.folders[folder.id] = folder
        return folder

    def rename_folder(self, folder: MailFolder, name: str) -> None:
        self.sequence += 1
        folder.name, folder.changed = name, self.sequence

    def delete_folder(self, folder: MailFolder) -> None:
        self.sequence += 1
        folder.is_deleted, folder.changed = True, self.sequence
        for message in folder.messages:
            self.delete(message)

    def add(self, content: bytes, folder: MailFolder | None = None, *, subject: str = "note") -> Message:
        folder = folder or self.inbox
        sender = {"emailAddress": {"name": "A. Sender", "address": "sender@contoso.com"}}
        at = next_time()
        properties = {"subject": subject, "sender": sender, "from": sender, "isRead": False, "isDraft": False}
        properties |= dict.fromkeys(("createdDateTime", "lastModifiedDateTime"), at)
        properties |= dict.fromkeys(("receivedDateTime", "sentDateTime"), at)
        properties |= {"hasAttachments": False, "internetMessageId": f"<{opaque_id('')}@contoso.com>"}
        message = Message(opaque_id("AAkA"), opaque_id("AAMk"), content, folder, properties)
        self.messages[message.immutable_id] = message
        folder.record(message)
        return message

    def fill(self, n: int) -> None:
        for number in range(n):
            self.add(b"Subject: note %d\r\n\r\nnote\r\n" % number, subject=f"note {number}")

    def update(self, message: Message, **properties: Any) -> None:
        message.version += 1
        message.properties |= {"lastModifiedDateTime": next_time(), **properties}
        message.folder.record(message)

    def move(self, message: Message, folder: MailFolder) -> None:
        """Move: the id changes, the immutable id does not (concepts/outlook-immutable-id)."""
        message.folder.record(replace(message), "changed")
        message.folder, message.id = folder, opaque_id("AAMk")
        self.update(message)

    def delete(self, message: Message) -> None:
        message.folder.record(message, "deleted")
        del self.messages[message.immutable_id]

    def find_folder(self, key: str) -> MailFolder | None:
        """Return a folder by its id or a well-known name (resources/mailfolder)."""
        folder = self.inbox if key.casefold() == "inbox" else self.folders.get(key)
        return None if folder is None or folder.is_deleted else folder

    def find_message(self, key: str) -> Message | None:
        found = self.messages.get(key)
        return found or next((one for one in self.messages.values() if one.id == key), None)

    def changes(self, since: int, prefer: set[str]) -> list[Any]:
        del prefer
        folders = [one for one in self.folders.values() if one.changed > since]
        return [one for one in folders if since or not one.is_deleted]

    def shown_change(self, entry: Any, since: int, prefer: set[str]) -> dict[str, Any]:
        del since, prefer
        kind = {"@odata.type": "#microsoft.graph.mailFolder", "id": entry.id}
        if entry.is_deleted:
            return kind | {"@removed": {"reason": "deleted"}}
        n_children = sum(one.parent == entry.id for one in self.folders.values())
        counts = {"childFolderCount": n_children, "totalItemCount": len(entry.messages), "unreadItemCount": 0}
        return kind | {"displayName": entry.name, "parentFolderId": entry.parent, **counts}
