"""The account of one content after its reader: stretches that look like text and were not given are listed.

It needs no list of what readers leave out. It looks at the bytes in its own way (values between quotes and
tags, strings of streams, runs of printable characters and of encoded digits) and compares
words with the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.package_parts import PackageParts
from phiscan.extract.pictures.hidden_texts import hidden_texts
from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.pdf_strings import pdf_texts
from phiscan.extract.residue.prose import ShownWords
from phiscan.extract.residue.xml_values import package_values
from phiscan.extract.transport.lifting import list_undecoded
from phiscan.extract.transport.runs import encoded_runs, is_quoted_printable
from phiscan.model import FailReason

_PACKAGES = (magic.DOCX, magic.XLSX, magic.PPTX, magic.ODF)
_TEXTS = frozenset({magic.TEXT, "message/rfc822", "text/html", "text/xml", "application/json"})
_BINARY = frozenset(
    {
        *("application/ms-tnef", "application/x-edf", "application/vnd.sqlite3", "application/x-dbf"),
        *("application/onenote", "application/vnd.lotus-1-2-3", "application/vnd.wordperfect"),
        "application/x-outlook-express",
    }
)
# Definitions of tables, whose columns head the rows that were given, and markup that programs write.
_DEFINITION = re.compile(
    r"CREATE (?:TABLE|(?:UNIQUE )?INDEX|VIEW|TRIGGER|VIRTUAL TABLE)\b|<[\w:]+ [\w:]+=\"|<x:xmpmeta"
)
_MOST_BYTES = 64 * 1024**2  # a larger content is read in parts, each with its own account


def account(content: Content, media_type: str, sink: Sink, before: tuple[int, int, int]) -> None:
    """List what was left unread in a content: its place and size, as parts that could not be read.

    ``before`` counts the stretches of text, the segments and the unread parts before it was read.
    """
    n_pieces, n_segments, n_unread = before
    parts = sink.take_package(content.locator)
    if (
        sink.is_accounted(content.locator)
        or content.stream is not None
        or len(content.data) > _MOST_BYTES
        or sink.n_chars_left <= 0
    ):
        return
    if media_type in _TEXTS:
        if len(sink.unread) > n_unread:
            return  # its reader said which part cannot be decoded
        _encoded(content, sink, n_segments)
        return
    shown = ShownWords(sink.text_since(n_pieces))
    if media_type.startswith("image/"):
        texts = dict.fromkeys(text for text in hidden_texts(content.data) if shown.lacks(text))
        sink.add("\n".join(texts), content.place("strings"))
        return
    found = _candidates(content, media_type, parts)
    if found is None:
        return
    missing: dict[str, tuple[int, int]] = {}
    for place, value in found():
        if shown.lacks(value):
            n_values, n_chars = missing.get(place, (0, 0))
            missing[place] = n_values + 1, n_chars + len(value)
    for place, (n_values, n_chars) in missing.items():
        said = f"{n_values} stretches that look like text, {n_chars} characters, are not read"
        sink.fail(content.place(place), FailReason.UNSUPPORTED, said)


def _candidates(
    content: Content, media_type: str, parts: PackageParts | None
) -> Callable[[], Iterator[tuple[str, str]]] | None:
    if media_type.startswith(_PACKAGES) and media_type != magic.XLSB:
        return lambda: package_values(content, parts)
    if media_type == "application/pdf":
        return lambda: (("objects", text) for _, text in pdf_texts(content.data))
    if media_type in _BINARY:
        return lambda: (
            (f"bytes {at}", text)
            for at, text in byte_runs(content.data)
            if not _DEFINITION.search(text, 0, 200)
        )
    return None


def _encoded(content: Content, sink: Sink, n_segments: int) -> None:
    """List encoded runs in the text that this content itself gave."""
    own = (content.locator, f"{content.locator}#")
    was_searched = sink.is_accounted(content.place("decoded"))  # for codes: documents in them are read
    for index, segment in enumerate(sink.segments_since(n_segments), n_segments):
        if segment.locator.endswith("#headers"):
            continue  # keys and signatures of the way through the servers
        if segment.locator != own[0] and not segment.locator.startswith(own[1]):
            continue
        if sink.is_accounted(segment.locator):
            continue
        text = sink.text_of(index)
        data = text.encode("utf-8", "replace")
        for run in encoded_runs(data):
            if not (was_searched and is_document(run.data)):
                list_undecoded(run, segment.locator, sink)
        if is_quoted_printable(data):
            sink.fail(segment.locator, FailReason.UNSUPPORTED, "quoted-printable text is not decoded")
