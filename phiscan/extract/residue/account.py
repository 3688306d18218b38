"""The account of one content after its reader: stretches that look like text and were not given are listed.

It needs no list of what readers leave out. It looks at the bytes in its own way (values between quotes and
tags, lines of texts, strings of streams, runs of printable characters and of encoded digits) and compares
words with the text.
"""

from __future__ import annotations

from collections.abc import Iterable

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.package_parts import PackageParts
from phiscan.extract.residue.binary_values import SIGNED, binary_values, has_rest, is_binary
from phiscan.extract.residue.code_page import is_undecoded
from phiscan.extract.residue.payloads import list_coded, undecoded_parts
from phiscan.extract.residue.pdf_strings import is_encrypted, pdf_texts
from phiscan.extract.residue.picture_values import picture_values
from phiscan.extract.residue.prose import ShownWords, Value
from phiscan.extract.residue.text_values import MAIL, RTF, text_values
from phiscan.extract.residue.unread_members import (
    has_files,
    unread_attachments,
    unread_parts,
    unread_rest,
    unread_runs,
)
from phiscan.extract.residue.xml_values import package_values
from phiscan.model import FailReason

_BOOK = "application/epub+zip"
_PACKAGES = (magic.DOCX, magic.XLSX, magic.PPTX, magic.ODF, _BOOK)
_TEXTS = frozenset(
    {*MAIL, RTF, "application/json", "application/x-ndjson", "application/hl7-v2", "application/edi-x12"}
)
_PDF = "application/pdf"
_PICTURES = frozenset({"image/png", "image/jpeg", "image/tiff", "image/bmp", "image/gif", "image/webp"})
_MAY_BE_EMPTY = frozenset({_PDF, SIGNED, "application/dicom"})  # a signature alone, a picture without a name
_FEW_BYTES = 64  # without blanks around them
_MOST_BYTES = 64 * 1024**2  # a larger content is read in parts, each with its own account
Values = Iterable[tuple[str, Value]]  # each with its place


def account(content: Content, media_type: str, sink: Sink, before: tuple[int, int, int]) -> None:
    """List what was left unread in a content: its place and size, as parts that could not be read.

    ``before`` counts the stretches of text, the segments and the unread parts before it was read.
    """
    n_pieces, n_segments, n_unread = before
    parts = sink.take_package(content.locator)
    if content.stream is not None or len(content.data) > _MOST_BYTES or sink.n_chars_left <= 0:
        return
    is_empty = sink.n_pieces == n_pieces and not sink.has_members_of(content)
    if n_unread == len(sink.unread) and _is_unread(content, media_type, sink, is_empty=is_empty):
        said = f"{len(content.data)} bytes gave no text and no file"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    elif media_type.startswith("image/") or has_rest(media_type):
        is_picture = media_type.startswith("image/")
        _list_members(content, unread_rest(content.data, sink) if is_picture else (), sink)
        runs = list(picture_values(content.data) if is_picture else binary_values(content.data, media_type))
        if runs:
            read_strings(content, runs, sink, n_pieces)
            list_missing(content, runs, ShownWords(sink.text_since(n_pieces)), sink)
    else:
        shown = ShownWords(sink.text_since(n_pieces))
        is_text = _is_text(media_type)
        if len(sink.unread) == n_unread:
            list_coded(content, sink, n_segments, shown, is_text=is_text, is_empty=is_empty)
        if not (is_text and len(sink.unread) > n_unread):  # else its reader said what cannot be decoded
            _compare(content, media_type, sink, shown, parts)


def _compare(
    content: Content, media_type: str, sink: Sink, shown: ShownWords, parts: PackageParts | None
) -> None:
    """List files that were not handed to a reader, and values that are not shown."""
    is_searched = media_type == _PDF and sink.is_accounted(content.locator)
    if _is_text(media_type):
        _list_undecoded(content, media_type, sink, shown)
    elif media_type == _PDF and not is_searched and is_encrypted(content.data):
        said = "strings of objects that no page, field or note shows are in a cipher and are not read"
        sink.fail(content.place("objects"), FailReason.UNSUPPORTED, said)
    _list_members(content, _unread_members(content, media_type, parts, shown, sink), sink)
    if not is_searched and not (media_type == SIGNED and sink.has_members_of(content)):
        list_missing(content, _candidates(content, media_type, parts, shown), shown, sink)


def _list_members(content: Content, members: Iterable[tuple[str, int]], sink: Sink) -> None:
    for place, n_bytes in members:
        sink.fail(content.place(place), FailReason.UNSUPPORTED, f"a file of {n_bytes} bytes is not read")


def _unread_members(
    content: Content, media_type: str, parts: PackageParts | None, shown: ShownWords, sink: Sink
) -> Iterable[tuple[str, int]]:
    if media_type.startswith(_PACKAGES):
        return unread_parts(content, parts, sink, is_book=media_type == _BOOK)
    if media_type == _PDF:
        return unread_attachments(content.data, sink)
    return unread_runs(content.data, shown.text, sink) if _is_text(media_type) else ()


def _is_unread(content: Content, media_type: str, sink: Sink, *, is_empty: bool) -> bool:
    """Tell whether no reader looked at a picture, or none gave a text or a member of a binary file.

    Texts, packages and PDF may be empty; what is in them is compared below.
    """
    if media_type in _PICTURES:
        return not sink.was_seen(content.data)
    if _is_text(media_type) or media_type.startswith((*_PACKAGES, "image/")) or has_rest(media_type):
        return False
    is_small = media_type in _MAY_BE_EMPTY or len(content.data.strip()) < _FEW_BYTES
    return is_empty and not is_small and has_files(content.data, media_type)


def read_strings(content: Content, runs: list[tuple[str, str]], sink: Sink, n_pieces: int) -> None:
    """Add the runs of text in a picture or a binary document that its reader did not give, ``#strings``."""
    shown = ShownWords(sink.text_since(n_pieces))
    missing = dict.fromkeys(text.strip() for _, text in runs if shown.lacks(text))
    sink.add("\n".join(missing), content.place("strings"))


def _is_text(media_type: str) -> bool:
    return media_type.startswith("text/") or media_type in _TEXTS


def _list_undecoded(content: Content, media_type: str, sink: Sink, shown: ShownWords) -> None:
    """List parts of a message in base64, and a text in an unknown code page."""
    if media_type in MAIL:
        for place, digits in undecoded_parts(content, sink, shown):
            said = f"a part that begins with {len(digits)} characters of base64 is not decoded"
            sink.fail(content.place(place), FailReason.UNSUPPORTED, said)
    elif is_undecoded(content.data, shown.text):
        said = f"{len(content.data)} bytes are in a code page that is not known, and are not decoded"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)


def _candidates(content: Content, media_type: str, parts: PackageParts | None, shown: ShownWords) -> Values:
    if media_type.startswith(_PACKAGES) and media_type != magic.XLSB:
        return package_values(content, parts, shown)
    if media_type == _PDF:
        return (("objects", text) for _, text in pdf_texts(content.data))
    if _is_text(media_type):
        return text_values(content.data, media_type, shown)
    return binary_values(content.data, media_type) if is_binary(media_type) else ()


def list_missing(content: Content, values: Values, shown: ShownWords, sink: Sink) -> None:
    """List the places with values that are not shown; places that are byte offsets count as one."""
    missing: dict[str, tuple[str, int, int]] = {}
    for place, value in values:
        if shown.lacks(value):
            group = "bytes" if place.startswith("bytes ") else place
            first, n_values, n_chars = missing.get(group, (place, 0, 0))
            missing[group] = first, n_values + 1, n_chars + sum(map(len, value))
    for first, n_values, n_chars in missing.values():
        said = f"{n_values} stretches that look like text, {n_chars} characters, are not read"
        sink.fail(content.place(first), FailReason.UNSUPPORTED, said)
