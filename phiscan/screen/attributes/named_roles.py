"""People named for a role, by the words around the name or a citation: findings without characteristics.

A price list names its therapists, a reference its authors, a manual whom to ask for. The text is not about
their health. The finding remains, with its offsets and type; it sets no characteristic and is not counted
among the people at risk. The patterns are forms in which patients are not named: "call" and "written by" are
not among them, since patients are called, and patients write.

``mark_about_file``: office programs and cameras note their user in every file. What is found in these fields
sets no characteristic either, or each leaflet with an author would join health information to a person.
Titles, subjects, comments and keywords are not exempt: people put patients' names there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from phiscan.lexicon.capitalized_words import has_civil_title
from phiscan.lexicon.gazetteer import fold
from phiscan.model import Document, EntityType, Finding, Span
from phiscan.screen.attributes.citations import cited
from phiscan.screen.ner.tagger import SOURCE as TAGGER
from phiscan.text.intervals import is_within, line_bounds, merged

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
# Whose name is not known, or nobody's; also in two fields or cells.
_NOBODY = re.compile(r"(?i)\b(?:(?:john|jane|baby)\W{1,4}(?:\w{0,12}name\W{1,4})?doe|doe, ?(?:john|jane))\b")
# With a telephone number in the same line.
_ASK = re.compile(
    r"\b(?:ask(?:ing)?[ ]for|speak[ ](?:to|with)|demande[zr]|parle[zr][ ]à)[ ]{1,2}$", re.IGNORECASE
)
_NUMBER = re.compile(r"(?<!\d)\(?\d{3}\)?[ .-]{0,2}\d{3}[ .-]\d{4}(?!\d)")
_EXTENSION = re.compile(
    r"[,;]?[ ]\(?(?:(?:ext(?:ension|\.)?|poste|local)[ ]?\d{2,6}|at[ ](?:x[ ]?)?\d-?\d{3,4})(?![\d-])",
    re.IGNORECASE,
)
_JOB_AFTER = re.compile(rf",?[ ](?:\([^()\n]{{0,24}}\b)?{_JOB}\b", re.IGNORECASE)
_DEPARTMENT = re.compile(
    r"[ ]\((?:chair|guest|recorder|finance|hr|it|ti|rh"
    r"|[^()\n]{0,20}\b(?:office|support|services?|department|team|équipe))\)",
    re.IGNORECASE,
)
# Professions that are also other words: only after a whole name and before a sign or the end of a line.
_PROFESSION = re.compile(r",?[ ](?:PT|RMT|OT|RD|RDH|RKin|pht|erg)\.?(?=[,.;)\n|]|$)")
# A name that a rule found together with the degree after it.
_DEGREE_INSIDE = re.compile(r"[ ](?:PharmD|MD|RN|NP|PhD|BScN|MSc|MPH|RPh|LPN|DDS)$")
_WORDS = re.compile(r"[^\W\d_]{2,}")
# An author as journals print them, with the number of an affiliation that is spelled out further on.
_NUMBERED = re.compile(r"[ ]?\d[\d,*†]{0,8}[ ]?(?=,[ ]|;|\n|\Z|(?:and|et|&)\b)")
_AFFILIATION = re.compile(
    r"^[ ]?1[ .]{0,2}[^\n;]{0,80}?(?:Universit|Institut|School|Facult|College|D[eé]parte?ment)",
    re.MULTILINE,
)


def mark_roles(text: str, findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings; people named for a role without their characteristics, and with the reason."""
    found = list(findings)
    if not any(one.entity_type is EntityType.PERSON for one in found):
        return tuple(found)
    places = merged(cited(text))
    authors = _authors(text, found)
    before: Finding | None = None  # the last person, if named for a role: a list may go on
    for index, finding in enumerate(found):
        if finding.entity_type is EntityType.PERSON and finding.bits:
            is_role = _is_role(text, finding, before, places) or tuple(_words(text, finding)) in authors
            before = finding if is_role else None
            if is_role:
                found[index] = finding.set_aside("role", REASON)
            elif _MADE_UP.match(text, finding.span.end) or _is_nobody(text, finding.span):
                found[index] = finding.set_aside("role", MADE_UP)
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


def _is_nobody(text: str, span: Span) -> bool:
    """Tell whether a name is one that stands for an unknown or an invented person."""
    near = _NOBODY.finditer(text, max(span.start - _BEFORE_CHARS, 0), span.end + _BEFORE_CHARS)
    return is_within(span.start, span.end, [one.span() for one in near])


def _authors(text: str, findings: Iterable[Finding]) -> set[tuple[str, ...]]:
    """Return the words of the names of authors, two or more, whose affiliations are numbered."""
    names = (one for one in findings if one.entity_type is EntityType.PERSON)
    numbered = {tuple(_words(text, one)) for one in names if _NUMBERED.match(text, one.span.end)}
    return numbered if len(numbered) > 1 and _AFFILIATION.search(text) else set()


def has_role(finding: Finding) -> bool:
    """Tell whether a person was found to be named for a role, or said to be made up."""
    return finding.was_set_aside(REASON) or finding.was_set_aside(MADE_UP)


def _is_bare_mention(text: str, finding: Finding, known: set[str]) -> bool:
    """Tell whether a person is one word of the name of a member of staff: "Szymanski" further down.

    After a title or a label it may be another person of that name.
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
    if _EXTENSION.match(after) or _JOB_AFTER.match(after) or _DEPARTMENT.match(after):
        return True
    if " " in name and _PROFESSION.match(after):
        return True
    if before is not None:
        between = text[before.span.end : start]
        profession = _PROFESSION.match(between) or _JOB_AFTER.match(between)
        if _NEXT.fullmatch(between, profession.end() if profession else 0):
            return True
    ahead = text[max(0, start - _BEFORE_CHARS) : start]
    if _MADE_BY.search(ahead):
        return True
    line = text[slice(*line_bounds(text, start, end, _LINE_CHARS))]
    return bool(_MEETING.match(line) or (_ASK.search(ahead) and _NUMBER.search(line)))


FILE_PLACES = ("#properties", "#metadata")
"""How the locators of a file's own properties end."""

# Of authorship, programs and times, as all our readers write them, letters only.
_FILE_LABELS = frozenset(
    (
        *("application", "appname", "appversion", "artist", "author", "company", "created", "createdate"),
        *("creationdate", "creator", "creatortool", "date", "datetime", "datetimedigitized"),
        *("datetimeoriginal", "editingduration", "generator", "hostcomputer", "initialcreator"),
        *("lastauthor", "lastmodifiedby", "lastprinted", "lastsaved", "lastsavedby", "lastsavedtime", "make"),
        *("manager", "metadatadate", "moddate", "model", "modified", "modifydate", "printdate", "producer"),
        *("program", "software", "template", "totaltime"),
    )
)

FILE_REASON = "names the author of the file"
_LABEL = re.compile(r"([^:\n]{1,40}):[ \t]")
_NOT_A_LETTER = re.compile(r"[^a-z]")


def mark_about_file(document: Document, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield the findings; those about the file itself without their characteristics, and with the reason."""
    for finding in findings:
        if _is_about_file(document, finding):
            yield finding.set_aside("place", FILE_REASON)
        else:
            yield finding


def is_marked(finding: Finding) -> bool:
    """Tell whether a finding was found to be about the file."""
    return finding.was_set_aside(FILE_REASON)


def _is_about_file(document: Document, finding: Finding) -> bool:
    start = finding.span.start
    if not document.locate(start).endswith(FILE_PLACES):
        return False
    begin = document.text.rfind("\n", 0, start) + 1
    label = _LABEL.match(document.text, begin)
    return label is not None and _NOT_A_LETTER.sub("", label[1].lower()) in _FILE_LABELS
