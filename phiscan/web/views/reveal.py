"""The view of an item's real text: findings marked, one character shown for each code point.

The page counts characters to locate the selected span; so no code point may be shown as two characters or
none, and none may change the reading direction.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter

from phiscan.language import gettext as _
from phiscan.model import EntityType, Segment
from phiscan.report.words import ENTITY_TYPES
from phiscan.review.decisions.corrections import Correction, Mark
from phiscan.review.worklist.model import WorkItem
from phiscan.visible import visible
from phiscan.web.views.plain_words import SHORT, colour, locator_words
from phiscan.web.views.queue import place_words
from phiscan.web.work_query import ListQuery

N_SECONDS = 120  # how long the text is shown
MAX_FINDING_CHARS = 2_000  # the part of a longer finding beyond this is not marked
N_CHARS = 40_000  # shown at once; more cannot be read in that time
_UNCHANGED = frozenset("\n\t")
_PICTURES = 0x2400  # U+2400 and on: a picture of each control character
_N_CONTROLS = 0x20
_DELETE, _DELETE_PICTURE = "\x7f", "\u2421"
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


@dataclass(frozen=True, slots=True)
class Stretch:
    """Text inside one finding, or outside of all."""

    text: str
    position: int | None = None
    colour: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """The text of one location of the document."""

    where: str
    start: int
    stretches: tuple[Stretch, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """A finding in the list of the correction form."""

    position: int
    words: str
    start: int
    end: int
    entity_type: str


@dataclass(frozen=True, slots=True)
class RevealView:
    """The content of the page."""

    item: WorkItem
    query: ListQuery
    name: str
    folder: str
    purpose: str
    blocks: tuple[Block, ...]
    findings: tuple[Choice, ...]
    start: int
    end: int
    n_chars: int
    n_findings: int = 0  # spans from here on were added by reviewers
    judged: frozenset[int] = frozenset()  # positions of findings that were judged
    rejected: frozenset[int] = frozenset()  # of them, the false positives
    seconds: int = N_SECONDS

    @property
    def masked_url(self) -> str:
        """Where the page redirects after the time limit."""
        return self.query.url(f"/items/{self.item.file_id}", said="masked")

    @property
    def kinds(self) -> tuple[tuple[str, str], ...]:
        """The types of identifiers to choose from."""
        return tuple((kind.value, ENTITY_TYPES[kind]) for kind in EntityType)

    @property
    def before(self) -> int | None:
        """Offset of the previous part; None = this is the first."""
        return max(0, self.start - N_CHARS) if self.start else None

    @property
    def after(self) -> int | None:
        """Offset of the next part; None = this is the last."""
        return self.end if self.end < self.n_chars else None


Spans = Sequence[tuple[int, int, str]]  # start, end, type: the findings in text order
Marks = Sequence[tuple[int, int, int, str]]  # position among the findings, start, end, type


def reveal_view(
    item: WorkItem,
    text: str,
    segments: Sequence[Segment],
    spans: Spans,
    *,
    query: ListQuery,
    purpose: str,
    start: int,
    corrections: Sequence[Correction] = (),
) -> RevealView:
    """Build the view of a part of the text, from an offset on.

    Args:
        item: the item.
        text: its text, read again.
        segments: the locations of the text.
        spans: the findings in stored order, then the spans added by reviewers.
        query: the list that it was opened from.
        purpose: the purpose of the reveal.
        start: offset of the part.
        corrections: corrections of its spans.
    """
    n_findings = len(spans)
    spans = with_missed(spans, corrections)
    folder, _, name = item.path.rpartition("/")
    first = min(max(0, start), max(0, len(text) - 1))
    last = min(len(text), first + N_CHARS)
    return RevealView(
        item=item,
        query=query,
        name=visible(name),
        folder=place_words(item.root, folder),
        purpose=purpose,
        blocks=tuple(_blocks(text, segments, spans, first, last)),
        findings=tuple(
            Choice(
                position,
                f"{SHORT[EntityType(kind)]}: {shown(text[begin:end])[:60]}",
                begin,
                end,
                kind,
            )
            for position, (begin, end, kind) in enumerate(spans[:n_findings])
            if first <= begin < last
        ),
        start=first,
        end=last,
        n_chars=len(text),
        n_findings=n_findings,
        judged=frozenset(one.position for one in corrections if one.position is not None),
        rejected=frozenset(
            one.position for one in corrections if one.position is not None and one.mark is Mark.SPURIOUS
        ),
    )


def with_missed(spans: Spans, corrections: Sequence[Correction]) -> Spans:
    """Return the findings and, after them, the spans added by reviewers."""
    missed = [one for one in corrections if one.position is None]
    return [*spans, *((one.span.start, one.span.end, one.entity_type.value) for one in missed)]


def shown(text: str) -> str:
    r"""Return the text with every invisible character replaced by a visible one, one for one.

    >>> shown("a\x00b\r\n\u202ec") == "a\u2400b\u240d\n\ufffdc"
    True
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in _UNCHANGED else _visible_char(char) for char in text)


def _visible_char(char: str) -> str:
    if char < chr(_N_CONTROLS):
        return chr(_PICTURES + ord(char))
    if char == _DELETE:
        return _DELETE_PICTURE
    return _REPLACEMENT if unicodedata.category(char) in _INVISIBLE else char


def _blocks(text: str, segments: Sequence[Segment], spans: Spans, first: int, last: int) -> Iterator[Block]:
    """Split the part at the segments; text outside of all (line breaks) belongs to the previous one."""
    marks = marks_of(spans, first, last)
    begins = [segment.start for segment in segments]
    named = {segment.start: locator_words(segment.locator) for segment in segments}
    cuts = sorted({first, *(begin for begin in begins if first < begin < last)})
    where = next((named[begin] for begin in reversed(begins) if begin <= first), _("text"))
    for cut, end in zip(cuts, [*cuts[1:], last], strict=True):
        where = named.get(cut, where)
        if cut < end:
            yield Block(where, cut, tuple(stretches_of(text, marks_between(marks, cut, end), cut, end)))


def marks_of(spans: Spans, first: int, last: int) -> Marks:
    """Return the findings that overlap ``[first, last)`` with their positions, in text order."""
    marks = [(at, *span) for at, span in enumerate(spans) if span[0] < last and span[1] > first]
    return sorted(marks, key=lambda mark: mark[1:3])


def marks_between(marks: Marks, first: int, last: int) -> Marks:
    """Return the marks, in text order, that overlap ``[first, last)``, by bisection."""
    high = bisect_left(marks, last, key=itemgetter(1))
    low = bisect_left(marks, first - MAX_FINDING_CHARS, key=itemgetter(1), hi=high)
    return [mark for mark in marks[low:high] if mark[2] > first]


def stretches_of(text: str, marks: Marks, first: int, last: int) -> Iterator[Stretch]:
    """Yield the text ``[first, last)`` in runs, each inside one finding or outside of all."""
    at = first
    for position, begin, end, kind in marks:
        begin, end = max(begin, at), min(end, last)  # noqa: PLW2901 (a finding may reach over a cut)
        if begin >= end or begin >= last:
            continue
        if begin > at:
            yield Stretch(shown(text[at:begin]))
        found = EntityType(kind)
        yield Stretch(shown(text[begin:end]), position, colour(found), SHORT[found])
        at = end
    if at < last:
        yield Stretch(shown(text[at:last]))
