"""What follows the end of a PNG or JPEG picture: no viewer shows it."""

from __future__ import annotations

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.prose import MIN_WORDS, words_of
from phiscan.model import FailReason

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PNG_END = b"IEND"
_PICTURES_WITHIN = 256 * 1024  # bytes of a JPEG within which an index of its pictures is
_MIN_BYTES = 16
_FILLING = b"\0\r\n\t \xff"  # the last one begins a JPEG, too


def read_appended(content: Content, sink: Sink) -> None:
    """Read a file after a picture as a member, ``appended``; list text that is no such file, and films."""
    rest = _after_end(content.data).lstrip(_FILLING[:-1]).rstrip(_FILLING)
    if len(rest) < _MIN_BYTES:
        return
    member = content.member("appended", rest)
    if is_document(rest):
        sink.take_member()
        sink.read_member(member)
    elif b"ftyp" in rest[:12] or any(len(words_of(text)) >= MIN_WORDS for _, text in byte_runs(rest)):
        sink.fail(member.locator, FailReason.UNSUPPORTED, f"{len(rest)} bytes after the picture are not read")


def _after_end(data: bytes) -> bytes:
    if data.startswith(_PNG):
        at = len(_PNG)
        while at + 8 <= len(data):
            length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
            at += 12 + length
            if kind == _PNG_END:
                return data[at:]
        return b""
    if not data.startswith(_JPEG) or b"MPF\0" in data[:_PICTURES_WITHIN]:  # whose pictures are its pages
        return b""
    end = _end_of_jpeg(data)
    return data[end:] if end >= 0 else b""


def _end_of_jpeg(data: bytes) -> int:
    """Return where the first picture ends: at the first end marker outside of a segment; -1: nowhere."""
    at = 2
    while (at := data.find(b"\xff", at)) >= 0 and at + 4 <= len(data):
        marker = data[at + 1]
        if marker == 0xD9:  # noqa: PLR2004 (the end)
            return at + 2
        if marker == 0xFF:  # noqa: PLR2004 (filling)
            at += 1
        elif marker in (0, 1) or 0xD0 <= marker <= 0xD8:  # noqa: PLR2004 (within the pixels)
            at += 2
        else:
            at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return -1
