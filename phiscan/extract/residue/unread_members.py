"""Files within a content that no reader was handed: parts of a package, attachments of a PDF, lifted runs."""

from __future__ import annotations

import io
import re
import tarfile
import zipfile
from collections.abc import Iterator

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.package_parts import PackageParts
from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.pdf_strings import embedded_files
from phiscan.extract.residue.picture_values import after_end
from phiscan.extract.residue.prose import MIN_WORDS, words_of
from phiscan.extract.transport.runs import encoded_runs

# Parts by which a program draws, signs or prints a document.
_MACHINE_PART = re.compile(
    r"\.(?:xml|vml|rels|fpage|rdf|xhtml|ncx|opf|odttf|fntdata|ttf|otf|woff2?|css|js|sigs|psmdcp|svm|ds_store|emz|wmz)$|thumbnail"
    r"|printersettings|vbaproject|vbadata|^mimetype$|/drs/|layout-cache|^objectreplacements/|(?:^|/)fonts/"
    r"|binaryindex|^__macosx/|configurations2/|/$",
    re.IGNORECASE,
)
# What is put into a text for a run that was taken out as a file.
_PLACEHOLDER = re.compile(r"\[(?:base64|uuencode|yEnc|BinHex|hexadecimal digits|PKCS7|CMS|PGP MESSAGE): ")
_HEAD_BYTES = 48
_LOOKED_AT = 4096
_MOST_PARTS = 20_000


def has_files(data: bytes, media_type: str) -> bool:
    """Tell whether an archive holds more than folders and empty files; True for any other content."""
    try:
        if media_type == "application/zip":
            return any(info.file_size for info in zipfile.ZipFile(io.BytesIO(data)).infolist())
        if media_type == "application/x-tar":
            with tarfile.open(fileobj=io.BytesIO(data)) as archive:
                return any(info.isfile() and info.size for info in archive)
    except Exception:  # noqa: BLE001 (a damaged archive; it gave nothing all the same)
        return True
    return True


def unread_parts(
    content: Content, parts: PackageParts | None, sink: Sink, *, is_book: bool
) -> Iterator[tuple[str, int]]:
    """Yield name and size of the parts of a package, other than markup, that were not handed to a reader.

    The pages of a book are compared as markup.
    """
    try:
        parts = parts or PackageParts(zipfile.ZipFile(content.open()))
        for info in parts.archive.infolist()[:_MOST_PARTS]:
            name = info.filename
            is_page = is_book and name.lower().endswith((".html", ".htm"))
            if is_page or _MACHINE_PART.search(name) or info.flag_bits & 1 or not info.file_size:
                continue
            head = (parts.get(name) or b"")[:_LOOKED_AT]
            if not head:
                with parts.archive.open(info) as stream:
                    head = stream.read(_LOOKED_AT)
            if not sink.was_read(head[:_HEAD_BYTES]) and _has_text(head):
                yield name, info.file_size
    except Exception:  # noqa: BLE001 (a damaged package; its reader says what is wrong)
        return


def unread_attachments(data: bytes, sink: Sink) -> Iterator[tuple[str, int]]:
    """Yield place and size of the files in a PDF that were not handed to a reader."""
    for at, head, n_bytes in embedded_files(data):
        if head and not sink.was_read(head[:_HEAD_BYTES]):
            yield f"attachment at byte {at}", n_bytes


def unread_runs(data: bytes, shown_text: str, sink: Sink) -> Iterator[tuple[str, int]]:
    """Yield place and size of the runs that were taken out of a text as files and not handed to a reader."""
    if _PLACEHOLDER.search(shown_text):
        for run in encoded_runs(data):
            if run.is_document and is_document(run.data) and not sink.was_read(run.data[:_HEAD_BYTES]):
                yield f"bytes {run.start}", len(run.data)


def unread_rest(data: bytes, sink: Sink) -> Iterator[tuple[str, int]]:
    """Yield place and size of a file after the end of a picture that was not handed to a reader."""
    at, rest = after_end(data)
    if len(rest) >= _HEAD_BYTES and not sink.was_read(rest[:_HEAD_BYTES]) and is_document(rest):
        yield f"bytes {at}", len(rest)


def _has_text(head: bytes) -> bool:
    return is_document(head) or any(len(words_of(text)) >= MIN_WORDS for _, text in byte_runs(head))
