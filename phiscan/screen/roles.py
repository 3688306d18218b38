"""People whom a text names for what they do: who wrote it, who answers the telephone, who treats.

A price list names its therapists, an abstract its authors, a manual whom to ask for. Nobody of them is the
one whose health the text speaks of. What is found there stays a finding, with its place and type; it sets
no characteristic and counts for nobody at risk. Only forms in which patients are not named are listed here:
"call" and "written by" are not among them, for one calls patients, and patients write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from phiscan.model import Document, EntityType, Finding, Reason
from phiscan.screen.gazetteer import fold

REASON = "named for a role"

_BEFORE_CHARS, _AFTER_CHARS, _LINE_CHARS = 160, 40, 400
_NEXT = re.compile(
    r"\s{0,2}(?:,|;|and|&|or|et|ou)(?:\s{0,2}(?:and|or|et|ou))?\s{0,2}(?:M(?:me|lle|rs?|s)?\.?[ ])?"
)
# Directly before the name; those who follow in the same list are named for it, too.
_MADE_BY = re.compile(
    r"\b(?:(?:prepared|reviewed|approved|revised|presented|compiled|edited|translated|taught|facilitated|chaired"
    r"|moderated|designed|illustrated)[ ]by[ ]{0,2}:?"
    r"|(?:préparée?|révisée?|approuvée?|présentée?|traduite?|animée?|présidée?|illustrée?)s?[ ]par[ ]{0,2}:?"
    r"|(?:speakers?|presenters?|instructors?|facilitators?|moderators?|editors?|chair(?:person)?"
    r"|conférenci(?:er|ère)s?|format(?:eur|rice)s?|animat(?:eur|rice)s?|présidente?"
    r"|(?:principal[ ]|co-?)?investigators?|chercheu(?:r|re|se)s?(?:[ ]principa(?:le?|ux))?"
    r"|therapists?|thérapeutes?|staff|our[ ]team|notre[ ]équipe|votre[ ]équipe|personnel)[ ]{0,2}:)"
    r"[ \t]{0,3}(?:M(?:me|lle|rs?|s)?\.?[ ])?$",
    re.IGNORECASE,
)
# With a telephone number in the same line.
_ASK = re.compile(
    r"\b(?:ask(?:ing)?[ ]for|speak[ ](?:to|with)|demande[zr]|parle[zr][ ]à)[ ]{1,2}$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<!\d)\(?\d{3}\)?[ .-]{0,2}\d{3}[ .-]\d{4}(?!\d)")
_EXTENSION = re.compile(r"[,;]?[ ]\(?(?:ext(?:ension|\.)?|poste|local)[ ]?\d{2,6}\b", re.IGNORECASE)
# Professions that are also other words: only behind a whole name and before a sign or the end of a line.
_PROFESSION = re.compile(r",?[ ](?:PT|RMT|OT|RD|RDH|RKin|pht|erg)\.?(?=[,.;)\n|]|$)")
# Authors as journals print them: the surname first, initials without dots.
_CAPITAL = "A-ZÀ-ÖØ-Þ"
_AUTHOR = rf"[{_CAPITAL}][^\W\d_]+(?:[-'’ ][^\W\d_]+){{0,2}}[ ][{_CAPITAL}]{{1,3}}"  # noqa: RUF001 (names are written with it)
_AUTHORS = re.compile(
    rf"^(?:\[?\d{{1,3}}[.)\]]{{0,2}}[ \t]+|[-*•][ ])?{_AUTHOR}(?:,[ ](?:and[ ]|&[ ])?{_AUTHOR}|,?[ ]et al)+"
    r"(?=[.,:(\n \t]|\Z)",
    re.MULTILINE,
)
_LEARNED = re.compile(
    r"\bet al\b|\bdoi\b|\b(?:19|20)\d\d[ ]?;[ ]?\d{1,4}|\babstract\b|\brésumé\b|\bmethods\b|\bméthodes?\b"
    r"|\breferences\b|\bréférences\b|\bconflicts? of interest\b|\bconflits? d'intérêts?\b|\breprints\b"
    r"|\bcorresponding author\b|\bpmid\b|\bwe (?:describe|report|studied|conducted|enrolled)\b",
    re.IGNORECASE,
)
_WORDS = re.compile(r"[^\W\d_]{2,}")


def mark_roles(document: Document, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings; people named for a role without their characteristics, and with the reason."""
    text = document.text
    lists = _author_lists(text)
    found = list(findings)
    before: Finding | None = None  # the last person, if named for a role: a list may go on
    for index, finding in enumerate(found):
        if finding.entity_type is EntityType.PERSON and finding.bits:
            is_role = _is_role(text, finding, before, lists)
            before = finding if is_role else None
            if is_role:
                found[index] = _marked(finding)
    known = {word for finding in found if has_role(finding) for word in _words(text, finding)}
    return tuple(
        _marked(finding) if known and _is_bare_mention(text, finding, known) else finding for finding in found
    )


def has_role(finding: Finding) -> bool:
    """Tell whether a person was found to be named for a role."""
    return any(reason.detail == REASON for reason in finding.reasons)


def _marked(finding: Finding) -> Finding:
    reason = Reason("role", REASON, finding.score)
    return replace(finding, bits=frozenset(), reasons=(*finding.reasons, reason))


def _is_bare_mention(text: str, finding: Finding, known: set[str]) -> bool:
    """Tell whether a person is one word of the name of somebody who has a role: "Szymanski" further down."""
    if finding.entity_type is not EntityType.PERSON or not finding.bits:
        return False
    words = _words(text, finding)
    return len(words) == 1 and words[0] in known


def _words(text: str, finding: Finding) -> list[str]:
    return [fold(word) for word in _WORDS.findall(finding.span.of(text))]


def _is_role(text: str, finding: Finding, before: Finding | None, lists: Sequence[tuple[int, int]]) -> bool:
    start, end = finding.span.start, finding.span.end
    if any(low <= start and end <= high for low, high in lists):
        return True
    after = text[end : end + _AFTER_CHARS]
    if _EXTENSION.match(after) or (" " in finding.span.of(text) and _PROFESSION.match(after)):
        return True
    if before is not None:
        between = text[before.span.end : start]
        profession = _PROFESSION.match(between)
        if _NEXT.fullmatch(between, profession.end() if profession else 0):
            return True
    ahead = text[max(0, start - _BEFORE_CHARS) : start]
    if _MADE_BY.search(ahead):
        return True
    return _ASK.search(ahead) is not None and _NUMBER.search(_line(text, start, end)) is not None


def _line(text: str, start: int, end: int) -> str:
    """Return the line of a place, at most ``_LINE_CHARS`` to both sides."""
    low = max(0, start - _LINE_CHARS)
    high = text.find("\n", end, end + _LINE_CHARS)
    return text[max(low, text.rfind("\n", low, start) + 1) : high if high >= 0 else end + _LINE_CHARS]


def _author_lists(text: str) -> list[tuple[int, int]]:
    """Return where lists of authors stand, in a text that has other signs of a learned one."""
    if not _LEARNED.search(text):
        return []
    return [(match.start(), match.end() + 1) for match in _AUTHORS.finditer(text)]
