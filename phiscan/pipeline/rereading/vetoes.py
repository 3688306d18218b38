"""What the rules matched in a file and then refused, without its text: only type, rule, why, place and shape.

A scan does not keep it. It is found again when somebody asks, by a confined process that reads the file as it
was examined, with the rules of today.
"""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.model import Document, EntityType, Reason
from phiscan.screen.rules.recognizer import PatternRecognizer, Refused
from phiscan.store.identity import shape

MAX_STORED = 50  # told of one file; a table of numbers has thousands


@dataclass(frozen=True, slots=True)
class Veto:
    """One match that is no finding."""

    entity_type: EntityType
    rule: str
    reasons: tuple[Reason, ...]  # the last one refused it
    locator: str
    start: int
    preview: str  # the shape of the value


@dataclass(frozen=True, slots=True)
class Vetoes:
    """The first vetoed matches of a file in text order, and how many there are in all."""

    content_hash: str
    first: tuple[Veto, ...]
    n: int


def vetoes(document: Document, recognizer: PatternRecognizer) -> Vetoes:
    """Gather what the rules matched and refused; the same rule at the same place counts once."""
    refused = {
        (one.span.start, one.span.end, one.rule, one.entity_type): one
        for one in recognizer.weigh(document)
        if isinstance(one, Refused)
    }
    ordered = sorted(refused.items(), key=lambda item: item[0])
    first = tuple(
        Veto(
            entity_type=one.entity_type,
            rule=one.rule,
            reasons=one.reasons,
            locator=document.locate(one.span.start),
            start=one.span.start,
            preview=shape(one.span.of(document.text)),
        )
        for _, one in ordered[:MAX_STORED]
    )
    return Vetoes(document.content_hash, first, len(ordered))
