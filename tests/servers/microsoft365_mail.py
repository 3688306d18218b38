"""Mailboxes of the fake Microsoft 365, which tests change, and what a delta query reports of them.

Sources: https://learn.microsoft.com/graph, resources/message and mailfolder, concepts/outlook-immutable-id
and delta-query-messages.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.servers.microsoft365_drives import next_time, opaque_id

IMMUTABLE = 'IdType="ImmutableId"'
_ALWAYS = ("id", "@odata.type", "@odata.etag", "@removed")


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
    sequence: int = 0
    log: dict[str, tuple[int, str, Message]] = field(default_factory=dict)  # by immutable id
    always: tuple[str, ...] = _ALWAYS

    def record(self, message: Message, reason: str = "") -> None:
        self.sequence += 1
        self.log[message.immutable_id] = (self.sequence, reason, message)

    def changes(self, since: int) -> list[Any]:
        entries = [(reason, message) for at, reason, message in list(self.log.values()) if at > since]
        return [one for one in entries if since or not one[0]]

    @staticmethod
    def shown_change(entry: Any, prefer: set[str]) -> dict[str, Any]:
        reason, message = entry
        shown: dict[str, Any] = message.shown(prefer)
        removed = {"@odata.type": shown["@odata.type"], "id": shown["id"], "@removed": {"reason": reason}}
        return removed if reason else shown


class Mailbox:
    """The folders of a user; a delta query of them reports all, whatever their depth."""

    always: tuple[str, ...] = _ALWAYS

    def __init__(self) -> None:
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

    def add(self, content: bytes, folder: MailFolder | None = None) -> Message:
        folder = folder or self.inbox
        names = ("createdDateTime", "lastModifiedDateTime", "receivedDateTime", "sentDateTime")
        properties: dict[str, Any] = {"isRead": False, **dict.fromkeys(names, next_time())}
        message = Message(opaque_id("AAkA"), opaque_id("AAMk"), content, folder, properties)
        self.messages[message.immutable_id] = message
        folder.record(message)
        return message

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

    def find_message(self, key: str) -> Message | None:
        return next((one for one in self.messages.values() if key in {one.id, one.immutable_id}), None)

    def changes(self, since: int) -> list[Any]:
        return [one for one in self.folders.values() if one.changed > since]

    @staticmethod
    def shown_change(entry: Any, _prefer: set[str]) -> dict[str, Any]:
        kind = {"@odata.type": "#microsoft.graph.mailFolder", "id": entry.id}
        return kind | {"displayName": entry.name, "parentFolderId": entry.parent}
