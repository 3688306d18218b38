r"""Code pages of the character sets that fonts of RTF declare (``\fcharset``), by their numbers."""

from __future__ import annotations

import sys

CHARSETS = {
    77: 10000,
    128: 932,
    129: 949,
    134: 936,
    136: 950,
    161: 1253,
    162: 1254,
    163: 1258,
    177: 1255,
    178: 1256,
    186: 1257,
    204: 1251,
    222: 874,
    238: 1250,
}


def character(value: int) -> str:
    r"""Return the character of ``\u``: a signed 16-bit number; half of a pair stays a half."""
    code = value + 0x10000 if value < 0 else value
    return chr(code) if 0 < code <= sys.maxunicode else ""
