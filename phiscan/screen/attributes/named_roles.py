"""People whom a text names for what they do: who wrote it, who answers the telephone, who treats.

A price list names its therapists, an abstract its authors, a manual whom to ask for. Nobody of them is the
one whose health the text speaks of. What is found there stays a finding, with its place and type; it sets
no characteristic and counts for nobody at risk. Only forms in which patients are not named are listed here:
"call" and "written by" are not among them, for one calls patients, and patients write.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from phiscan.lexicon.capitalized_words import has_civil_title
from phiscan.lexicon.gazetteer import fold
from phiscan.model import Document, EntityType, Finding
from phiscan.screen.attributes.bylines import authors, cited
from phiscan.screen.attributes.staff_tables import staff_tables
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.screen.resolution import is_within, merged
from phiscan.text.chunks import line_bounds

REASON = "named for a role"
MADE_UP = "said to be made up"

_BEFORE_CHARS, _AFTER_CHARS, _LINE_CHARS = 48, 60, 400
_TITLE = r"(?:M(?:me|lle|rs?|s)?\.?[ ])?"
_NEXT = re.compile(rf"[ ]|\s{{0,2}}(?:,|;|and|&|or|et|ou)(?:\s{{0,2}}(?:and|or|et|ou))?\s{{0,2}}{_TITLE}")
# Who works, as a word before or after the name. What patients are as well in their records (teacher, driver)
# is not among them.
_JOB = (
    r"(?:secretary|clerk|manager|supervisor|director|co-?ordinator|administrator|(?:team|project|unit)[ ]lead"
    r"|educator|instructor|professor|lecturer|examiner|librarian|curator|archivist|treasurer|chaplain|registrar"
    r"|chair(?:man|woman|person)?|dietitian|nutritionist|technologist|physiotherapist|help[ ]?desk"
    r"|reception(?:ist)?|editor|investigator"
    r"|secrétaire|secrétariat|commis|gestionnaire|direct(?:eur|rice)|coordonnat(?:eur|rice)|chef(?:fe)?|enseignante?"
    r"|chargée?[ ]de[ ]cours|examinat(?:eur|rice)|bibliothécaire|archiviste|présidente?|trésori(?:er|ère)"
    r"|aumônier|nutritionniste|diététiste|technologue|inhalothérapeute|inh\.|adjointe?|responsable|réception"
    r"|préposée?)"
)
_DONE = (
    r"(?:prepared|reviewed|approved|revised|presented|compiled|edited|translated|taught|facilitated|chaired|moderated"
    r"|designed|illustrated|recorded|counted|logged|entered|verified|checked|created|modified|updated|posted|issued"
    r"|drafted|typed|moved|seconded)"
)
_FAIT = (
    r"(?:préparé|révisé|approuvé|présenté|traduit|animé|présidé|illustré|consigné|compté|saisi|vérifié|créé|modifié"
    r"|mis à jour|proposé|appuyé)e?s?"
)
# Directly before the name; those who follow in the same list are named for it, too.
_MADE_BY = re.compile(
    rf"\b(?:{_DONE}(?:[ ](?:on[ ])?[\d/.-]{{4,10}})?[ ]by[ ]{{0,2}}:?|(?:moved|seconded):?"
    rf"|assigned(?:[ ]to)?:|{_FAIT}(?:[ ](?:le[ ])?[\d/.-]{{4,10}})?[ ]par[ ]{{0,2}}:?"
    r"|(?:team|équipe|support|help[ ]?desk)[ ](?:\(|/[ ])"
    rf"|{_JOB}(?:[ ]{{0,2}}:|,)?"
    r"|(?:speakers?|presenters?|facilitators?|moderators?|panell?ists?|hosts?|guests?|invitée?s?"
    r"|conférenci(?:er|ère)s?|format(?:eur|rice)s?"
    r"|animat(?:eur|rice)s?|instructors?|editors?|investigators?"
    r"|chercheu(?:r|re|se)s?(?:[ ]principa(?:le?|ux))?"
    rf"|therapists?|thérapeutes?|staff|our[ ]team|notre[ ]équipe|votre[ ]équipe|personnel)[ ]{{0,2}}:)"
    rf"[ \t]{{0,3}}{_TITLE}$",
    re.IGNORECASE,
)
# At the start of a line: everybody on it was at a meeting, or changed a version of the text.
_MEETING = re.compile(
    r"[ \t>*•-]{0,6}(?:present|in attendance|attendees?|attending|participants?|regrets|apologies|absent"
    r"|guests?|(?:étaient )?présente?s|absente?s|excusée?s|invitée?s)[ ]?:"
    r"|[ \t|*•-]{0,6}(?:rev(?:ision)?|révision|v(?:er(?:sion)?)?)\.?[ ]?\d[\d.]{0,5}[ \t|,:(-]{1,8}"
    r"[^\n]{0,20}\b(?:19|20)\d\d\b",
    re.IGNORECASE,
)
# Right after the name, or after the others of its brackets.
_MADE_UP = re.compile(
    r"[\"”»]?[ ]?(?:\([ ]?|(?:(?:,|[ ]et|[ ]and)[ ][^\W\d_]{2,20}){0,6},[ ])"
    r"(?:(?:not|pas)[ ](?:(?:his|her|their|the|son|leur)[ ])?(?:real|vrai|true)[ ](?:name|nom)"
    r"|(?:a[ ])?pseudonyme?s?\b|(?:pré)?noms?[ ](?:fictifs?|changés?|modifiés?|d['’]emprunt)"  # noqa: RUF001
    r"|(?:a[ ])?(?:fictitious|fictional|made-up|invented)\b"
    r"|names?[ ](?:has been[ ]|have been[ ]|was[ ])?changed)",
    re.IGNORECASE,
)
# With a telephone number in the same line.
_ASK = re.compile(
    r"\b(?:ask(?:ing)?[ ]for|speak[ ](?:to|with)|demande[zr]|parle[zr][ ]à)[ ]{1,2}$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<!\d)\(?\d{3}\)?[ .-]{0,2}\d{3}[ .-]\d{4}(?!\d)")
_EXTENSION = re.compile(
    r"[,;]?[ ]\(?(?:(?:ext(?:ension|\.)?|poste|local)[ ]?\d{2,6}|at[ ](?:x[ ]?)?\d-?\d{3,4})(?![\d-])",
    re.IGNORECASE,
)
_JOB_BEHIND = re.compile(rf",?[ ](?:\([^()\n]{{0,24}}\b)?{_JOB}\b", re.IGNORECASE)
_DEPARTMENT = re.compile(
    r"[ ]\((?:chair|guest|recorder|finance|hr|it|ti|rh"
    r"|[^()\n]{0,20}\b(?:office|support|services?|department|team|équipe))\)",
    re.IGNORECASE,
)
# Professions that are also other words: only after a whole name and before a sign or the end of a line.
_PROFESSION = re.compile(r",?[ ](?:PT|RMT|OT|RD|RDH|RKin|pht|erg)\.?(?=[,.;)\n|]|$)")
# A name that a rule found together with the degree after it.
_DEGREE_INSIDE = re.compile(r"[ ](?:PharmD|MD|RN|NP|PhD|BScN|MSc|MPH|RPh|LPN|DDS)$")
# How to reach whoever wrote an article.
_CONTACT = frozenset(
    {
        EntityType.PHONE,
        EntityType.FAX,
        EntityType.EMAIL,
        EntityType.STREET_ADDRESS,
        EntityType.POSTAL_CODE,
    }
)
_WORDS = re.compile(r"[^\W\d_]{2,}")


def mark_roles(document: Document, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings; people named for a role without their characteristics, and with the reason."""
    text = document.text
    found = list(findings)
    if not may_have_role(found):
        return tuple(found)
    writers = merged(authors(text))
    is_somebody = any(finding.entity_type is EntityType.PERSON for finding in found)
    places = merged([*writers, *cited(text), *staff_tables(text)]) if is_somebody else writers
    before: Finding | None = None  # the last person, if named for a role: a list may go on
    for index, finding in enumerate(found):
        if finding.entity_type is EntityType.PERSON and finding.bits:
            is_role = _is_role(text, finding, before, places)
            before = finding if is_role else None
            if is_role:
                found[index] = finding.set_aside("role", REASON)
            elif _MADE_UP.match(text, finding.span.end):
                found[index] = finding.set_aside("role", MADE_UP)
        elif finding.entity_type in _CONTACT and is_within(finding.span.start, finding.span.end, writers):
            found[index] = finding.set_aside("role", REASON)
    working = (one for one in found if has_role(one) or one.entity_type is EntityType.HEALTH_PROFESSIONAL)
    known = {word for finding in working for word in _words(text, finding)}
    for finding in found:  # a surname that somebody else bears as well is not theirs alone
        names = _words(text, finding)
        if finding.entity_type is EntityType.PERSON and len(names) > 1 and not has_role(finding):
            known.difference_update(names)
    return tuple(
        finding.set_aside("role", REASON) if known and _is_bare_mention(text, finding, known) else finding
        for finding in found
    )


def may_have_role(findings: Iterable[Finding]) -> bool:
    """Tell whether one of the findings is of a kind that a role sets aside: a person, or contact data."""
    return any(one.entity_type is EntityType.PERSON or one.entity_type in _CONTACT for one in findings)


def has_role(finding: Finding) -> bool:
    """Tell whether a person was found to be named for a role, or to be nobody."""
    return finding.was_set_aside(REASON) or finding.was_set_aside(MADE_UP)


def _is_bare_mention(text: str, finding: Finding, known: set[str]) -> bool:
    """Tell whether a person is one word of the name of somebody who works there: "Szymanski" further down.

    Behind a title or a label it may be somebody else of that name.
    """
    if finding.entity_type is not EntityType.PERSON or not finding.bits or finding.source != TAGGER:
        return False
    words = _words(text, finding)
    return len(words) == 1 and words[0] in known and not has_civil_title(text, finding.span.start)


def _words(text: str, finding: Finding) -> list[str]:
    return [fold(word) for word in _WORDS.findall(finding.span.of(text))]


def _is_role(text: str, finding: Finding, before: Finding | None, places: Sequence[tuple[int, int]]) -> bool:
    start, end = finding.span.start, finding.span.end
    name = finding.span.of(text)
    if is_within(start, end, places) or _DEGREE_INSIDE.search(name):
        return True
    after = text[end : end + _AFTER_CHARS]
    if _EXTENSION.match(after) or _JOB_BEHIND.match(after) or _DEPARTMENT.match(after):
        return True
    if " " in name and _PROFESSION.match(after):
        return True
    if before is not None:
        between = text[before.span.end : start]
        profession = _PROFESSION.match(between) or _JOB_BEHIND.match(between)
        if _NEXT.fullmatch(between, profession.end() if profession else 0):
            return True
    ahead = text[max(0, start - _BEFORE_CHARS) : start]
    if _MADE_BY.search(ahead):
        return True
    line = _line(text, start, end)
    return bool(_MEETING.match(line) or (_ASK.search(ahead) and _NUMBER.search(line)))


def _line(text: str, start: int, end: int) -> str:
    """Return the line of a place, at most ``_LINE_CHARS`` to both sides."""
    return text[slice(*line_bounds(text, start, end, _LINE_CHARS))]
