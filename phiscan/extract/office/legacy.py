"""Legacy Word and PowerPoint; Word 95 and damaged files go to catdoc and catppt where they are installed."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import zlib
from dataclasses import replace
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.compound_parts.macros import read_macros
from phiscan.extract.compound_parts.storage import embedded_storages
from phiscan.extract.compound_parts.typed_texts import add_typed_texts
from phiscan.extract.core.content import Content, Inflating, Sink
from phiscan.extract.office.binary_pictures import picture_members
from phiscan.extract.office.compound_file import is_cut, is_encrypted, open_ole, properties_text
from phiscan.extract.office.encryption import decrypted
from phiscan.extract.office.slides_binary import atoms, objects
from phiscan.extract.office.word_binary import stories
from phiscan.model import FailReason
from phiscan.sandbox import programs
from phiscan.sandbox.channel import in_memory

_SECONDS = 30


class LegacyOfficeExtractor:
    """Read DOC and PPT."""

    media_types = frozenset({"application/msword", "application/vnd.ms-powerpoint"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per story or slide, then the properties."""
        ole = open_ole(content.data)
        if is_encrypted(ole):
            ole.close()
            content = replace(content, data=decrypted(content.data, sink.passwords))
            ole = open_ole(content.data)
        n_pieces = sink.n_pieces
        with ole:
            if is_cut(ole):
                sink.fail(content.locator, FailReason.CORRUPT, "cut short")
            is_word = ole.exists("WordDocument")
            parts = _parts(ole, is_word=is_word)
            members = _objects(ole, content, sink, is_word=is_word)
            pictures = list(picture_members(ole, content, sink))
            properties = properties_text(ole)
            if parts:
                for number, (place, text) in enumerate(parts, 1):
                    sink.add(text, content.place(place if is_word else f"{place.partition('@')[0]}{number}"))
            else:
                sink.add(external_text("catdoc" if is_word else "catppt", content.data), content.locator)
            sink.add(properties, content.place("properties"))
            embedded = hidden_parts(ole, content, sink, n_pieces)
        for member in embedded:
            sink.read_member(member)
        for number, data in enumerate(members, 1):
            sink.read_member(content.member(f"object{number}", data))
        for picture in pictures:
            sink.read_member(picture)


def hidden_parts(ole: Any, content: Content, sink: Sink, n_pieces: int) -> list[Content]:
    """Add macros and texts beside the text of an opened legacy file; return the objects embedded in it."""
    read_macros(ole, content, sink)
    add_typed_texts(ole, content, sink, n_pieces)
    return list(embedded_storages(ole, content, sink))


def _parts(ole: Any, *, is_word: bool) -> list[tuple[str, str]]:
    """Return the parts by our own readers; empty where the format is older or damaged."""
    try:
        return stories(ole) if is_word else atoms(ole)
    except (ExtractError, OSError, ValueError, struct.error, IndexError):
        return []


def _objects(ole: Any, content: Content, sink: Sink, *, is_word: bool) -> list[bytes]:
    """Return the files that other applications embedded; where they cannot be read is recorded."""

    def inflate(data: bytes) -> bytes:
        return sink.unpack(Inflating(data), len(data))

    found: list[bytes] = []
    try:
        if is_word:
            for entry in ole.listdir():
                if entry[0] == "ObjectPool" and entry[-1] in ("Package", "CONTENTS"):
                    sink.take_member()
                    found.append(ole.openstream(entry).read())
        else:
            for data in objects(ole, inflate):
                sink.take_member()
                found.append(data)
    except ExtractError as error:
        sink.fail(content.place("objects"), FailReason(error.reason), error.detail)
    except (OSError, ValueError, struct.error, zlib.error) as error:
        sink.fail(content.place("objects"), FailReason.CORRUPT, type(error).__name__)
    return found


def external_text(program: str, data: bytes) -> str:
    """Return what ``program`` prints for a file in memory: it never lies on a disk.

    Raises:
        ExtractError: unsupported (the program is missing), corrupt or timed_out.
    """
    if not shutil.which(program):
        raise ExtractError(FailReason.UNSUPPORTED, f"needs {program}, which is not installed")
    descriptor = in_memory(data)
    try:
        done = programs.run(program, descriptor, _SECONDS)
    except subprocess.TimeoutExpired:
        raise ExtractError(FailReason.TIMED_OUT, program) from None
    finally:
        os.close(descriptor)
    text = done.output.decode("utf-8", "replace").replace("\f", "\n")
    if done.status and not text.strip():
        raise ExtractError(FailReason.CORRUPT, f"{program} gave nothing")
    return text
