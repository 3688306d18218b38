"""Bytes after a transport encoding of mail, however sloppily it is declared or written.

Source: RFC 2045 (base64, quoted-printable), POSIX uuencode, the yEnc draft 1.3.
"""

from __future__ import annotations

import base64
import binascii
import quopri
import re

from phiscan.extract.core.charset import utf8_or_none

_ALIASES = {
    "base64": "base64", "base 64": "base64", "quoted printable": "quoted-printable",
    "quotedprintable": "quoted-printable", "qp": "quoted-printable", "x uuencode": "uuencode",
    "uuencode": "uuencode", "uue": "uuencode", "x uue": "uuencode", "x yenc": "yenc", "yenc": "yenc",
}  # fmt: skip
_USUAL = frozenset(["", "7bit", "8bit", "binary", "base64", "quoted-printable"])
_COMMENT = re.compile(r"\([^)]*\)")
_NOT_A_DIGIT = re.compile(rb"[^A-Za-z0-9+/=]+")
_URL_ALPHABET = re.compile(rb"[A-Za-z0-9_=-]+")
_TEXT_LINE = re.compile(rb"[^\r\n]*[A-Za-z]{2,} [A-Za-z]{2,}[^\r\n]*|-- ?|_{10,}|\s*")
_PADDING = re.compile(rb"=+")
_SOFT_BREAK = re.compile(rb"=[ \t]+(?=\r?\n)")
_LONE_RETURN = re.compile(rb"\r+(?!\r*\n)")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f]")
_BLANK = re.compile(rb"\s+")
_FEW_BYTES = 60
_MOST_FOREIGN = 0.05  # of the characters of a base64 body that are none of its digits
UU_BEGIN = re.compile(
    rb"^(?P<prefix>[> \t]{0,12})begin(-base64)? [0-7]{3,6} ([^\r\n]{1,255})\r?$", re.MULTILINE
)
_YENC_ESCAPE = re.compile(rb"=(.)", re.DOTALL)
_BINHEX_DIGITS = b"!\"#$%&'()*+,-012345689@ABCDEFGHIJKLMNPQRSTUVXYZ[`abcdefhijklmpqr"
_BINHEX_TABLE = bytes(max(_BINHEX_DIGITS.find(bytes([code])), 0) for code in range(256))
_BINHEX_REPEAT = re.compile(rb"\x90\0|([^\x90])\x90(.)", re.DOTALL)
_YENC_TABLE = bytes((code - 42) % 256 for code in range(256))


def encoding_name(declared: str) -> str:
    """Return the name of a declared transfer encoding without blanks, quotes, comments and capitals.

    >>> encoding_name(' "BASE-64"; '), encoding_name("Quoted_Printable (wrong)"), encoding_name("7bit")
    ('base64', 'quoted-printable', '7bit')
    """
    if declared in _USUAL:
        return declared
    name = _COMMENT.sub("", declared).partition(";")[0].strip().strip("\"'<>").strip().lower()
    return _ALIASES.get(" ".join(re.split(r"[\s_-]+", name)), name)


def from_base64(data: bytes) -> bytes | None:
    """Return the bytes after base64 digits; None when too much of the data is no digit.

    Each padding ends a chunk, after which the next one begins, as where encoders were run one after another.

    >>> from_base64(b"QW4=biBS b3k="), from_base64(b"Dear Ann, see below.")
    (b'Ann Roy', None)
    """
    solid = _BLANK.sub(b"", data)
    if _URL_ALPHABET.fullmatch(solid):
        solid = solid.replace(b"-", b"+").replace(b"_", b"/")
    digits = _NOT_A_DIGIT.sub(b"", solid)
    if len(solid) - len(digits) > _MOST_FOREIGN * len(solid):
        return None
    return b"".join(_chunk(chunk) for chunk in _PADDING.split(digits))


def _chunk(digits: bytes) -> bytes:
    if len(digits) % 4 == 1:  # one digit holds no whole byte
        digits = digits[:-1]
    return base64.b64decode(digits + b"=" * (-len(digits) % 4))


def from_quoted_printable(data: bytes) -> bytes:
    """Return the bytes after quoted-printable; blanks after a soft line break are dropped."""
    if b"\r" in data:
        data = _LONE_RETURN.sub(b"\n", data)
    return quopri.decodestring(_SOFT_BREAK.sub(b"=", data))


def from_uuencode(lines: bytes, at: int = 0) -> tuple[bytes, int]:
    """Return the bytes after the lines from ``at`` on, after ``begin``, and where the encoded lines end.

    A line that says another length than it has is decoded as far as it goes.
    """
    out: list[bytes] = []
    while at < len(lines):
        stop = lines.find(b"\n", at)
        stop = len(lines) if stop < 0 else stop + 1
        line = lines[at:stop].strip(b"\r\n")
        if line.rstrip().lower() == b"end":
            return b"".join(out), stop
        if line.strip() in (b"", b"`"):
            at = stop
            continue
        if not 32 <= line[0] <= 96:  # noqa: PLR2004 (the alphabet of uuencode)
            break
        n_digits = (((line[0] - 32) & 63) * 4 + 2) // 3
        try:
            out.append(binascii.a2b_uu(line[: 1 + (n_digits + 3) // 4 * 4]))
        except binascii.Error:
            break
        at = stop
    return b"".join(out), at


def from_yenc(lines: bytes) -> bytes:
    """Return the bytes after the lines between ``=ybegin`` and ``=yend``; keyword lines are left out."""
    body = b"".join(line for line in lines.replace(b"\r", b"").split(b"\n") if not line.startswith(b"=y"))
    plain = _YENC_ESCAPE.sub(lambda found: bytes([(found[1][0] - 64) % 256]), body)
    return plain.translate(_YENC_TABLE)


def from_binhex(digits: bytes) -> tuple[str, bytes]:
    """Return the name and the data fork of a file in BinHex 4.0, between its colons.

    Source: RFC 1741, appendix A.
    """
    solid = b"".join(digits.split()).translate(_BINHEX_TABLE)
    value = "".join(format(code & 63, "06b") for code in solid)
    packed = bytes(int(value[at : at + 8], 2) for at in range(0, len(value) - 7, 8))
    plain = _BINHEX_REPEAT.sub(_repeated, packed)
    if not plain or len(plain) < plain[0] + 20:
        return "", b""
    at = plain[0] + 2  # after the name and a version: type, creator, flags, then two lengths
    n_bytes = int.from_bytes(plain[at + 10 : at + 14], "big")
    return plain[1 : at - 1].decode("mac_roman"), plain[at + 20 : at + 20 + n_bytes]


def _repeated(found: re.Match[bytes]) -> bytes:
    if found[0] == b"\x90\0":
        return b"\x90"
    return found[1] + found[1] * (found[2][0] - 1) if found[2][0] else found[1] + b"\x90"


def decode_body(raw: bytes, declared: str) -> bytes | None:
    """Return the bytes of a body in a declared transfer encoding; None when it is none of the known ones.

    A body that is not what its header says is returned as it is.
    """
    name = encoding_name(declared)
    if name == "base64":
        return _from_mixed(raw)
    if name == "quoted-printable":
        return from_quoted_printable(raw)
    if name == "uuencode":
        begin = UU_BEGIN.search(raw)
        return from_uuencode(raw[begin.end() + 1 :])[0] if begin else raw
    if name == "yenc" and raw.lstrip().startswith(b"=ybegin"):
        return from_yenc(raw.partition(b"=yend")[0])
    return None


def _from_mixed(raw: bytes) -> bytes:
    """Return the bytes of a base64 body, and the lines of text that somebody put after or before it."""
    found = from_base64(raw)
    lines = raw.splitlines()
    digits = [line for line in lines if not _TEXT_LINE.fullmatch(line)]
    if (
        found is not None
        and not digits
        and b" " in raw.strip()
        and _CONTROL.search(utf8_or_none(found) or "\0")
    ):
        return raw  # a text that is not encoded, without any other sign than blanks
    if not digits or len(digits) == len(lines) or b" " not in raw:
        return raw if found is None else found
    texts = [line for line in lines if _TEXT_LINE.fullmatch(line) and line.strip()]
    if not texts:
        return raw if found is None else found
    decoded = from_base64(b"\n".join(digits))
    return raw if decoded is None else b"\n".join([decoded, *texts])


def undecoded(raw: object, declared: str, data: bytes) -> int:
    """Return how many bytes of a base64 body are missing from what was decoded of it, when they are many.

    >>> undecoded("QW5uIFJveQ==", "base64", b"Ann Roy"), undecoded("QW5u" * 90, "base64", b"Ann")
    (0, 267)
    """
    if not isinstance(raw, str) or encoding_name(declared) != "base64":
        return 0
    n_digits = len(raw) - sum(map(raw.count, "\r\n\t ="))
    n_missing = n_digits * 3 // 4 - len(data)
    return n_missing if n_missing > max(_FEW_BYTES, len(data) // 50) else 0
