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
        """Raise ValueError for an empty or reversed range."""
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
        """Return whether the two ranges share a code point."""
        return self.start < other.end and other.start < self.end

    def contains(self, other: Span) -> bool:
        """Return whether ``other`` is entirely inside this range."""
        return self.start <= other.start and other.end <= self.end


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A crawled file: its path, and its metadata in the file system at that time.

    ``root`` and ``path`` are raw bytes, exactly as in the file system; ``path`` is relative to ``root``.
    ``display`` is readable text also for names that are not UTF-8.
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
    owner: str = ""  # name of the owner on the share; "" when unknown
    readers: tuple[str, ...] = ()  # who may read it: "everyone", "group NAME", "user NAME"
    # Screened contents of this size, each "HASH MEDIA_TYPE": the result of an equal one is reused.
    duplicates: tuple[str, ...] = field(default=(), compare=False, repr=False)
    without_ocr: bool = field(default=False, compare=False, repr=False)  # pictures are left to a second pass
    # Why it is not opened (a ``SkipReason`` or ``FailReason``): its name alone is judged. "" = it is read.
    unopened: str = field(default="", compare=False, repr=False)

    @classmethod
    def of(cls, root: bytes, path: bytes, info: os.stat_result) -> Self:
        """Return a local file from its path and ``lstat`` result."""
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
    """A part of ``Document.text`` and its origin.

    ``locator`` is the path through every container, outermost first, joined by ``!/``; a position inside a
    document follows ``#``: ``mail.eml!/scan.zip!/a.docx#p3``. It does not include the name of the crawled
    file: the locator of a plain text file is the empty string.
    """

    locator: str
    start: int
    end: int


# Locators of the crawled file's name, and of folder names with a person's name. They are not part of the
# content: files with equal content and different names have different results.
FILE_NAME, FOLDER_NAME = "#filename", "#folder"

OWN_NAMES = (FILE_NAME, FOLDER_NAME)


@dataclass(frozen=True, slots=True)
class UnreadPart:
    """A part of a file that could not be read (a member of an archive, an attachment, a page)."""

    locator: str
    reason: FailReason
    detail: str = ""

    @property
    def is_sampled(self) -> bool:
        """Whether the part lies between the samples of a long, referred text; it was left out by design."""
        return self.reason is FailReason.SAMPLED


@dataclass(frozen=True, slots=True)
class Document:
    """The text of one file with the origin of each part; segments are in text order."""

    text: str = field(repr=False)
    segments: tuple[Segment, ...]
    media_type: str
    unread: tuple[UnreadPart, ...] = ()
    content_hash: str = ""  # blake3 of the file's bytes, hex
    declared_type: str = ""  # type by the file's name, if the content has another type
    n_chars_unread: int = 0  # estimated number of characters that were left out of a long text
    members: tuple[str, ...] = ()  # locators of the members of a container, also of those without text

    def locate(self, offset: int) -> str:
        """Return the locator of the segment with the code point at ``offset``."""
        low, high = 0, len(self.segments)
        while low < high:
            middle = (low + high) // 2
            if self.segments[middle].end <= offset:
                low = middle + 1
            else:
                high = middle
        return self.segments[low].locator if low < len(self.segments) else ""
