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
_TOKEN_BYTES = 2
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
    return bytes(_unpack(data[_HEADER_BYTES:], min(raw_bytes, _MAX_BYTES)))


def _unpack(data: bytes, n_wanted: int) -> bytearray:
    """Follow the control bytes: a set bit is a reference into the window, a clear one a byte."""
    window = bytearray(_START.ljust(_WINDOW, b"\0"))
    write = len(_START)
    out = bytearray()
    at = 0
    while at < len(data) and len(out) < n_wanted:
        control = data[at]
        at += 1
        for bit in range(8):
            run = data[at : at + 1]
            at += 1
            if control >> bit & 1:
                token = run + data[at : at + 1]
                at += 1
                if len(token) < _TOKEN_BYTES or (token[0] << 4) | (token[1] >> 4) == write:
                    return out[:n_wanted]  # the end mark, or a stream cut short
                run = bytes(_copy(window, (token[0] << 4) | (token[1] >> 4), (token[1] & 15) + 2, write))
            for byte in run:
                window[write] = byte
                write = (write + 1) % _WINDOW
            out += run
    return out[:n_wanted]


def _copy(window: bytearray, offset: int, length: int, write: int) -> bytearray:
    """Return ``length`` bytes of the window from ``offset``; a run may overlap its own beginning."""
    period = (write - offset) % _WINDOW or _WINDOW
    return bytearray(window[(offset + step % period) % _WINDOW] for step in range(length))
