"""Bytes to text: byte-order mark, NUL pattern, strict UTF-8, then cp1252 with chardet as tie-break."""

from __future__ import annotations

import codecs
import re
from contextlib import suppress

from phiscan.extract.code_pages.ebcdic import ebcdic_page
from phiscan.extract.code_pages.letters import (
    READABLE,
    code_page,
    is_latin,
    n_above_ascii,
    scored_code_page,
)
from phiscan.extract.code_pages.scripts import has_run, other_script

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16: its mark begins with the same two bytes
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SEVEN_BITS = ((b"\x1b$B", "iso2022_jp_2"), (b"\x1b$@", "iso2022_jp_2"), (b"\x1b$)C", "iso2022_kr"))
_HZ = re.compile(rb"~\{(?:[!-w][!-~]){2,}~\}")  # Chinese between marks
_UTF7 = re.compile(rb"[A-Za-z]\+A[M-P][A-Za-z0-9]-[a-z]")  # an accented letter within a word
_SEVERAL_BYTES = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_FEW_BAD = 3  # whole characters for each bad byte, at least
_SAMPLE_BYTES = 64 * 1024
_CONTROLS = bytes({*range(0x20)} - {*b"\t\n\v\f\r\x1b"})
_MOST_CONTROLS = 50  # bytes of a text for each control character, at least
_NUL_SHARE = 0.2  # of the even or the odd bytes, above which the text is UTF-16
# Where cp1252 and its neighbours differ most: text with many letters here is looked at by chardet.
_HIGH_SHARE = 0.08
_CHARDET_SURE = 0.3  # clear Cyrillic gets 0.44, clear Western text below 0.1


def decode(data: bytes) -> tuple[str, str]:  # noqa: PLR0911 (one return per kind of evidence)
    """Return the text of ``data`` and the name of its encoding; every byte sequence gives some text.

    >>> decode("Montr\u00e9al".encode("cp1252"))
    ('Montréal', 'cp1252')
    >>> decode("Smith".encode("utf-16-le"))
    ('Smith', 'utf-16-le')
    """
    if data.isascii() and b"\0" not in data:
        is_plain = b"\x1b$" not in data and b"+A" not in data and b"~{" not in data
        return (data.decode("ascii"), "utf-8") if is_plain else _from_seven_bits(data)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace"), encoding
    wide = _wide_encoding(data[:_SAMPLE_BYTES])
    if wide:
        return data.decode(wide, "replace"), wide
    try:
        return data.decode("utf-8"), "utf-8"
    except UnicodeDecodeError as error:
        # A file cut in the middle of a character is still UTF-8.
        if error.start >= len(data) - 3 and _is_cut_utf8(data):
            return data.decode("utf-8", "replace"), "utf-8"
    mainframe = ebcdic_page(data[:_SAMPLE_BYTES])
    if mainframe:
        return data.decode(mainframe, "replace").replace("\x85", "\n"), mainframe
    if _is_damaged_utf8(data[:_SAMPLE_BYTES]):
        return data.decode("utf-8", "as-cp1252"), "utf-8"
    encoding = _single_byte_encoding(data[:_SAMPLE_BYTES])
    return data.decode(encoding, "replace"), encoding


def _from_seven_bits(data: bytes) -> tuple[str, str]:
    """Return the text of ASCII bytes, which may be those of a code that needs no more than seven bits."""
    codes = [code for mark, code in _SEVEN_BITS if mark in data]
    if b"+A" in data and len(_UTF7.findall(data[:_SAMPLE_BYTES])) > 1:
        codes.append("utf-7")
    if b"~{" in data and _HZ.search(data):
        codes.append("hz")
    for code in codes:
        with suppress(UnicodeDecodeError):
            return data.decode(code), code
    return data.decode("ascii"), "utf-8"


def _is_damaged_utf8(sample: bytes) -> bool:
    """Tell UTF-8 with a few bad bytes: its characters of several bytes are no accident."""
    whole = _SEVERAL_BYTES.findall(sample)
    n_high = n_above_ascii(sample)
    n_bad = n_high - sum(map(len, whole))
    return len(whole) > _FEW_BAD * n_bad


def _as_cp1252(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    return error.object[error.start : error.end].decode("cp1252", "replace"), error.end


codecs.register_error("as-cp1252", _as_cp1252)


def _is_cut_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=False)
    except UnicodeDecodeError:
        return False
    return True


def _wide_encoding(sample: bytes) -> str:
    """Tell UTF-16 and UTF-32 without mark from where the NUL bytes lie."""
    n_units = len(sample) // 2
    if n_units == 0 or b"\0" not in sample:
        return ""
    even = sample[0 : 2 * n_units : 2].count(0) / n_units
    odd = sample[1 : 2 * n_units : 2].count(0) / n_units
    if even > _NUL_SHARE and odd > _NUL_SHARE:
        quarter = max(len(sample) // 4, 1)
        lanes = [sample[lane::4].count(0) / quarter for lane in range(4)]
        if lanes[0] < _NUL_SHARE and min(lanes[2:]) > 1 - _NUL_SHARE:
            return "utf-32-le"
        if lanes[3] < _NUL_SHARE and min(lanes[:2]) > 1 - _NUL_SHARE:
            return "utf-32-be"
        return ""
    if odd > _NUL_SHARE:
        return "utf-16-le"
    return "utf-16-be" if even > _NUL_SHARE else ""


def _single_byte_encoding(sample: bytes) -> str:
    """Choose by what the letters spell; chardet is asked where the bytes above 127 are many."""
    if len(sample) - len(sample.translate(None, _CONTROLS)) > len(sample) // _MOST_CONTROLS:
        return "cp1252"  # no text
    n_high = n_above_ascii(sample[:4096])
    is_dense = n_high / max(len(sample[:4096]), 1) >= _HIGH_SHARE
    if not (is_dense or has_run(sample)) or is_latin(sample):
        return code_page(sample)
    import chardet  # noqa: PLC0415 (slow to import, rarely needed)

    guess = chardet.detect(sample)
    name = _codec(guess["encoding"])
    if is_dense and name and (guess["confidence"] or 0.0) >= _CHARDET_SURE:
        return name
    own, score = scored_code_page(sample)
    return own if score >= READABLE else other_script(sample, name) or own


def _codec(name: str | None) -> str:
    """Return the codec of an encoding by its name, or the empty string."""
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""
