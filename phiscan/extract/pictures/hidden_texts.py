"""Texts in the file of a picture outside of its pixels, whatever part of it holds them.

Viewers show none of it: private chunks and segments, extension blocks, private tags, what follows the end.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.prose import MIN_WORDS

# What programs write: profiles of colours, XMP (which is read as such), marks of encoders.
_MACHINE = re.compile(
    r"<\??x(?:packet|:xmpmeta)|<rdf:|rdf:RDF|xmlns:|IEC ?61966|Viewing Condition|Hewlett-Packard|Copyright"
    r"|ICC|CREATOR:|Adobe|JFIF|sRGB|ns\.adobe\.com|colou?r profile|Lavc|x264|Software|\{\\?\"|8BIM",
    re.IGNORECASE,
)
_RAW_PROFILE = re.compile(rb"zTXtRaw profile type [a-z0-9]{1,20}\0\0")
_MOST_PROFILE = 1024**2
_HEX = re.compile(rb"[0-9a-fA-F\s]{40,}")


def hidden_texts(data: bytes) -> Iterator[str]:
    """Yield runs of printable characters that no program writes by itself, from the beginning of the file."""
    for _, text in byte_runs(data):
        if len(text.split()) >= MIN_WORDS and not _MACHINE.search(text):
            yield text.strip()
    for match in _RAW_PROFILE.finditer(data):
        with suppress(zlib.error, ValueError):
            profile = zlib.decompressobj().decompress(data[match.end() :], _MOST_PROFILE)
            digits = b"".join(b"".join(_HEX.findall(profile)).split())
            raw = bytes.fromhex(digits[len(digits) % 2 :].decode("ascii"))
            yield from (text.strip() for _, text in byte_runs(raw))
