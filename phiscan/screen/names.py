"""Names of people behind a label or a title."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Protocol

from phiscan.config import Config
from phiscan.model import Document, EntityType, Finding, PiiBit, Reason, Span

_NAME = r"[A-ZÀ-Þ][\w'’-]+(?:[ ,]{1,2}[A-ZÀ-Þ][\w'’.-]*){0,3}"
_CUE = re.compile(
    r"(?<!\w)(?:(?P<title>Mr|Mrs|Ms|Dr|Mme|Mlle)\.? +|(?:Patient(?: name)?|Name|Nom(?: du patient)?) ?: *)"
    rf"(?P<name>{_NAME})"
)


class NameRecognizer(Protocol):
    """Whatever finds names of people in a document."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings of type PERSON or HEALTH_PROFESSIONAL; they may overlap."""
        ...


class CuedNameRecognizer:
    """Find names behind labels and titles."""

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings in text order."""
        for match in _CUE.finditer(document.text):
            doctor = match["title"] == "Dr"
            kind = EntityType.HEALTH_PROFESSIONAL if doctor else EntityType.PERSON
            bits = {PiiBit.LAST_NAME} | ({PiiBit.FIRST_NAME} if " " in match["name"] else set())
            bits = {PiiBit.HEALTH_PROFESSIONAL} if doctor else bits
            reason = Reason("title" if match["title"] else "label", "name cue", 0.85)
            yield Finding(Span(*match.span("name")), kind, "names.cue", 0.85, frozenset(bits), (reason,))


def build_name_recognizers(config: Config) -> tuple[NameRecognizer, ...]:  # noqa: ARG001 (the site's pipeline joins next)
    """Return the name recognizers."""
    return (CuedNameRecognizer(),)
