"""Decodes the coded runs in the text that a content gave, and adds them as text, ``#decoded``.

It works on the text that readers gave, whatever the format: a cell, a field of JSON, a row of a database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.magic_numbers import TEXT
from phiscan.extract.text_codes import digits, escapes, programs
from phiscan.extract.text_codes.coded_run import CodedRun, Finder, is_plain, readable
from phiscan.extract.transport.runs import encoded_runs
from phiscan.model import FailReason


def encoded_documents(text: bytes) -> Iterator[CodedRun]:
    """Yield the runs of mail encodings, uuencode and yEnc and long base64, that stand for a document."""
    for run in encoded_runs(text):
        if run.is_document and is_document(run.data):
            yield CodedRun(run.start, run.end, run.kind, run.data)


# Finders of solid digits, of dense characters, and of the rest; each group has its hint.
_SOLID: tuple[Finder, ...] = (
    encoded_documents,
    digits.hex_runs,
    digits.base64_runs,
)
_DENSE: tuple[Finder, ...] = (digits.base85_runs, digits.uuencoded_runs)
_OTHERS: tuple[Finder, ...] = (
    programs.rtf_runs,
    programs.postscript_runs,
    digits.dump_runs,
    digits.ldif_runs,
    digits.list_runs,
    escapes.percent_runs,
    escapes.escape_runs,
    escapes.word_runs,
    escapes.reference_runs,
    escapes.quoted_runs,
    escapes.utf7_runs,
)
# What every code has in it, by a linear engine: most texts have none, and are looked at once.
_SOLID_HINT = re2.compile(rb"[A-Za-z0-9+]{16}|-----BEGIN |=ybegin |BinHex 4|(?:^|\n)begin[ -]")
_DENSE_HINT = re2.compile(rb"[!-~]{60}|<~[!-u]")
_OTHER_HINT = re2.compile(
    rb"\{\\rtf|%!PS|%[0-9A-Fa-fu][0-9A-Fa-f]|\\[xuX0-3][0-9A-Fa-f]|&#"
    rb"|&[a-zA-Z]{1,2}(?:acute|grave|circ|cedil|uml|tilde|lig);|<~[!-u]"
    rb"|[A-Za-z0-9,.;:)]=(?:[2C][0-9A-F]|0[9AD]|E[0-9A-F]|3[ABDF])|[A-Za-z]\+[A-Za-z]"
    rb"|:: [A-Za-z0-9+/=]{4}|(?:[0-9A-Fa-fx]{2,8}[ ,:;\-\\\r\n\t]{1,4}){8}|\+A[A-Za-z0-9+/]{9}"
)
_PLACE = "decoded"
_MOST_RUNS = 5_000  # of one content
_MOST_CHARS = 1_000_000
_INLINE_BYTES = 4096  # a longer text is a member of its own, with a reader
_LABEL_BYTES = 60
_LABEL_END = re.compile(rb"[|\t\r\n;,{}]")
_MIN_CHARS = 16
_MARKUP = (b"{", b"[", b"<", b"%", b"")
_ROUNDS = 3  # codes within codes


def recover(content: Content, sink: Sink, n_segments: int) -> None:
    """Decode the coded runs in the text that a content itself gave, and add them as text or as members.

    ``n_segments`` counts the segments before it was read.
    """
    sink.mark_accounted(content.place(_PLACE))
    own = (content.locator, f"{content.locator}#")
    lines: list[str] = []
    n_runs = n_chars = 0
    for index, segment in enumerate(sink.segments_since(n_segments), n_segments):
        is_own = segment.locator == own[0] or segment.locator.startswith(own[1])
        if not is_own or segment.end - segment.start < _MIN_CHARS:
            continue
        data = sink.text_of(index).encode("utf-8", "replace")
        is_lifted = sink.was_accounted(segment.locator)  # its reader took the runs of mail encodings
        for found in _read_runs(data, content, sink, is_lifted=is_lifted):
            n_runs += " " in found  # a table of words is no reason to stop
            n_chars += len(found)
            lines.append(found)
            if n_runs > _MOST_RUNS or n_chars > _MOST_CHARS:
                sink.fail(content.place(_PLACE), FailReason.TOO_LARGE, f"more than {_MOST_RUNS} coded runs")
                break
        else:
            continue
        break
    sink.add("\n".join(dict.fromkeys(line for line in lines if line)), content.place(_PLACE))


def _read_runs(
    data: bytes, content: Content, sink: Sink, rounds: int = _ROUNDS, *, is_lifted: bool = False
) -> Iterator[str]:
    """Yield the text of each run; read the documents among them as members."""
    for run in coded_runs(data, is_lifted=is_lifted):
        if run.code == escapes.ESCAPED_WORD:
            yield _label(data, run) + run.data.decode("utf-8", "replace")
            continue
        if run.code == "LDIF" and len(run.data) <= _INLINE_BYTES and is_plain(run.data):
            yield run.data.decode("utf-8", "replace")
            continue
        text = readable(run.data) if len(run.data) <= _INLINE_BYTES and run.code != "RTF" else ""
        if text and (_is_plain(run.data) or not is_document(run.data)):
            yield _label(data, run) + text
            if rounds > 1:
                yield from _read_runs(run.data, content, sink, rounds - 1)
        elif is_document(run.data) and (text or _is_solid(run)):
            _read_member(run, content, sink)
            yield ""


def _is_plain(data: bytes) -> bool:
    """Tell a text without markup: it needs no reader of its own."""
    return data.lstrip()[:1] not in _MARKUP or sniff(data) in (TEXT, "text/csv")


def _is_solid(run: CodedRun) -> bool:
    """Tell a run whose bytes are a known kind of file, or a text that holds words."""
    kind = sniff(run.data)
    return not kind.startswith("text/") or bool(readable(run.data))


def _read_member(run: CodedRun, content: Content, sink: Sink) -> None:
    member = content.member(f"decoded{run.start}", run.data)
    try:
        sink.take_member()
        sink.spend(len(run.data))
    except ExtractError as error:
        sink.fail(member.locator, FailReason(error.reason), error.detail)
    else:
        sink.read_member(member)


def _label(data: bytes, run: CodedRun) -> str:
    """Return what stands before a run in its cell or line: the name of its field."""
    before = data[max(run.start - _LABEL_BYTES, 0) : run.start]
    label = _LABEL_END.split(before)[-1].decode("utf-8", "ignore").strip(" \"'(")
    return f"{label} " if label.endswith((":", "=")) else ""


def coded_runs(text: bytes, *, is_lifted: bool = False) -> list[CodedRun]:
    """Return the runs of all codes that can be text or a document, in text order, none within another.

    Of a text whose runs of mail encodings were taken out, ``is_lifted``, these are not looked for again.
    """
    solid = _SOLID[1:] if is_lifted else _SOLID
    hinted = ((_SOLID_HINT, solid), (_DENSE_HINT, _DENSE), (_OTHER_HINT, _OTHERS))
    finders = (finder for hint, group in hinted if hint.search(text) for finder in group)
    found = [run for finder in finders for run in finder(text) if _may_be_text(run)]
    kept: list[CodedRun] = []
    for run in sorted(found, key=lambda run: (run.start, -run.end)):
        if not kept or run.start >= kept[-1].end:
            kept.append(run)
    return kept


def _may_be_text(run: CodedRun) -> bool:
    return (
        run.code in ("RTF", "LDIF", escapes.ESCAPED_WORD)
        or bool(readable(run.data))
        or (len(run.data) > _INLINE_BYTES // 64 and is_document(run.data))
    )
