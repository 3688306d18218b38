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
from phiscan.extract.code_pages.scripts import has_run, other_script, wide_script

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
_SURROGATES = re.compile(rb"\xed[\xa0-\xaf][\x80-\xbf]\xed[\xb0-\xbf][\x80-\xbf]")
_ONE_BYTE = re.compile(r"iso8859|cp125|latin|cp437|cp85|ascii|mac")
_WESTERN = frozenset({"ascii", "cp1252", "iso8859-1", "iso8859-15", "latin-1"})  # declared by habit
_FEW_LOST = 50  # letters above ASCII for each that a declared encoding does not know, at least
_LEAST_LINE = 4  # bytes
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
    if data.isascii() and b"\0" not in data and b"\x04" not in data:  # Russian in UTF-16 has it
        is_plain = b"\x1b$" not in data and b"+A" not in data and b"~{" not in data
        return (data.decode("ascii"), "utf-8") if is_plain else _from_seven_bits(data)
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _wide_text(data, encoding), encoding
    wide = _wide_encoding(data[:_SAMPLE_BYTES])
    if wide:
        return _wide_text(data, wide), wide
    whole = _utf8_text(data)
    if whole is not None:
        return whole, "utf-8"
    mainframe = ebcdic_page(data[:_SAMPLE_BYTES])
    if mainframe:
        return data.decode(mainframe, "replace").replace("\x85", "\n"), mainframe
    if _is_damaged_utf8(data[:_SAMPLE_BYTES]):
        return data.decode("utf-8", "as-cp1252"), "utf-8"
    mixed = _mixed_lines(data)
    if mixed:
        return mixed, "utf-8"
    encoding = _single_byte_encoding(data[:_SAMPLE_BYTES])
    return data.decode(encoding, "replace"), encoding


def decode_declared(data: bytes, declared: str) -> str:
    """Return the text of ``data``, whose encoding is declared; what contradicts the bytes is not believed.

    >>> decode_declared("Montréal".encode(), "iso-8859-1")
    'Montréal'
    """
    try:
        codec = codecs.lookup(declared).name
        if _ONE_BYTE.match(codec) and not data.isascii():
            with suppress(UnicodeDecodeError):
                return data.decode()
        sample = data[:_SAMPLE_BYTES]
        is_doubtful = codec in _WESTERN and has_run(sample) and not is_latin(sample)
        if not is_doubtful and (b"\0" not in data or "16" in codec or "32" in codec):
            return data.decode(codec)
    except UnicodeDecodeError:
        if not codec.startswith("utf"):
            text = data.decode(codec, "replace")
            if text.count("\ufffd") * _FEW_LOST <= n_above_ascii(data):
                return text
    except (LookupError, ValueError):
        pass
    return decode(data)[0]


def _utf8_text(data: bytes) -> str | None:
    """Return the text of UTF-8, also as Java writes it or cut within a character; None where it is none."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(data) - 3 and _is_cut_utf8(data):
            return data.decode("utf-8", "replace")
    if b"\xc0\x80" in data or _SURROGATES.search(data):
        pairs = data.replace(b"\xc0\x80", b" ").decode("utf-8", "surrogatepass-or-none")
        text = pairs.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
        return None if "\ufffd" in text else text
    return None


def _wide_text(data: bytes, encoding: str) -> str:
    """Return text in UTF-16 or 32, before or after which a program has written lines in single bytes."""
    if encoding != "utf-16-le" and not (encoding == "utf-16" and data.startswith(codecs.BOM_UTF16_LE)):
        return data.decode(encoding, "replace")
    start, end = data.find(0) - 1, data.rfind(0) + 1
    before, after = data[: max(start, 0)], data[end:]
    if len(before) < _LEAST_LINE or not before.isascii() or not before.endswith(b"\n"):
        before = b""
    if len(after) < _LEAST_LINE or not data[:end].endswith(b"\n\0") or not _is_western(after):
        after = b""
    wide = data[len(before) : len(data) - len(after)].decode(encoding, "replace")
    return before.decode("ascii") + wide + (decode(after)[0] if after else "")


def _is_western(line: bytes) -> bool:
    return not _n_controls(line) and (line.isascii() or is_latin(line))


def _mixed_lines(data: bytes) -> str:
    """Return text of which some lines are in UTF-8 and others in a code page; empty for anything else."""
    lines = data.split(b"\n")
    texts = [_strict(line) for line in lines]
    others = b"\n".join(line for line, text in zip(lines, texts, strict=True) if text is None)
    if not others or not is_latin(others[:_SAMPLE_BYTES]):
        return ""
    if not any(text and not text.isascii() and text.isprintable() for text in texts):
        return ""
    page = _single_byte_encoding(others[:_SAMPLE_BYTES])
    return "\n".join(
        line.decode(page, "replace") if text is None else text
        for line, text in zip(lines, texts, strict=True)
    )


def _strict(line: bytes) -> str | None:
    try:
        return line.decode()
    except UnicodeDecodeError:
        return None


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


def _as_surrogate(error: UnicodeError) -> tuple[str, int]:
    """Decode one half of a surrogate pair that is written in three bytes; anything else is lost."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    raw = error.object[error.start : error.start + 3]
    try:
        return raw.decode("utf-8", "surrogatepass"), error.start + 3
    except UnicodeDecodeError:
        return "\ufffd", error.end


codecs.register_error("surrogatepass-or-none", _as_surrogate)


def _is_cut_utf8(data: bytes) -> bool:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=False)
    except UnicodeDecodeError:
        return False
    return True


def _wide_encoding(sample: bytes) -> str:
    """Tell UTF-16 and UTF-32 without mark from where the NUL bytes lie, or from letters of one script."""
    if len(sample) > 1 and _n_controls(sample) > len(sample) // _MOST_CONTROLS:
        return wide_script(sample) or (_by_nul_bytes(sample) if b"\0" in sample else "")
    return ""


def _by_nul_bytes(sample: bytes) -> str:
    n_units = len(sample) // 2
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
    if _n_controls(sample) > len(sample) // _MOST_CONTROLS:
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


def _n_controls(sample: bytes) -> int:
    return len(sample) - len(sample.translate(None, _CONTROLS))


def _codec(name: str | None) -> str:
    """Return the codec of an encoding by its name, or the empty string."""
    try:
        return codecs.lookup(name).name if name else ""
    except LookupError:
        return ""
