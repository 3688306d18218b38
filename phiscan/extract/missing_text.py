"""Lists what gave no text: bytes without text or file, and texts in a code page that is not known."""

from __future__ import annotations

import re

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.charset import utf8_or_none
from phiscan.extract.core.content import Content, Sink
from phiscan.model import FailReason

_MAIL = frozenset({"message/rfc822", "application/mbox"})
_TEXTS = _MAIL | {
    *("application/json", "application/x-ndjson", "application/rtf"),
    *("application/hl7-v2", "application/edi-x12"),
}
# A package or picture without a text, a signature alone, a sheet without cells, folders.
_MAY_BE_EMPTY = (
    *(magic.DOCX, magic.XLSX, magic.PPTX, magic.ODF, "application/epub+zip", "image/", "application/pdf"),
    *("application/pkcs7-mime", "application/dicom", "application/zip", "application/x-tar"),
    *("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
    *("application/vnd.ms-outlook", "application/x-ole-storage"),
)
_FEW_BYTES = 64  # without blanks around them
_MOST_BYTES = 64 * 1024**2  # a larger content is read in parts, each with its own check
_MOST_CHARS = 100_000
_MIN_ODD = 3
_MIN_SHARE = 0.4  # of the words with a letter outside ASCII
_ODD = re.compile(
    r"[A-Za-z\xe0-\xff][\x80-\x9f\u201a\u201e\u2020-\u2022\u2026\u2030\u2039\u02c6\u2018\u201c\u201d\u02dc\u2122"
    r"\xa1-\xb6\xb8-\xbf\ufffd]{1,4}[a-z\xe0-\xff]"
    r"|[a-z\xe0-\xff][\u0160\u017d\u0152\u0178\xc0-\xde][a-z\xe0-\xff]"
)

Before = tuple[int, int]  # the stretches of text and the unread parts before a content was read


def list_missing(content: Content, media_type: str, sink: Sink, before: Before) -> None:
    """List a content that gave neither text nor a file, and a text whose letters show a wrong code page."""
    n_segments, n_unread = before
    if content.stream is not None or len(content.data) > _MOST_BYTES or sink.n_chars_left <= 0:
        return
    is_text = media_type.startswith("text/") or media_type in _TEXTS
    is_said = len(sink.unread) > n_unread or media_type in _MAIL  # by the reader
    if is_text and not is_said and is_undecoded(content.data, sink.text_since(n_segments)):
        said = f"{len(content.data)} bytes are in a code page that is not known, and are not decoded"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)
    is_silent = (sink.n_segments, len(sink.unread)) == before and not sink.has_members_of(content)
    may_be_silent = is_text or media_type.startswith(_MAY_BE_EMPTY)
    if is_silent and not may_be_silent and len(content.data.strip()) >= _FEW_BYTES:
        said = f"{len(content.data)} bytes gave no text and no file"
        sink.fail(content.locator, FailReason.UNSUPPORTED, said)


def is_undecoded(data: bytes, text: str) -> bool:
    """Tell whether a text whose bytes are no UTF-8 has signs where letters of its language should be."""
    head = text[:_MOST_CHARS]
    if data.isascii() or head.isascii() or utf8_or_none(data) is not None:
        return False
    return len(_ODD.findall(head)) >= max(_MIN_ODD, _MIN_SHARE * sum(not w.isascii() for w in head.split()))
