"""Outlook Express folders (DBX): every message, deleted ones too, from the chains of blocks in the file.

A message lies in blocks of 512 bytes, each with its own place, its length and the place of the next. They are
searched for in the whole file, so that neither a damaged index nor a deleted entry hides a message.
Source: Arne Schloh, "The Outlook Express dbx file format" (2001).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.databases.named import read_strings
from phiscan.model import FailReason

_HEAD_BYTES, _BLOCK_BYTES = 16, 512
_MAGIC_BYTES = 4
_BLOCK_LENGTH = re.compile(rb"\x00\x02\x00\x00")  # the second field of a block of a message
_FIELD = re.compile(rb"[A-Za-z][A-Za-z0-9-]{1,40}:")
_FIELD_WITHIN = 2048


class OutlookExpressExtractor:
    """Read DBX files."""

    media_types = frozenset({"application/x-outlook-express"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Read each message as a member, ``message3.eml``.

        Raises:
            ExtractError: unsupported; there is neither a message nor a run of text in it.
        """
        data = content.data
        blocks = dict(_blocks(data))
        followers = {following for _, following in blocks.values()}
        heads = [at for at in blocks if at not in followers]
        for number, head in enumerate(heads, 1):
            sink.take_member()
            message, is_whole = _message(data, head, blocks)
            member = content.member(f"message{number}.eml", message)
            sink.spend(len(message))
            if not is_whole:
                sink.fail(member.locator, FailReason.CORRUPT, "cut short")
            if _FIELD.search(message, 0, _FIELD_WITHIN):
                sink.read_member(member)
        if not heads:
            read_strings(content, "application/x-outlook-express", sink, "no message")


def _blocks(data: bytes) -> Iterator[tuple[int, tuple[int, int]]]:
    """Yield place, and length and follower, of each block of a message, in the order of the file."""
    for match in _BLOCK_LENGTH.finditer(data):
        at = match.start() - _MAGIC_BYTES
        if at < 0 or at + _HEAD_BYTES > len(data):
            continue
        own, _, length, _, following = struct.unpack_from("<IIHHI", data, at)
        if own == at and length <= _BLOCK_BYTES and following < len(data):
            yield at, (length, following)


def _message(data: bytes, head: int, blocks: dict[int, tuple[int, int]]) -> tuple[bytes, bool]:
    """Return the bytes of the blocks from ``head`` on, and whether the last one says that it is the last."""
    pieces: list[bytes] = []
    at, seen = head, set[int]()
    while at in blocks and at not in seen:
        seen.add(at)
        length, following = blocks[at]
        pieces.append(data[at + _HEAD_BYTES : at + _HEAD_BYTES + length])
        at = following
    return b"".join(pieces), at == 0
