"""Texts that carry files: each undecoded run is read as a member, and its digits are no text any more."""

from __future__ import annotations

import base64
import re

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.text_codes.coded_run import readable
from phiscan.extract.transport.decoding import from_quoted_printable
from phiscan.extract.transport.runs import (
    HEXADECIMAL,
    EncodedRun,
    encoded_runs,
    has_encoding,
    is_quoted_printable,
)
from phiscan.model import FailReason

_BASE32 = re.compile(rb"[A-Z2-7]+")
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
    if not has_encoding(data):
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
            pieces += [data[at : run.start], f"[{run.kind}: {run.name or member.name}]".encode()]
            members.append(member)
            at = run.end
        else:
            list_undecoded(run, locator, sink)
    if not members:
        return data, ()
    return b"".join([*pieces, data[at:]]), tuple(members)


def list_undecoded(run: EncodedRun, locator: str, sink: Sink) -> None:
    """List a run that stays in a text as unread, unless it is short, a key or a signature."""
    is_payload = run.is_document and run.kind != HEXADECIMAL and run.end - run.start >= _MIN_LISTED
    if is_payload and not _is_base32_text(run.data):
        said = f"{run.end - run.start} characters of {run.kind} are not decoded"
        sink.fail(locator, FailReason.UNSUPPORTED, said)


def _is_base32_text(data: bytes) -> bool:
    """Tell a run that is base32 of a text, which is read as such; ``data`` is what base64 made of it."""
    digits = base64.b64encode(data).rstrip(b"=")
    if not _BASE32.fullmatch(digits):
        return False
    try:
        return bool(readable(base64.b32decode(digits[: len(digits) // 8 * 8])))
    except ValueError:
        return False


def read_lifted(members: tuple[Content, ...], sink: Sink) -> None:
    """Read the files that were found in a text."""
    for member in members:
        sink.read_member(member)


def _member(run: EncodedRun, number: int, content: Content, sink: Sink) -> Content | None:
    """Return the file after a run; None when its bytes are no known kind of file and no text."""
    if not run.data or not (run.kind in _NAMED or is_document(run.data)):
        return None
    name = run.name or (f"message{number}.pgp" if "PGP" in run.kind else f"encoded{number}")
    member = content.member(name, run.data)
    try:
        sink.take_member()
        sink.spend(len(run.data))
    except ExtractError as error:
        sink.fail(member.locator, FailReason(error.reason), error.detail)
        return None
    return member
