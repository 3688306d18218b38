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
    """Follow the control bytes: a set bit is a reference into the window, a clear one a byte.

    The window is the last 4,096 bytes of what is known and written so far; its place ``write`` is that of the
    next byte.
    """
    out = bytearray(bytes(_WINDOW - len(_START)) + _START)  # what the window holds at the beginning
    n_known = len(out)
    at, end = 0, len(data)
    while at < end and len(out) - n_known < n_wanted:
        control = data[at]
        at += 1
        if not control:
            out += data[at : at + 8]
            at += 8
            continue
        for bit in range(8):
            if not control >> bit & 1:
                out += data[at : at + 1]
                at += 1
                continue
            if at + _TOKEN_BYTES > end:
                return out[n_known : n_known + n_wanted]  # a stream cut short
            offset = (data[at] << 4) | (data[at + 1] >> 4)
            length = (data[at + 1] & 15) + 2
            at += _TOKEN_BYTES
            distance = (len(out) + len(_START) - offset) % _WINDOW
            if not distance:
                return out[n_known : n_known + n_wanted]  # the end mark
            run = out[len(out) - distance :][:length] if distance > length else out[-distance:]
            out += run if len(run) == length else (run * (length // distance + 1))[:length]
    return out[n_known : n_known + n_wanted]
