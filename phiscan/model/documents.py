"""A crawled file and the document that is read from it: SourceFile, Segment, UnreadPart, Document, Span."""

from __future__ import annotations

import stat
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Self

from phiscan.model.entities import FailReason

if TYPE_CHECKING:
    import os


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """A half-open range of code points ``[start, end)`` of ``Document.text``.

    Every offset in phiscan is one of these: code points, not bytes and not UTF-16 units.

    >>> Span(2, 5).n_chars
    3
    """

    start: int
    end: int

    def __post_init__(self) -> None:
        """Refuse an empty or backward range."""
        if not 0 <= self.start < self.end:
            message = f"a span needs 0 <= start < end, got [{self.start}, {self.end})"
            raise ValueError(message)

    @property
    def n_chars(self) -> int:
        """The number of code points covered."""
        return self.end - self.start

    def of(self, text: str) -> str:
        """Return the text covered by this span."""
        return text[self.start : self.end]

    def overlaps(self, other: Span) -> bool:
        """Tell whether the two ranges share a code point."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Span) -> bool:
        """Tell whether ``other`` lies wholly inside this range."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class SourceFile:
    """Where a file lies and what the file system said of it when it was crawled.

    ``root`` and ``path`` are raw bytes, exactly as the file system gave them; ``path`` is relative
    to ``root``. Names that are not UTF-8 stay readable on the wire through ``display``.
    """

    root: bytes
    path: bytes
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int
    mode: int = 0
    uid: int = 0
    owner: str = ""  # name of the owner as the share gives it; "" when unknown
    readers: tuple[str, ...] = ()  # who may read it: "everyone", "group NAME", "user NAME"
    # Contents of this size that were screened, each "HASH MEDIA_TYPE": the result of an equal one is taken.
    duplicates: tuple[str, ...] = field(default=(), compare=False, repr=False)
    without_ocr: bool = field(default=False, compare=False, repr=False)  # its pictures are left for later

    @classmethod
    def of(cls, root: bytes, path: bytes, info: os.stat_result) -> Self:
        """Return a file of this machine by its place and what ``lstat`` said of it."""
        return cls(
            root=root,
            path=path,
            size=info.st_size,
            mtime_ns=info.st_mtime_ns,
            ctime_ns=info.st_ctime_ns,
            inode=info.st_ino,
            device=info.st_dev,
            mode=stat.S_IMODE(info.st_mode),
            uid=info.st_uid,
        )

    @property
    def absolute(self) -> bytes:
        """The raw path to open."""
        return self.root.rstrip(b"/") + b"/" + self.path

    @property
    def display(self) -> str:
        r"""The relative path as text; bytes that are not UTF-8 appear as ``\xNN``."""
        return self.path.decode("utf-8", "backslashreplace")


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of ``Document.text`` and where it came from.

    ``locator`` names the way through every container, outermost first, joined by ``!/``; a place
    inside a document follows ``#``: ``mail.eml!/scan.zip!/a.docx#p3``. The name of the crawled file
    itself is not repeated in it: the locator of a plain text file is the empty string.
    """

    locator: str
    start: int
    end: int


# Locators of what a crawled file itself is called, and of folders that say whom it is about. They are no
# content: files of equal content and other names have other results.
FILE_NAME, FOLDER_NAME = "#filename", "#folder"


OWN_NAMES = (FILE_NAME, FOLDER_NAME)


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of a file that could not be read (a member of an archive, an attachment, a page)."""

    locator: str
    reason: FailReason
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one file with the origin of each stretch of it; segments are in text order."""

    text: str = field(repr=False)
    segments: tuple[Segment, ...]
    media_type: str
    unread: tuple[UnreadPart, ...] = ()
    content_hash: str = ""  # blake3 of the file's bytes, hex
    declared_type: str = ""  # what the name promises, where the content is something else
    n_chars_unread: int = 0  # an estimate, of what was left out of the text because it has too much of it

    def locate(self, offset: int) -> str:
        """Return the locator of the segment that holds the code point at ``offset``."""
        low, high = 0, len(self.segments)
        while low < high:
            middle = (low + high) // 2
            if self.segments[middle].end <= offset:
                low = middle + 1
            else:
                high = middle
        return self.segments[low].locator if low < len(self.segments) else ""
