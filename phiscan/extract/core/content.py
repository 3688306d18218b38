"""What passes between the extractors: bytes with their locator, and the sink that collects text."""

from __future__ import annotations

import io
import lzma
import re
import struct
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import BinaryIO, Protocol

from blake3 import blake3

from phiscan.config import Limits
from phiscan.errors import ExtractError, kind_of
from phiscan.model import FailReason, Segment, UnreadPart
from phiscan.text.spaced_letters import join_letters

_LATIN_LEADS = bytes([0xC2, 0xC3, 0xC4, 0xC5, 0xE2])  # of letters of Europe, and of quotes and dashes
_PAGES = {  # with the bytes that begin a character
    "cp1252": bytes([*range(0xC2, 0xD2), 0xE2]),
    "mac-roman": _LATIN_LEADS,
    "cp850": _LATIN_LEADS,
    "cp437": _LATIN_LEADS,
}
_FIRST, _LAST = 0x80, 0xBF
_SIGNS = frozenset("\u2013\u2014\u2018\u2019\u201a\u201c\u201d\u201e\u2022\u2026\u2039\u203a\u20ac\u2122")
_MOST_ROUNDS = 3
_MARKS = ("Ã", "Ä", "Å", "Ð", "Î", "â€", "√", "\u201aÄ", "├", "ÔÇ")


def repaired(text: str) -> str:
    """Return a text in which characters that were encoded twice, or oftener, are the ones that were meant.

    >>> repaired("HÃ©lÃ¨ne"), repaired("JOÃO")
    ('Hélène', 'JOÃO')
    """
    if text.isascii() or not any(mark in text for mark in _MARKS):
        return text
    for _ in range(_MOST_ROUNDS):
        before = text
        for page in _PAGES:
            pattern, codes = _table(page)
            text = pattern.sub(lambda run, codes=codes: _meant(run, codes), text)  # type: ignore[misc]
            if text != before:
                break
        else:
            break
    return text


def _meant(run: re.Match[str], codes: dict[str, int]) -> str:
    try:
        meant = bytes(codes[char] for char in run.group()).decode()
    except UnicodeDecodeError:
        return run.group()
    text, start, end = run.string, run.start(), run.end()
    if not all(char.isalpha() or char in _SIGNS or "\xa0" <= char <= "\xbf" for char in meant):
        return run.group()
    is_within_word = text[start - 1 : start].isalpha() or text[end : end + 1].isalpha()
    is_word = meant == "à" or (len(meant) > 1 and meant.isalpha())
    return meant if is_within_word or is_word or meant in _SIGNS else run.group()


@cache
def _table(page: str) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return a pattern of UTF-8 sequences as a code page shows them, and the byte of each character."""
    codes = {chr(code): code for code in range(_FIRST, 0x100)} if page == "cp1252" else {}
    for code in range(_FIRST, 0x100):
        char = bytes([code]).decode(page, "ignore")
        if char:
            codes[char] = code
    leads = "".join(re.escape(char) for char, code in codes.items() if code in _PAGES[page])
    rest = "".join(re.escape(char) for char, code in codes.items() if _FIRST <= code <= _LAST)
    return re.compile(f"(?:[{leads}][{rest}]{{1,2}})+"), codes


SMALL_MEMBER_BYTES = 1024**2  # below this no ratio is suspicious: a page of spaces packs very well
CHUNK_BYTES = 1024**2
_SHARE_OF_TIME = 0.6  # of limits.processor_s that reading may take; the rest is for examining
_LEAST_CHARS = 1_000_000  # read whatever the time
_MOST_MEMBERS_NAMED = 10_000
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"  # marks of where a word may be broken
# The names of these types alone tell an operator nothing.
_MISHAPS = (
    (zlib.error, "damaged compressed data"),
    (lzma.LZMAError, "damaged compressed data"),
    (zipfile.BadZipFile, "damaged ZIP archive"),
    (struct.error, "damaged structure"),
    (EOFError, "cut short"),
)
# What zipfile raises on a damaged archive or member, by itself or from what unpacks.
ZIP_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, OSError, EOFError),
    *(ValueError, KeyError, RuntimeError),
)


class ByteStream(Protocol):
    """Anything that unpacks as it is read."""

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of one file or of one member of a container."""

    data: bytes = field(repr=False)
    name: str  # the name that it has in its container; only a hint
    locator: str = ""  # the way through the containers; "" for the file itself
    depth: int = 0  # containers above it
    stream: BinaryIO | None = field(default=None, repr=False)  # a large file; ``data`` is its head

    def open(self) -> BinaryIO:
        """Return the bytes as a file, at their beginning."""
        if self.stream is None:
            return io.BytesIO(self.data)
        self.stream.seek(0)
        return self.stream

    @property
    def n_bytes(self) -> int:
        """The size of the whole."""
        if self.stream is None:
            return len(self.data)
        at = self.stream.tell()
        size = self.stream.seek(0, io.SEEK_END)
        self.stream.seek(at)
        return size

    def place(self, place: str) -> str:
        """Return the locator of a place inside this content.

        >>> Content(b"", "a.docx", "scan.zip!/a.docx").place("p3")
        'scan.zip!/a.docx#p3'
        """
        return f"{self.locator}#{place}"

    def member(self, name: str, data: bytes) -> Content:
        """Return a member of this container, one level deeper."""
        # A name may hold anything; a locator is printed and stored on one line.
        name = "".join(char if char.isprintable() else "\ufffd" for char in name)
        locator = f"{self.locator}!/{name}" if self.locator else name
        return Content(data, name, locator, self.depth + 1)


def clean(text: str) -> str:
    r"""Return text that every encoder takes: no lone surrogates, no NUL, nothing encoded twice.

    Letters that are set apart are joined, and marks of where a word may be broken are taken out.

    >>> clean("Ann\0Roy \ud83d\ude00 \ud800 L\u200bé\u00ada") == "Ann Roy \U0001f600 \ufffd Léa"
    True
    """
    text = join_letters(text.replace("\0", " "))
    if text.isascii():
        return text
    text = repaired(text)
    for mark in _INVISIBLE:
        text = text.replace(mark, "")  # quicker than to translate what has none
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def clean_name(name: str) -> str:
    """Return a name in an archive as a locator shows it; nothing is written under it: ``..`` does no harm."""
    return name.replace("\\", "/").replace("\0", "")


def mishap(error: BaseException) -> str:
    """Say in words what a library found, without its message, which may quote the document.

    >>> mishap(zlib.error("invalid"))
    'damaged compressed data'
    """
    for kind, words in _MISHAPS:
        if isinstance(error, kind):
            return words
    return kind_of(error)


class Inflating:
    """A zlib stream that is unpacked as it is read; ``window`` as zlib counts it tells deflate and gzip."""

    def __init__(self, data: bytes, window: int = zlib.MAX_WBITS) -> None:
        self._engine = zlib.decompressobj(window)
        self._left = data

    def read(self, size: int, /) -> bytes:
        """Return up to ``size`` bytes, none at the end."""
        if self._engine.eof:
            return b""
        out = self._engine.decompress(self._left, size)
        self._left = self._engine.unconsumed_tail
        return out


class Meter:
    """Counts the bytes of one member against the limits, and keeps them."""

    def __init__(self, sink: Sink, packed_bytes: int) -> None:
        self._sink = sink
        self._allowed = max(packed_bytes * sink.limits.ratio, SMALL_MEMBER_BYTES)
        self._kept = io.BytesIO()  # whose value is no copy: a member may be large
        self._n_bytes = 0

    def take(self, chunk: bytes) -> None:
        """Keep some more bytes.

        Raises:
            ExtractError: too_large.
        """
        limits = self._sink.limits
        self._n_bytes += len(chunk)
        self._sink.spend(len(chunk))
        if self._n_bytes > self._allowed:
            raise ExtractError(FailReason.TOO_LARGE, f"unpacks to more than {limits.ratio} times its size")
        if self._n_bytes > limits.file_bytes:
            raise ExtractError(FailReason.TOO_LARGE, f"unpacks to more than {limits.file_bytes} bytes")
        self._kept.write(chunk)

    def data(self) -> bytes:
        """Return the bytes that were kept."""
        return self._kept.getvalue()


class TextFullError(Exception):
    """The budget of text or processor time is used up; ends the extraction, what was read is kept."""


class Sink:
    """Collects the text of one file, and spends the one budget that all its containers share.

    Text arrives in reading order; each stretch becomes one segment, and segments are separated by a
    line feed so that no identifier runs across two of them.
    """

    def __init__(
        self,
        limits: Limits,
        passwords: Sequence[str] = (),
        dispatch: Callable[[Content, Sink], None] | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self.limits = limits
        self.passwords = passwords
        self.ocr_deadline = 0.0  # monotonic clock; set when the first picture is read
        self.n_chars_unread = 0  # an estimate; of what is cut, and of what lies between windows
        self._deadline = clock() + limits.processor_s * _SHARE_OF_TIME
        self._clock = clock
        self._dispatch = dispatch
        self.segments: list[Segment] = []  # so far, in text order
        self.unread: list[UnreadPart] = []  # so far
        self.n_chars = 0  # code points so far
        self.n_members = 0  # of containers, so far
        self.label_properties: list[str] = []  # of the file itself, that are no text of it
        self._texts: list[str] = []  # of the segments
        self._member_bytes = 0
        self._pictures: set[bytes] = set()
        self._accounted: set[str] = set()
        self._with_members: set[str] = set()
        self._members: dict[str, None] = {}

    @property
    def members(self) -> tuple[str, ...]:
        """The locators of the members of containers so far, the first ones of very many."""
        return tuple(self._members)

    @property
    def n_chars_left(self) -> int:
        """Code points that the text budget still has."""
        return self.limits.text_chars - self.n_chars

    @property
    def n_segments(self) -> int:
        """Segments so far."""
        return len(self.segments)

    def text_of(self, index: int) -> str:
        """Return the text of one segment."""
        return self._texts[index]

    def text_since(self, n_segments: int) -> str:
        """Return the text collected after the first ``n_segments``; each ends with a line feed."""
        return "\n".join([*self._texts[n_segments:], ""])

    def text(self) -> str:
        """Return the text collected so far."""
        return self.text_since(0)

    def add(self, text: str, locator: str) -> None:
        """Append one stretch of text as a segment; white space alone is passed over.

        Raises:
            TextFullError: the budget of text or of processor time is used up; the cut is recorded.
        """
        if not text or text.isspace():
            return
        if self.n_chars >= _LEAST_CHARS and self._clock() > self._deadline:
            self.fail(locator, FailReason.TIMED_OUT, "not read from here on: limits.processor_s")
            raise TextFullError
        text = clean(text)
        room = self.limits.text_chars - self.n_chars - 1
        cut = len(text) > room
        if cut:
            self.n_chars_unread += len(text) - max(room, 0)
            text = text[: max(room, 0)]
        if text:
            self._texts.append(text)
            self.segments.append(Segment(locator, self.n_chars, self.n_chars + len(text)))
            self.n_chars += len(text) + 1
        if cut:
            self.fail(locator, FailReason.TOO_LARGE, f"text cut at {self.limits.text_chars} characters")
            raise TextFullError

    def bound(self, data: bytes, locator: str) -> bytes:
        """Cut bytes that cannot give more text than is kept, before they are decoded; the cut is recorded."""
        most = 4 * self.limits.text_chars  # no encoding takes more than four bytes for a character
        if len(data) <= most:
            return data
        self.fail(locator, FailReason.TOO_LARGE, f"cut at {most} bytes")
        return data[:most]

    def fail(self, locator: str, reason: FailReason, detail: str = "") -> None:
        """Record a part that could not be read; the same part and reason in a row are recorded once."""
        if self.unread and (self.unread[-1].locator, self.unread[-1].reason) == (locator, reason):
            return
        self.unread.append(UnreadPart(locator, reason, detail))
        self.note_member(locator)

    @contextmanager
    def part(self, locator: str, *damage: type[Exception], said: str = "") -> Iterator[None]:
        """Record what goes wrong with a part: an ExtractError, or ``damage`` as its library reports it."""
        try:
            yield
        except ExtractError as error:
            self.fail(locator, FailReason(error.reason), error.detail)
        except damage as error:
            self.fail(locator, FailReason.CORRUPT, said or mishap(error))

    def note_member(self, locator: str) -> None:
        """Note what a container holds, for its name; one that is read or fails is noted without this."""
        if locator and len(self._members) < _MOST_MEMBERS_NAMED:
            self._members[locator] = None

    def read_member(self, content: Content) -> None:
        """Read a member of a container; what goes wrong inside it is recorded and stays inside.

        Raises:
            TextFullError: the text budget is used up.
        """
        if self._dispatch is None:
            message = "a sink without dispatch cannot read members"
            raise ValueError(message)
        self.note_member(content.locator)
        if content.depth > self.limits.depth:
            detail = f"more than {self.limits.depth} containers within each other"
            self.fail(content.locator, FailReason.NESTED_TOO_DEEP, detail)
            return
        self._with_members.add(content.locator.rpartition("!/")[0])
        with self.part(content.locator):
            self._dispatch(content, self)

    def read_new(self, member: Content) -> None:
        """Count a member that is no archive's, take its bytes from the budget, and read it."""
        with self.part(member.locator):
            self.take_member()
            self.spend(len(member.data))
            self.read_member(member)

    def add_member(self, container: Content, name: str, data: bytes) -> None:
        """Count a member of a container and read it; see ``take_member`` and ``read_member``."""
        self.take_member()
        self.read_member(container.member(name, data))

    def has_members_of(self, content: Content) -> bool:
        """Tell whether a member of a container was handed in."""
        return content.locator in self._with_members

    def take_member(self) -> None:
        """Count one member of a container.

        Raises:
            ExtractError: too_large; the budget of members is used up.
        """
        self.n_members += 1
        if self.n_members > self.limits.member_count:
            raise ExtractError(FailReason.TOO_LARGE, f"more than {self.limits.member_count} members")

    def unpack(self, stream: ByteStream, packed_bytes: int) -> bytes:
        """Read an unpacking stream to its end, within the budget of unpacked bytes and the ratio.

        Raises:
            ExtractError: too_large; the stream is not read further.
        """
        meter = Meter(self, packed_bytes)
        while chunk := stream.read(CHUNK_BYTES):
            meter.take(chunk)
        return meter.data()

    def inflate(self, data: bytes, window: int = zlib.MAX_WBITS) -> bytes:
        """Return what zlib unpacks of some bytes, within the budget; ``window`` as zlib counts it.

        Raises:
            ExtractError: too_large, or corrupt.
        """
        try:
            return self.unpack(Inflating(data, window), len(data))
        except zlib.error:
            raise ExtractError(FailReason.CORRUPT, mishap(zlib.error())) from None

    def spend(self, n_bytes: int) -> None:
        """Take unpacked bytes from the budget of the file.

        Raises:
            ExtractError: too_large; the budget is used up.
        """
        self._member_bytes += n_bytes
        if self._member_bytes > self.limits.member_bytes:
            raise ExtractError(
                FailReason.TOO_LARGE, f"all members unpack to more than {self.limits.member_bytes} bytes"
            )

    def mark_accounted(self, locator: str) -> None:
        """Note that a reader accounted for all bytes of a content, or of a place in it, itself."""
        self._accounted.add(locator)

    def was_accounted(self, locator: str) -> bool:
        """Tell whether the reader of a content or place accounted for its bytes itself."""
        return locator in self._accounted

    def is_new_picture(self, data: bytes) -> bool:
        """Tell whether these bytes were not handed in before: a logo on every slide is read once."""
        digest = blake3(data).digest()
        if digest in self._pictures:
            return False
        self._pictures.add(digest)
        return True

    def is_new_file(self, data: bytes) -> bool:
        """Return whether a file of these bytes was not noted before, and note it."""
        return self.is_new_picture(b"file" + blake3(data).digest())

    def ocr_seconds_left(self) -> float:
        """Return what is left of the file's OCR budget; its clock starts at the first call."""
        if not self.ocr_deadline:
            self.ocr_deadline = time.monotonic() + self.limits.ocr_s
        return self.ocr_deadline - time.monotonic()
