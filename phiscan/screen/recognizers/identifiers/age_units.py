"""Ages over 89 with their unit: "93 years old", "94 ans", "91 y.o.", "97 ans et 11 mois".

Rules and the reader of numbers find the number. Whoever blackens an age blackens its unit with it, and other
tools take both for the age (Amazon Comprehend Medical, Azure's "Age", Google's AGE).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from phiscan.model import EntityType, Finding, Span

_UNIT: Final = re.compile(
    r"[ -]?(?:years?|yrs?)[ -]?(?:old|of[ ]age|young)"
    r"|[ -]?y[./]?o\.?(?:[mf]\b)?"
    r"|[ ]?(?:ans?|years?|yrs?)(?:[ ](?:et|and)?[ ]?\d{1,2}[ ](?:mois|months?))?"
    r"|[ ]?y(?:\d{1,2}m)?"
    r"|[ ]a\.(?![ ]?m)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w")


def with_units(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, ages with their units; ``findings`` in text order, without overlaps.

    A unit ends where the next finding begins.
    """
    limits = [*(finding.span.start for finding in findings[1:]), len(text)]
    for finding, limit in zip(findings, limits, strict=False):
        if finding.entity_type is EntityType.AGE_OVER_89:
            unit = _UNIT.match(text, finding.span.end, limit)
            if unit is not None and not _WORD.match(text, unit.end()):
                yield replace(finding, span=Span(finding.span.start, unit.end()))
                continue
        yield finding
