"""Header fields of mail decoded: encoded words however they were broken, raw bytes, names of files.

Source: RFC 2047 (encoded words), RFC 2231 (parameters).
"""

from __future__ import annotations

import codecs
import email.message
import email.policy
import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_to_bytes

from phiscan.extract.core.charset import decode, decode_declared, utf8_or_none
from phiscan.extract.transport.decoding import from_base64

# Text of mail in the character set that its header declares, or in the one that its bytes show.
#
# Source: RFC 2045 (charset), RFC 1468 (ISO-2022-JP), the labels of the WHATWG Encoding Standard.

# What programs write under a label, where it is more than the label says, or has another name here.
_SUPERSETS = {
    "ascii": "cp1252", "iso8859-1": "cp1252", "iso8859-9": "cp1254", "gb2312": "gb18030", "gbk": "gb18030",
    "euc_kr": "cp949", "shift_jis": "cp932", "big5": "big5hkscs", "tis-620": "cp874",
}  # fmt: skip
_ALIASES = {
    "unicode": "utf-16", "ms-cp932": "cp932", "windows-31j": "cp932", "euc-cn": "gb18030",
    "iso-8859-8-i": "iso8859-8", "iso-8859-8-e": "iso8859-8", "iso-8859-6-i": "iso8859-6",
    "mac-ce": "mac-latin2", "x-big5": "big5hkscs", "ansi": "cp1252", "cp50220": "iso2022_jp_ext",
    "cp50221": "iso2022_jp_ext",
}  # fmt: skip
_SEVERAL_BYTES = re.compile(r"utf|ucs|unicode|iso2022|^hz$")
_WINDOWS = re.compile(r"(?:windows|win|cp|ansi|x-cp|x-ansi)[-_ ]?(\d{3,5})")
_QUOTES_AND_REST = re.compile(r"^[\"'\s]*(?:charset\s*=\s*)?[\"'\s]*([^\"'\s;()]+).*$", re.DOTALL)


@lru_cache(maxsize=256)
def codec_name(declared: str) -> str:
    """Return the name of Python's codec for a declared character set; empty where there is none.

    >>> codec_name("'windows-1250' (Central Europe)"), codec_name("GB2312"), codec_name("x-none")
    ('cp1250', 'gb18030', '')
    """
    name = _QUOTES_AND_REST.sub(r"\1", declared).lower().removeprefix("x-")
    name = _WINDOWS.sub(r"cp\1", _ALIASES.get(name, name))
    try:
        name = codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
    return _SUPERSETS.get(name, name)


def declared_text(data: bytes, declared: str) -> str:
    """Return text by its declared character set, unless the bytes show that they are in another one."""
    if b"\x1b$" in data:
        return decode(data)[0] if b"\x1b$)" in data else data.decode("iso2022_jp_ext", "replace")
    name = codec_name(declared)
    if not name or (data.isascii() and not _SEVERAL_BYTES.search(name)):
        return decode(data)[0]
    if name.startswith(("utf-16", "utf-32")):
        is_believed = data.count(0) >= len(data) // 8
    else:
        is_believed = name.startswith(("utf", "iso2022"))
    text = None if is_believed else utf8_or_none(data)
    return decode_declared(data, name) if text is None else text


_LONGEST = 4000  # characters of one encoded word
_WORD = re.compile(
    rf"=\?([^?\s*]{{1,60}})(?:\*[^?\s]{{0,20}})?\?([bBqQ])\?((?:(?!\?=|=\?[^=])[^\n]){{0,{_LONGEST}}})(\?=|\??\s*$)"
)
_CHARSET_PARAMETER = re.compile(r"charset[^;]*", re.IGNORECASE)  # by which the parser decodes
_ESCAPED = re.compile(rb"=([0-9A-Fa-f]{2})")
_SOFT_BREAK = re.compile(rb"=[ \t]+(?=[0-9A-Fa-f]{2})")
_MOST_PARTS = 50
_ROUNDS = 2  # words within words


class _AsItIsPolicy(email.policy.Compat32):
    """A policy that gives header fields as they are in the file, raw bytes as surrogates."""

    def header_fetch_parse(self, name: str, value: str) -> str:
        """Return the value without a replacement of its raw bytes, but for those in a character set."""
        if name.lower() == "content-type" and not value.isascii():
            return _CHARSET_PARAMETER.sub(lambda found: found[0].encode("ascii", "replace").decode(), value)
        return value


RAW_FIELDS = _AsItIsPolicy()


def decode_words(value: str, charset: str = "") -> str:
    """Return a field with its encoded words decoded; bytes of adjacent words are joined first.

    >>> decode_words("Re: =?utf-8?B?TMOp?= =?utf-8?Q?na_R?= (=?utf-8?Q?x)")
    'Re: Léna R (x)'
    """
    value = " ".join(value.split())
    for _ in range(_ROUNDS):
        if "=?" not in value:
            break
        value = _decode_once(value, charset)
    return raw_text(value, charset)


def raw_text(value: str, charset: str = "") -> str:
    """Return a text whose raw bytes, held as surrogates, are decoded: by the character set of the body."""
    if value.isascii():
        return value
    data = value.encode("utf-8", "surrogateescape")
    return declared_text(data, charset) if charset else decode(data)[0]


def body_charset(message: email.message.Message) -> str:
    """Return the first character set of several bytes, or of no Latin script, that a part declares."""
    for number, part in enumerate(message.walk()):
        declared = codec_name(parameter_text(part.get_param("charset", "")))
        if declared and declared not in ("utf-8", "cp1252"):
            return declared
        if number > _MOST_PARTS:
            break
    return ""


def _decode_once(value: str, charset_of_body: str) -> str:
    pieces: list[str] = []
    at = 0
    charset, pending = "", b""
    for match in _WORD.finditer(value):
        between = value[at : match.start()]
        data = _word_bytes(match[2], match[3])
        if between.strip() or match[1].lower() != charset:
            pieces.append(declared_text(pending, charset) if pending else "")
            is_glue = at and not between.strip()
            pieces.append("" if is_glue else raw_text(between, charset_of_body))
            charset, pending = match[1].lower(), b""
        pending += data
        at = match.end()
    pieces.append(declared_text(pending, charset) if pending else "")
    pieces.append(raw_text(value[at:], charset_of_body))
    return "".join(pieces)


def _word_bytes(encoding: str, text: str) -> bytes:
    raw = text.encode("utf-8", "surrogateescape")
    if encoding in "bB":
        found = from_base64(raw)
        return raw if found is None else found
    plain = _SOFT_BREAK.sub(b"=", raw.replace(b"_", b" "))
    return _ESCAPED.sub(lambda match: bytes([int(match[1], 16)]), plain)


def parameter_text(value: Any, charset_of_body: str = "") -> str:
    """Return the value of a parameter: plain, or after its character set (RFC 2231)."""
    if not isinstance(value, tuple):
        return decode_words(str(value or ""), charset_of_body)
    charset, _, text = value
    data = str(text).encode("latin-1", "surrogateescape" if text.isascii() else "replace")
    return declared_text(data, str(charset or "")) if codec_name(str(charset or "")) else decode(data)[0]


def file_names(part: email.message.Message, charset_of_body: str = "") -> list[str]:
    """Return the names of a part's file, from its disposition and its type, each once."""
    found = []
    for field, key in (("content-disposition", "filename"), ("content-type", "name")):
        try:
            value = parameter_text(part.get_param(key, "", field), charset_of_body).replace("\0", "").strip()
        except (ValueError, LookupError, TypeError):
            continue
        if value.count("%") > 1 and " " not in value:
            value = decode(unquote_to_bytes(value))[0]
        if value and value not in found:
            found.append(value)
    return found


def wordy_parameters(part: email.message.Message) -> list[str]:
    """Return the parameters of a part's type that hold several words, but for names and boundaries."""
    try:
        found = part.get_params(failobj=[], unquote=True)[1:]
    except (ValueError, LookupError, TypeError):
        return []
    texts = [(key, parameter_text(value)) for key, value in found if key.lower() not in ("boundary", "name")]
    return [f"{key}: {text}" for key, text in texts if text.count(" ") > 1]
