"""Decodes the coded runs in the text that a content gave, and adds them as text, ``#decoded``.

It works on the text that readers gave, whatever the format: a cell, a field of JSON, a row of a database.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import re2

from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.encoded_documents import is_document
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.magic_numbers import TEXT
from phiscan.extract.text_codes import digits, escapes, lifting
from phiscan.extract.text_codes.escapes import Code, CodedRun, Finder, is_plain, readable
from phiscan.model import FailReason


def encoded_documents(text: bytes) -> Iterator[CodedRun]:
    """Yield the runs of mail encodings, uuencode and long base64, that stand for a document."""
    yield from (run for run in lifting.encoded_runs(text) if run.is_document and is_document(run.data))


@dataclass(frozen=True, slots=True)
class _Group:
    """Finders of codes, and one pattern that every text with a run of any of them matches.

    A linear engine looks for the hints of a group at once; all the hints at once need too many of its states.
    """

    finders: tuple[Finder, ...]
    hint: Any

    @classmethod
    def of(cls, *codes: Code) -> _Group:
        hints = dict.fromkeys(code.hint for code in codes)
        return cls(tuple(code.find for code in codes), re2.compile(b"|".join(hints)))


_GROUPS = (
    _Group.of(Code(encoded_documents, lifting.HINT), *digits.LONG_CODES),
    _Group.of(*digits.SHORT_CODES),
    _Group.of(*digits.PROGRAM_CODES, *digits.LISTED_CODES, *escapes.CODES),
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
    if sink.n_segments == n_segments:
        return
    own = (content.locator, f"{content.locator}#")
    lines: list[str] = []
    n_runs = n_chars = 0
    texts = [
        (segment.locator, sink.text_of(index).encode("utf-8", "replace"))
        for index, segment in enumerate(sink.segments[n_segments:], n_segments)
        if segment.end - segment.start >= _MIN_CHARS
        and (segment.locator == own[0] or segment.locator.startswith(own[1]))
    ]
    for locator, data, groups in _hinted(texts) if texts else ():
        is_lifted = sink.was_accounted(locator)  # its reader took the runs of mail encodings
        for found in _read_runs(data, _kept_runs(data, groups, is_lifted=is_lifted), content, sink):
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


def _hinted(texts: list[tuple[str, bytes]]) -> Iterator[tuple[str, bytes, list[_Group]]]:
    """Yield locator and bytes of the texts that match the hint of a group, with those groups, in order.

    All are searched at once: each search of one text alone takes longer than the text itself.
    """
    joined = texts[0][1] if len(texts) == 1 else b"\n".join([data for _, data in texts])
    ends = list(accumulate(len(data) + 1 for _, data in texts))
    groups_of: dict[int, list[_Group]] = {}
    for group in _GROUPS:
        at = 0
        while at < len(joined) and (match := group.hint.search(joined, at)):
            number = bisect_right(ends, match.start())
            groups_of.setdefault(number, []).append(group)
            at = ends[number]  # where the next text begins
    for number in sorted(groups_of):
        yield *texts[number], groups_of[number]


def _read_runs(
    data: bytes, runs: list[CodedRun], content: Content, sink: Sink, rounds: int = _ROUNDS
) -> Iterator[str]:
    """Yield the text of each run in ``data``; read the documents among them as members."""
    for run in runs:
        if run.code == "LDIF" and len(run.data) <= _INLINE_BYTES and is_plain(run.data):
            yield run.data.decode("utf-8", "replace")
            continue
        text = readable(run.data) if len(run.data) <= _INLINE_BYTES and run.code != "RTF" else ""
        if text and (_is_plain(run.data) or not is_document(run.data)):
            yield _label(data, run) + text
            if rounds > 1:
                yield from _read_runs(run.data, coded_runs(run.data), content, sink, rounds - 1)
        elif is_document(run.data) and (text or _is_solid(run)):
            sink.read_new(content.member(f"decoded{run.start}", run.data))
            yield ""


def _is_plain(data: bytes) -> bool:
    """Tell a text without markup: it needs no reader of its own."""
    return data.lstrip()[:1] not in _MARKUP or sniff(data) in (TEXT, "text/csv")


def _is_solid(run: CodedRun) -> bool:
    """Tell a run whose bytes are a known kind of file, or a text that holds words."""
    kind = sniff(run.data)
    return not kind.startswith("text/") or bool(readable(run.data))


def _label(data: bytes, run: CodedRun) -> str:
    """Return what stands before a run in its cell or line: the name of its field."""
    before = data[max(run.start - _LABEL_BYTES, 0) : run.start]
    label = _LABEL_END.split(before)[-1].decode("utf-8", "ignore").strip(" \"'(")
    return f"{label} " if label.endswith((":", "=")) else ""


def coded_runs(text: bytes) -> list[CodedRun]:
    """Return the runs of all codes that can be text or a document, in text order, none within another."""
    return _kept_runs(text, [group for group in _GROUPS if group.hint.search(text)], is_lifted=False)


def _kept_runs(text: bytes, groups: list[_Group], *, is_lifted: bool) -> list[CodedRun]:
    """Return the runs of the codes of some groups.

    Of a text whose runs of mail encodings were taken out, ``is_lifted``, these are not looked for again.
    """
    finders = (find for group in groups for find in group.finders)
    found = [
        run
        for find in finders
        if not (is_lifted and find is encoded_documents)
        for run in find(text)
        if _may_be_text(run)
    ]
    kept: list[CodedRun] = []
    for run in sorted(found, key=lambda run: (run.start, -run.end)):
        if not kept or run.start >= kept[-1].end:
            kept.append(run)
    return kept


def _may_be_text(run: CodedRun) -> bool:
    return (
        run.code in ("RTF", "LDIF")
        or bool(readable(run.data))
        or (len(run.data) > _INLINE_BYTES // 64 and is_document(run.data))
    )
