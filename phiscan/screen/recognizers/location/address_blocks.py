"""The rest of an address block: the city, region and postal code on the lines below a street address."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from phiscan.lexicon.capitalized_words import UPPER
from phiscan.lexicon.gazetteer import Gazetteer
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of

SCORE = 0.5
MAX_PARTS = 5
_GAP = re.compile(r"[ \t]{0,8}[,.]?[ \t]{0,4}(?:\r?\n[ \t>]{0,12}){0,2}(?:, ?)?")
_PART = re.compile(
    rf"(?:[{UPPER}][\w.'’-]{{0,24}}|\d{{3,6}}(?:-\d{{3,4}})?|nan|(?:de|la|sur|am|im|an|der|of|and|du"  # noqa: RUF001 (names are written with it)
    rf"|des|le|el|los)(?=[ ]))"
    rf"(?:[ ](?:[{UPPER}][\w.'’-]{{0,24}}|\d{{3,6}}(?:-\d{{3,4}})?|de|la|sur|am|im|an|der|of|and|du|des"  # noqa: RUF001 (names are written with it)
    rf"|le|el|los|u)(?![\w]))"
    r"{0,4}"
)
_POSTAL = re.compile(
    r"(?<![\w-])(?:\d{4,6}(?:-\d{3,4})?|[A-Z]\d[A-Z] ?\d[A-Z]\d|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})(?!\w)"
)
_STOP = re.compile(r"[ \t]*(?:$|[\n\r,.?!;)])", re.MULTILINE)


def address_tails(text: str, found: Sequence[Finding], gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield the place that continues after each street address, as one LOCATION.

    Only as far as a part that has a postal code or is a place of the gazetteer, so that the line below an
    address which is no part of it stays out.
    """
    for finding in found:
        if finding.entity_type is not EntityType.STREET_ADDRESS or finding.is_doubtful:
            continue
        start, end = _tail(text, finding.span.end, gazetteer)
        if start < end:
            kind = EntityType.LOCATION
            reason = Reason("context", "below a street address", SCORE)
            yield Finding(Span(start, end), kind, "address.tail", SCORE, bits_of(kind), (reason,))


def _tail(text: str, position: int, gazetteer: Gazetteer) -> tuple[int, int]:
    first, certain = -1, -1
    for _ in range(MAX_PARTS):
        gap = _GAP.match(text, position)
        part = _PART.match(text, gap.end()) if gap and gap.end() > position else None
        if part is None or not _STOP.match(text, part.end()):
            break
        first = part.start() if first < 0 else first
        if _POSTAL.search(part[0]) or gazetteer.is_place(part[0]):
            certain = part.end()
        position = part.end()
    return first, certain
