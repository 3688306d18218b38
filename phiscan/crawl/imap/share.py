"""Crawl the mailboxes of an IMAP server through imapclient: ``imaps://server[:port][/folder]``, ``imap://``.

Each message is an item ``FOLDER/UID.eml``. Folders are opened with EXAMINE and messages are fetched with
BODY.PEEK, so that none is marked as seen. A message never changes: another one has another UID, or its folder
another UIDVALIDITY.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from phiscan.config import SharesTable
from phiscan.crawl.ignore import IgnoreRules
from phiscan.crawl.imap.mailboxes import Mailbox, list_mailboxes, readers_of
from phiscan.crawl.imap.sessions import Session, Sessions, require_library
from phiscan.crawl.remote import ServerShare
from phiscan.crawl.share import Crawled, OpenFile, identity_number, unlisted
from phiscan.crawl.share_errors import RefusedError, UnansweredError
from phiscan.model import FailReason, SkipReason, SourceFile

PAGE = 5_000  # messages listed by one command
RANGE_BYTES = 8 * 1024**2  # of a message, fetched by one command
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class ImapShare(ServerShare):
    """The mailboxes that one user can list, or one of them with those below it."""

    def __init__(self, root: bytes, settings: SharesTable) -> None:
        require_library()
        super().__init__(root, settings)
        self._sessions = Sessions(self.location, self.credentials, settings.timeout_s)
        self._known: dict[bytes, Mailbox] = {}
        self._readers: dict[bytes, tuple[str, ...]] = {}

    def check(self) -> None:
        """Sign in and list the folders; see ``ServerShare``."""
        if not self.credentials.username:
            detail = "expected a user name (PHISCAN_IMAP_USERNAME, or in credentials_file)"
            raise RefusedError(FailReason.NO_PERMISSION, detail)
        if not self._mailboxes():
            raise RefusedError(FailReason.CHANGED)

    def close(self) -> None:
        """Close all connections; threads that still wait get no response."""
        super().close()
        self._sessions.close()

    def crawl(self, ignore: IgnoreRules, seen_inodes: set[tuple[int, int]]) -> Iterator[Crawled]:  # noqa: ARG002 (messages have no links)
        """Yield every message below the root, by folder and UID; see ``Share``. Memory: one page."""
        ignored: set[bytes] = set()
        try:
            for mailbox in self.retry_policy.run(self._mailboxes):
                outermost = ignore.ignored_folder(self.root, mailbox.path)
                if not outermost:
                    yield from self._messages(mailbox, ignore)
                elif outermost not in ignored:
                    ignored.add(outermost)
                    source = SourceFile(self.root, outermost, 0, 0, 0, 0, 0)
                    yield Crawled(source, skip=SkipReason.IGNORED)
        except (RefusedError, UnansweredError) as error:
            yield unlisted(self.root, b"", error.reason, error.detail)
        finally:
            self.close()

    @contextmanager
    def open(self, source: SourceFile, offset: int = 0) -> Iterator[OpenFile]:
        """Open a crawled message at a position; see ``RemoteShare``."""
        path, _, name = source.path.rpartition(b"/")
        uid = int(name.removesuffix(b".eml"))
        if not self._known:
            self._mailboxes()
        mailbox = self._known.get(path)
        if mailbox is None:
            raise RefusedError(FailReason.CHANGED, "vanished before it was read")
        with self._sessions.session() as session:
            session.examine(mailbox.name)
            if identity_number(str(session.validity), str(uid)) != source.inode:
                raise RefusedError(FailReason.CHANGED, "not the message that was crawled")
            readers = self._readers_of(session, mailbox)
            described = replace(source, owner=mailbox.owner, readers=readers)
            yield _Message(described, session.client, uid, offset)

    def _mailboxes(self) -> list[Mailbox]:
        """Return the folders below the root, in the order of the crawl."""
        with self._sessions.session() as session:
            found = list(
                list_mailboxes(session.client, "/".join(self.location.path), self.credentials.username)
            )
        self._known = {mailbox.path: mailbox for mailbox in found}
        return sorted(found, key=lambda mailbox: mailbox.path.split(b"/"))

    def _messages(self, mailbox: Mailbox, ignore: IgnoreRules) -> Iterator[Crawled]:
        """Yield the messages of a folder page by page; after a lost connection those after the last one."""
        last, first, session = 0, 1, None
        while session is None or first <= session.n_messages:
            try:
                now, page = self.retry_policy.run(partial(self._page, mailbox.name, session, first))
            except (RefusedError, UnansweredError) as error:
                detail = f"not listed to its end: {error.detail}"
                yield unlisted(self.root, mailbox.path, error.reason, detail)
                return
            first = first + PAGE if now is session else 1 + PAGE
            session = now
            for uid, size, moment in page:
                if uid <= last:
                    continue
                last = uid
                path = b"/".join(filter(None, (mailbox.path, b"%d.eml" % uid)))
                inode = identity_number(str(session.validity), str(uid))
                source = SourceFile(self.root, path, size, moment, moment, inode, 0)
                is_ignored = ignore.matches(path, source.absolute, is_folder=False)
                skip = SkipReason.IGNORED if is_ignored else None if size else SkipReason.EMPTY
                yield Crawled(source, skip=skip)

    def _page(
        self, folder: bytes, before: Session | None, first: int
    ) -> tuple[Session, list[tuple[int, int, int]]]:
        """Return UID, size and time of the messages from a number on; in a new session from the first one."""
        with self._sessions.session() as session:
            session.examine(folder, anew=before is None)
            first = first if session is before else 1
            if not session.n_messages:
                return session, []
            # Numbers do not move while nothing but FETCH is sent.
            rows = session.facts(first, min(first + PAGE - 1, session.n_messages))
        facts = (row for row in rows if b"UID" in row and b"RFC822.SIZE" in row)
        return session, sorted(
            (row[b"UID"], row[b"RFC822.SIZE"], _nanoseconds(row.get(b"INTERNALDATE"))) for row in facts
        )

    def _readers_of(self, session: Session, mailbox: Mailbox) -> tuple[str, ...]:
        """Return who may read a folder, asked once; nobody is named where the server does not say."""
        if mailbox.path not in self._readers:
            client, rights = session.client, []
            try:
                if client.has_capability("ACL"):
                    rights = client.getacl(mailbox.name)
            except client.AbortError:
                raise
            except client.Error:
                rights = []  # only who administers a folder is told
            self._readers[mailbox.path] = readers_of(rights, mailbox.owner)
        return self._readers[mailbox.path]


class _Message:
    """A message, fetched range by range."""

    def __init__(self, source: SourceFile, client: Any, uid: int, offset: int) -> None:
        self.source = source
        self._client = client
        self._uid = uid
        self._next = offset
        self._is_whole = False
        self._data = b""
        self._fetch()

    @property
    def n_bytes(self) -> int:
        """Its size; until its end was fetched that of the listing, which some servers estimate."""
        return self._next if self._is_whole else max(self.source.size, self._next)

    def read(self, n_bytes: int) -> bytes:
        """Return the next bytes; see ``OpenFile``."""
        if not self._data and not self._is_whole:
            self._fetch()
        data, self._data = self._data[:n_bytes], self._data[n_bytes:]
        return data

    def verify(self) -> None:
        """Do nothing: a message of this UID never changes."""

    def _fetch(self) -> None:
        """Fetch the next range; a short one is the last."""
        rows = self._client.fetch(self._uid, [f"BODY.PEEK[]<{self._next}.{RANGE_BYTES}>"])
        found = [value for key, value in rows.get(self._uid, {}).items() if key.startswith(b"BODY[")]
        if not found:
            raise RefusedError(FailReason.CHANGED, "vanished before it was read")
        self._data = found[0] or b""
        self._next += len(self._data)
        self._is_whole = len(self._data) < RANGE_BYTES


def _nanoseconds(moment: Any) -> int:
    """Return nanoseconds since 1970 of a time with its zone; 0 for none."""
    return (moment - _EPOCH) // timedelta(seconds=1) * 10**9 if isinstance(moment, datetime) else 0
