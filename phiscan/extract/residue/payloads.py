"""Encoded payloads that nothing decoded: coded runs in the text of a content, and parts of a message."""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.residue.prose import ShownWords
from phiscan.extract.text_codes.coded_run import readable
from phiscan.extract.text_codes.recovery import coded_runs
from phiscan.extract.transport.decoding import from_base64
from phiscan.extract.transport.lifting import list_undecoded
from phiscan.extract.transport.runs import encoded_runs, is_quoted_printable
from phiscan.model import FailReason

# The first lines of a part of a message in base64, after the empty line that ends its fields.
_PART = re2.compile(
    rb"\n\r?\n((?:[A-Za-z0-9+/]{20,}={0,2}\r?\n){0,40}[A-Za-z0-9+/]{20,}={0,2})[ \t]*(?:\r?\n|\z)"
)
_TAG = re.compile(r"<[^<>]*>?")
_HEAD_BYTES = 48
_MOST_PARTS = 20_000
_SIGNATURE = re.compile(
    rb"(?i)pkcs7-signature|pgp-signature|application/pgp-keys|PGP SIGNATURE|PUBLIC KEY|CERTIFICATE|smime\.p7s"
)
_FIELDS_BYTES = 600


def list_coded(
    content: Content, sink: Sink, n_segments: int, shown: ShownWords, *, is_text: bool, is_empty: bool
) -> None:
    """List encoded runs in the text that this content itself gave, which no reader decoded.

    Where nothing searched the text for codes, or there is no text, the bytes of a text file are searched.
    """
    was_searched = sink.is_accounted(content.place("decoded"))  # for codes: documents in them are read
    if not is_text and was_searched:
        return
    if is_text and (is_empty or not was_searched or not _has_message(content, sink, n_segments)):
        _list_runs(content.data, content.locator, sink, shown, is_reworded=was_searched)
    own = (content.locator, f"{content.locator}#")
    for index, segment in enumerate(sink.segments_since(n_segments), n_segments):
        is_own = segment.locator == own[0] or segment.locator.startswith(own[1])
        if not is_own or segment.locator.endswith("#headers"):
            continue  # keys and signatures of the way through the servers
        is_lifted = sink.is_accounted(segment.locator)
        if is_lifted and was_searched:
            continue
        data = sink.text_of(index).encode("utf-8", "replace")
        if is_text and not is_lifted:
            _list_mail_runs(data, segment.locator, sink, was_searched=was_searched)
        if not was_searched:
            _list_runs(data, segment.locator, sink, shown)


def _has_message(content: Content, sink: Sink, n_segments: int) -> bool:
    """Tell whether a message gave fields and, where it gave no files, a body; True for other contents."""
    if not content.name.lower().endswith((".eml", ".emlx")):
        return True
    own = f"{content.locator}#"
    places = {
        part.locator[len(own) :] for part in sink.segments_since(n_segments) if part.locator.startswith(own)
    }
    return "headers" in places and ("body" in places or sink.has_members_of(content))


def _list_mail_runs(data: bytes, locator: str, sink: Sink, *, was_searched: bool) -> None:
    for run in encoded_runs(data):
        if not (was_searched and is_document(run.data)):
            list_undecoded(run, locator, sink)
    if is_quoted_printable(data):
        sink.fail(locator, FailReason.UNSUPPORTED, "quoted-printable text is not decoded")


def _list_runs(
    data: bytes, locator: str, sink: Sink, shown: ShownWords, *, is_reworded: bool = False
) -> None:
    """List runs whose text is not shown as it is, or, where a reader rewords it, whose words are not."""
    n_runs = n_chars = 0
    for run in coded_runs(data):
        text = readable(run.data)
        is_shown = shown.holds(text) or (is_reworded and not shown.lacks_words(text))
        is_lost = not is_shown if text else is_document(run.data)
        if is_lost and not sink.was_read(run.data[:_HEAD_BYTES]):
            n_runs += 1
            n_chars += run.end - run.start
    if n_runs:
        said = f"{n_runs} coded runs, {n_chars} characters, are not decoded"
        sink.fail(locator, FailReason.UNSUPPORTED, said)


def undecoded_parts(content: Content, sink: Sink, shown: ShownWords) -> Iterator[tuple[str, str]]:
    """Yield place and digits of the parts of a message in base64 that were neither read nor shown."""
    data = content.data
    for number, match in enumerate(_PART.finditer(data)):
        if number >= _MOST_PARTS:
            return
        head = from_base64(match[1]) or b""
        if sink.was_read(head[:_HEAD_BYTES]):
            continue
        if _SIGNATURE.search(data, max(match.start() - _FIELDS_BYTES, 0), match.start()):
            continue
        text = readable(head)
        if text and not shown.lacks_words(_TAG.sub(" ", text)):
            continue
        if text or is_document(head):
            yield f"bytes {match.start(1)}", match[1].decode("ascii")
