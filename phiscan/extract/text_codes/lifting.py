"""Runs of encoded data in a text: uuencode, yEnc, base64, quoted-printable and ASCII armour, by position.

Each run is found by its alphabet and its lines, whatever the text around it says, in time linear in the text.
One that stands for a file is read as a member, and its digits are no text any more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.text_codes.digits import from_hex
from phiscan.extract.text_codes.escapes import CodedRun
from phiscan.extract.transport.decoding import (
    UU_BEGIN,
    from_base64,
    from_binhex,
    from_quoted_printable,
    from_uuencode,
    from_yenc,
)
from phiscan.model import FailReason

MIN_RUN = 100  # characters; shorter ones are keys, hashes and words
_MIN_LINE = 56
# Lines of base64 digits, quoted or not, and soft line breaks, by a linear engine: most texts have none.
_DIGITS = re2.compile(rb"[A-Za-z0-9+/]{%d,}" % _MIN_LINE)
_SOFT_BREAK = re.compile(rb"=[ \t]*\r?\n")
_BEGIN_UU = rb"(?m:^)[> \t]{0,12}begin(?:-base64)? [0-7]{3,6} "
_HAS_UU_BEGIN = re2.compile(_BEGIN_UU)
# What every run has in it, for one look at a text: most texts have none.
HINT = rb"[A-Za-z0-9+/]{%d}|-----BEGIN |=ybegin |BinHex 4\.0\)|%b" % (_MIN_LINE, _BEGIN_UU)
_HAS_RUN = re2.compile(HINT)
_HAS_ANY = re2.compile(HINT + b"|" + _SOFT_BREAK.pattern)
_HAS_SOFT_BREAK = re2.compile(_SOFT_BREAK.pattern)
_HEX_RUN = re.compile(rb"[0-9a-f>\s]+|[0-9A-F>\s]+")
HEXADECIMAL = "hexadecimal digits"  # a file in some texts, keys and hashes in most
_FIGURES = b"0123456789"
_BETWEEN = re.compile(rb"={0,2}[ \t]*\r?\n[> \t]{0,8}|={0,2}")
_LAST_LINE = re.compile(rb"={0,2}[ \t]*\r?\n[> \t]{0,8}([A-Za-z0-9+/]{2,}={0,2})(?=[ \t]*(?:\r?\n|\Z))")
_ARMOUR = re.compile(
    rb"^-----BEGIN ([A-Z0-9 ]{3,40})-----[ \t]*\r?\n(.*?)^-----END \1-----", re.MULTILINE | re.DOTALL
)
_ARMOUR_HEADERS = re.compile(rb"\A(?:[A-Za-z-]{2,20}:[^\r\n]*\r?\n)*(?:[ \t]*\r?\n)?")
_ARMOUR_CHECK = re.compile(rb"^=[A-Za-z0-9+/]{4}[ \t]*\r?\n?", re.MULTILINE)
_YENC = re.compile(rb"^=ybegin ([^\r\n]{3,400})\r?\n(.*?)(?:^=yend[^\r\n]*|\Z)", re.MULTILINE | re.DOTALL)
_BINHEX = re.compile(rb"BinHex 4\.0\)\s{1,8}:([^:]{40,}):?")
_NO_UU_LINE = re.compile(rb"(?!end)[^\x20-\x60\r\n]|\Z")
_MOST_BASE64 = 32 * 1024**2
_YENC_NAME = re.compile(rb"\bname=([^\r\n]+)")
_SHORTEST_LINE = 20  # before a soft line break
_ESCAPED = re.compile(rb"=(?:[0-9A-F]{2}|[0-9a-f]{2})")
_PADDING = re.compile(rb"={0,2}")
_MIN_SOFT_BREAKS, _MIN_ESCAPES = 2, 6
_MIN_USED = 0.9  # of all equals signs: every one of the text itself is written as an escape
# Keys, certificates and detached signatures say nothing of a patient.
_NO_DOCUMENT = re.compile(rb"KEY|CERTIFICATE|SIGNATURE|PARAMETERS|REQUEST|CRL")
_SIGNED_TEXT = b"PGP SIGNED MESSAGE"  # the text is there, readable


def encoded_runs(text: bytes) -> list[CodedRun]:
    """Return the runs of encoded data in a text, in text order, none within another."""
    if not _HAS_RUN.search(text):
        return []
    found: list[CodedRun] = []
    if b"-----BEGIN " in text:
        found += _armoured(text)
    if _HAS_UU_BEGIN.search(text):
        found += _uuencoded(text)
    if b"BinHex 4.0)" in text:
        found += _binhex(text)
    if b"=ybegin " in text:
        found += _yenc(text)
    found += _base64(text)
    kept: list[CodedRun] = []
    for run in sorted(found, key=lambda run: (run.start, -run.end)):
        if not kept or run.start >= kept[-1].end:
            kept.append(run)
    return kept


def is_quoted_printable(text: bytes) -> bool:
    """Tell a text that is quoted-printable throughout: soft line breaks and escapes, with a sound result."""
    if not _HAS_SOFT_BREAK.search(text):
        return False
    n_soft = sum(
        b"\n" not in text[max(match.start() - _SHORTEST_LINE, 0) : match.start()]
        for match in _SOFT_BREAK.finditer(text, _SHORTEST_LINE)
    )
    if n_soft < _MIN_SOFT_BREAKS:
        return False
    n_used = sum(1 for _ in _SOFT_BREAK.finditer(text)) + sum(1 for _ in _ESCAPED.finditer(text))
    return n_used >= _MIN_ESCAPES and n_used >= text.count(b"=") * _MIN_USED


def _armoured(text: bytes) -> Iterator[CodedRun]:
    for match in _ARMOUR.finditer(text):
        kind = match[1]
        if kind == _SIGNED_TEXT:
            continue
        digits = _ARMOUR_CHECK.sub(b"", _ARMOUR_HEADERS.sub(b"", match[2]))
        data = from_base64(digits) or b""
        is_document = not _NO_DOCUMENT.search(kind)
        yield CodedRun(*match.span(), kind.decode("ascii"), data, is_document=is_document)


def _uuencoded(text: bytes) -> Iterator[CodedRun]:
    at = 0
    while match := UU_BEGIN.search(text, at):
        at = match.end()
        start = match.end() + 1
        name = match[3].decode("utf-8", "replace").strip()
        if match[2]:
            end = text.find(b"====", start)
            end = min(len(text) if end < 0 else end, start + _MOST_BASE64)
            data = from_base64(text[start:end]) or b""
        elif match["prefix"]:
            body = _unprefixed(text, start, match["prefix"])
            data, n_read = from_uuencode(body)
            end = start + n_read + len(match["prefix"]) * body.count(b"\n", 0, n_read)
        else:
            data, end = from_uuencode(text, start)
        if data:
            at = end
            yield CodedRun(match.start(), at, "uuencode", data, name)


def _unprefixed(text: bytes, start: int, prefix: bytes) -> bytes:
    """Return the encoded lines after ``start`` without the mark of a quotation or the indent before each."""
    lines = []
    while text.startswith(prefix, start) and not _NO_UU_LINE.match(text, start + len(prefix)):
        stop = text.find(b"\n", start)
        stop = len(text) if stop < 0 else stop + 1
        lines.append(text[start + len(prefix) : stop])
        start = stop
    return b"".join(lines)


def _yenc(text: bytes) -> Iterator[CodedRun]:
    for match in _YENC.finditer(text):
        name = _YENC_NAME.search(match[1])
        shown = name[1].decode("utf-8", "replace").strip() if name else ""
        yield CodedRun(*match.span(), "yEnc", from_yenc(match[2]), shown)


def _binhex(text: bytes) -> Iterator[CodedRun]:
    for match in _BINHEX.finditer(text):
        name, data = from_binhex(match[1])
        yield CodedRun(*match.span(), "BinHex", data, name)


def _base64(text: bytes) -> Iterator[CodedRun]:
    """Yield runs of lines of base64 digits with the short line at their end."""
    start = end = -1
    for match in _DIGITS.finditer(text):
        if end >= 0 and _BETWEEN.fullmatch(text, end, match.start()):
            end = match.end()
            continue
        if end >= 0:
            yield from _run(text, start, end)
        start, end = match.span()
    if end >= 0:
        yield from _run(text, start, end)


def _run(text: bytes, start: int, end: int) -> Iterator[CodedRun]:
    last = _LAST_LINE.match(text, end)
    end = last.end() if last else end + len(_PADDING.match(text, end)[0])  # type: ignore[index]
    if end - start < MIN_RUN:
        return
    digits = text[start:end]
    if _HEX_RUN.fullmatch(digits):
        yield CodedRun(start, end, HEXADECIMAL, from_hex(digits.replace(b">", b"")))
        return
    is_mixed = len(digits.translate(None, _FIGURES)) < len(digits) and not (
        digits.islower() or digits.isupper()
    )
    if is_mixed and (data := from_base64(digits.replace(b">", b""))):
        yield CodedRun(start, end, "base64", data)


_MIN_BYTES = 40  # shorter than the shortest line of any encoding
_MIN_LISTED = 160  # characters of a run that no decoder takes
_NAMED = ("uuencode", "yEnc", "BinHex", "PKCS7", "CMS", "PGP MESSAGE")  # a run of these says what it is


def lift_encoded(
    data: bytes, content: Content, sink: Sink, place: str = ""
) -> tuple[bytes, tuple[Content, ...]]:
    """Return a text without its encoded runs, and the files that they stand for, as members of ``content``.

    A run that no decoder takes stays in the text and is listed as unread, so that this ``place`` of the
    content is accounted for.
    """
    locator = content.place(place) if place else content.locator
    if len(data) < _MIN_BYTES or b"\0" in data[:_MIN_BYTES]:
        return data, ()
    if not _HAS_ANY.search(data):
        sink.mark_accounted(locator)
        return data, ()
    if is_quoted_printable(data):
        decoded = from_quoted_printable(data)
        if is_document(decoded):
            data = decoded
        else:
            sink.fail(locator, FailReason.UNSUPPORTED, "quoted-printable text is not decoded")
    sink.mark_accounted(locator)
    pieces: list[bytes] = []
    members: list[Content] = []
    at = 0
    for run in encoded_runs(data):
        member = _member(run, len(members) + 1, content, sink) if run.is_document else None
        if member is not None:
            pieces += [data[at : run.start], f"[{run.code}: {run.name or member.name}]".encode()]
            members.append(member)
            at = run.end
        else:
            list_undecoded(run, locator, sink)
    if not members:
        return data, ()
    return b"".join([*pieces, data[at:]]), tuple(members)


def list_undecoded(run: CodedRun, locator: str, sink: Sink) -> None:
    """List a run that stays in a text as unread, unless it is short, a key or a signature."""
    is_payload = run.is_document and run.code != HEXADECIMAL and run.end - run.start >= _MIN_LISTED
    if is_payload:
        said = f"{run.end - run.start} characters of {run.code} are not decoded"
        sink.fail(locator, FailReason.UNSUPPORTED, said)


def read_lifted(members: tuple[Content, ...], sink: Sink) -> None:
    """Read the files that were found in a text."""
    for member in members:
        sink.read_member(member)


def _member(run: CodedRun, number: int, content: Content, sink: Sink) -> Content | None:
    """Return the file after a run; None when its bytes are no known kind of file and no text."""
    if not run.data or not (run.code in _NAMED or is_document(run.data)):
        return None
    name = run.name or (f"message{number}.pgp" if "PGP" in run.code else f"encoded{number}")
    member = content.member(name, run.data)
    try:
        sink.take_member()
        sink.spend(len(run.data))
    except ExtractError as error:
        sink.fail(member.locator, FailReason(error.reason), error.detail)
        return None
    return member
