"""The compressed RTF of Outlook messages: an LZ77 window of 4,096 bytes with a known beginning."""

from __future__ import annotations

import struct

from phiscan.errors import ExtractError
from phiscan.model import FailReason

# The initial dictionary is part of the format, [MS-OXRTFCP] 2.1.2.1.
_START = (
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript "
    b"\\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par "
    b"\\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_WINDOW = 4096
_HEADER_BYTES = 16
_COMPRESSED = b"LZFu"
_UNCOMPRESSED = b"MELA"
_MAX_BYTES = 256 * 1024**2


def decompress(data: bytes) -> bytes:
    """Return the RTF in ``data``; a stream that ends early gives what it has.

    Raises:
        ExtractError: corrupt; not compressed RTF.
    """
    if len(data) < _HEADER_BYTES:
        raise ExtractError(FailReason.CORRUPT, "compressed RTF too short")
    raw_bytes, kind = struct.unpack_from("<I4s", data, 4)
    if kind == _UNCOMPRESSED:
        return data[_HEADER_BYTES : _HEADER_BYTES + raw_bytes]
    if kind != _COMPRESSED:
        raise ExtractError(FailReason.CORRUPT, "not compressed RTF")
    window = bytearray(_START.ljust(_WINDOW, b"\0"))
    write = len(_START)
    out = bytearray()
    at = _HEADER_BYTES
    while at < len(data) and len(out) < min(raw_bytes, _MAX_BYTES):
        control = data[at]
        at += 1
        for bit in range(8):
            if control >> bit & 1:
                token = data[at : at + 2]
                at += 2
                if len(token) < 2:  # noqa: PLR2004 (the stream ends here)
                    return bytes(out)
                offset, length = (token[0] << 4) | (token[1] >> 4), (token[1] & 15) + 2
                if offset == write:
                    return bytes(out)  # the end mark
                run = bytearray()
                for step in range(length):
                    byte = window[(offset + step) % _WINDOW]
                    window[write] = byte
                    write = (write + 1) % _WINDOW
                    run.append(byte)
                out += run
            elif at < len(data):
                out.append(data[at])
                window[write] = data[at]
                write = (write + 1) % _WINDOW
                at += 1
    return bytes(out[:raw_bytes])
