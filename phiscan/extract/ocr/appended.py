"""What follows the end of a PNG or JPEG picture: no viewer shows it."""

from __future__ import annotations

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.prose import MIN_WORDS, words_of
from phiscan.model import FailReason

_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff"
_PNG_END, _JPEG_END = b"IEND", b"\xff\xd9"
_MIN_BYTES = 16
_FILLING = b"\0\r\n\t \xff"


def read_appended(content: Content, sink: Sink) -> None:
    """Read a file after a picture as a member, ``appended``; list text that is no such file."""
    rest = _after_end(content.data).strip(_FILLING)
    if len(rest) < _MIN_BYTES:
        return
    member = content.member("appended", rest)
    if is_document(rest):
        sink.take_member()
        sink.read_member(member)
    elif any(len(words_of(text)) >= MIN_WORDS for _, text in byte_runs(rest)):
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
    end = data.rfind(_JPEG_END) if data.startswith(_JPEG) else -1
    return data[end + len(_JPEG_END) :] if end >= 0 else b""
