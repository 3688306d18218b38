"""Kinds of files without a reader: the runs of text in them are read, or the file is refused by its name.

A file of records that no reader takes apart still holds its names and notes as runs of letters.
"""

from __future__ import annotations

import re

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.magic_numbers import KINDS, UNKNOWN
from phiscan.extract.core.prose import MIN_WORDS, words_of
from phiscan.model import FailReason

_NARROW = re.compile(rb"[\x20-\x7e\xc0-\xff\t]{5,}")
_WIDE = re.compile(rb"(?:[\x20-\x7e\xc0-\xff]\x00){5,}")
_WORD = re.compile(r"[^\W\d_]{3,}")
_MOST_BYTES = 32 * 1024**2
_MOST_CHARS = 2_000_000


UNSUPPORTED_TYPES = frozenset(kind.media_type for kind in KINDS.values() if kind.read_by != "reader")


def read_unsupported(content: Content, sink: Sink) -> None:
    """Add the runs of text, ``#strings``, and record that the rest is not read.

    Raises:
        ExtractError: unsupported, with the kind and what would help; there is no text in it.
    """
    media_type = sniff(content.data, content.name)
    if media_type != UNKNOWN and KINDS[media_type].read_by == "refused":
        raise ExtractError(FailReason.UNSUPPORTED, KINDS[media_type].called)
    read_strings(content, media_type, sink)


def read_strings(content: Content, media_type: str, sink: Sink, why: str = "") -> None:
    """Add the runs of text in a file, ``#strings``; record why the rest is not read, and what would help.

    Raises:
        ExtractError: unsupported; there is no text in it.
    """
    kind = KINDS[media_type]
    said = ": ".join(part for part in (kind.called, why) if part)
    advice = f"; {kind.advice}" if kind.advice else ""
    runs = strings(content.data)
    if media_type == UNKNOWN:  # of which single words may be anything
        runs = [run for run in runs if len(words_of(run)) > 1 or run.isdecimal()]
        runs = runs if len(words_of(" ".join(runs))) >= MIN_WORDS else []
    if not runs:
        raise ExtractError(FailReason.UNSUPPORTED, f"{said}{advice}")
    sink.add("\n".join(runs)[:_MOST_CHARS], content.place("strings"))
    detail = f"{said}: only the runs of text in it are read{advice}"
    sink.fail(content.locator, FailReason.UNSUPPORTED, detail)


def strings(data: bytes) -> list[str]:
    r"""Return the runs of text in binary data, in one byte or two for each character, that hold a word.

    >>> strings(b"\x00\x01Okafor Lena\x00\x02\x9f4xy\x00")
    ['Okafor Lena']
    """
    found: dict[str, None] = {}
    n_chars = 0
    for pattern, encoding in ((_NARROW, "cp1252"), (_WIDE, "utf-16-le")):
        for match in pattern.finditer(data, 0, _MOST_BYTES):
            text = match.group().decode(encoding, "replace").strip()
            if _WORD.search(text) or (text.isdecimal() and len(text) > 5):  # noqa: PLR2004 (a number that names)
                found[text] = None
                n_chars += len(text)
                if n_chars > _MOST_CHARS:
                    break
    return list(found)
