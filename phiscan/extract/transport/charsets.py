"""Text of mail in the character set that its header declares, or in the one that its bytes show.

Source: RFC 2045 (charset), RFC 1468 (ISO-2022-JP), the labels of the WHATWG Encoding Standard.
"""

from __future__ import annotations

import codecs
import re

from phiscan.extract.core.charset import decode, decode_declared

# What programs write under a label, where it is more than the label says, or has another name here.
_SUPERSETS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "euc_kr": "cp949",
    "shift_jis": "cp932",
    "big5": "big5hkscs",
    "tis-620": "cp874",
}
_ALIASES = {
    "unicode-1-1-utf-7": "utf-7",
    "x-unicode-1-1-utf-7": "utf-7",
    "unicode": "utf-16",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "x-windows-949": "cp949",
    "x-sjis": "cp932",
    "x-ms-cp932": "cp932",
    "windows-31j": "cp932",
    "x-gbk": "gb18030",
    "x-euc-cn": "gb18030",
    "hz": "hz",
    "iso-8859-8-i": "iso8859-8",
    "iso-8859-8-e": "iso8859-8",
    "iso-8859-6-i": "iso8859-6",
    "x-mac-roman": "mac-roman",
    "x-mac-cyrillic": "mac-cyrillic",
    "x-mac-ce": "mac-latin2",
    "x-euc-jp": "euc_jp",
    "x-x-big5": "big5hkscs",
    "ansi": "cp1252",
    "cp50220": "iso2022_jp_ext",
    "cp50221": "iso2022_jp_ext",
}
_USUAL = {
    "": "",
    "utf-8": "utf-8",
    "UTF-8": "utf-8",
    "us-ascii": "cp1252",
    "iso-8859-1": "cp1252",
    "ISO-8859-1": "cp1252",
}
_SEVERAL_BYTES = re.compile(r"utf|ucs|unicode|iso2022|^hz$")
_WINDOWS = re.compile(r"(?:windows|win|cp|ansi|x-cp|x-ansi)[-_ ]?(\d{3,5})")
_QUOTES_AND_REST = re.compile(r"^[\"'\s]*(?:charset\s*=\s*)?[\"'\s]*([^\"'\s;()]+).*$", re.DOTALL)
_JIS_ESCAPE = re.compile(rb"(\x1b\$[@B]|\x1b\$\([@BDOPQ]|\x1b\([BJIH])")
_JIS_TWO_BYTES = (b"\x1b$@", b"\x1b$B", b"\x1b$(@", b"\x1b$(B")
_JIS_KATAKANA = b"\x1b(I"
_KATAKANA = bytes(code | 0x80 if 0x20 < code < 0x60 else code for code in range(256))  # noqa: PLR2004 (its row)


def codec_name(declared: str) -> str:
    """Return the name of Python's codec for a declared character set; empty where there is none.

    >>> codec_name("'windows-1250' (Central Europe)"), codec_name("GB2312"), codec_name("x-none")
    ('cp1250', 'gb18030', '')
    """
    if declared in _USUAL:
        return _USUAL[declared]
    name = _QUOTES_AND_REST.sub(r"\1", declared).lower()
    name = _WINDOWS.sub(r"cp\1", _ALIASES.get(name, name))
    try:
        name = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return _SUPERSETS.get(name, name)


def declared_text(data: bytes, declared: str) -> str:
    """Return text by its declared character set, unless the bytes show that they are in another one."""
    if b"\x1b$" in data:
        return from_iso_2022_jp(data) if b"\x1b$)" not in data else decode(data)[0]
    name = codec_name(declared)
    if not name or (data.isascii() and not _SEVERAL_BYTES.search(name)):
        return decode(data)[0]
    if name.startswith(("utf-16", "utf-32")):
        is_believed = data.count(0) >= len(data) // 8
    else:
        is_believed = name.startswith(("utf", "iso2022"))
    return data.decode() if not is_believed and _is_utf8(data) else decode_declared(data, name)


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def from_iso_2022_jp(data: bytes) -> str:
    """Return text in ISO-2022-JP with the further characters that Windows and old Macintosh write.

    Two bytes of JIS are those of Shift JIS after a shift, whose code page knows all of these characters.
    """
    pieces = _JIS_ESCAPE.split(data)
    out = [decode(pieces[0])[0]]
    for escape, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        if escape in _JIS_TWO_BYTES:
            out.append(_jis_rows(piece))
        elif escape == _JIS_KATAKANA:
            out.append(piece.translate(_KATAKANA).decode("cp932", "replace"))
        elif len(escape) == 4:  # noqa: PLR2004 (an additional set, known to the codec)
            out.append((escape + piece).decode("iso2022_jp_2", "replace"))
        else:
            out.append(piece.decode("cp1252", "replace"))
    return "".join(out)


def _jis_rows(piece: bytes) -> str:
    out = bytearray()
    at = 0
    while at < len(piece):
        first = piece[at]
        second = piece[at + 1] if at + 1 < len(piece) else 0
        if not (0x21 <= first <= 0x7E and 0x21 <= second <= 0x7E):  # noqa: PLR2004 (no character of two bytes)
            out.append(first)
            at += 1
            continue
        lead = (first - 0x21) // 2 + 0x81
        after_gap = 0x1F if second < 0x60 else 0x20  # noqa: PLR2004 (the gap of Shift JIS)
        trail = second + (after_gap if first % 2 else 0x7E)
        out += bytes([lead if lead < 0xA0 else lead + 0x40, trail])  # noqa: PLR2004 (katakana lies between)
        at += 2
    return out.decode("cp932", "replace")
