"""Contexts of staff: where a text is a roster or chat of staff, and columns and fields that hold who treats.

A field says what its value is in its own name (``ReferringPhysicianName``), in an attribute or a field before
it (``"role": "attending"``), or in a comment after it, as dumps of DICOM files have it.

Source: HL7 FHIR R4, resource elements of type Reference(Practitioner); HL7 CDA R2, 4.2; DICOM PS3.6, data
elements with value representation PN.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from itertools import islice
from typing import Final

from phiscan.lexicon.role_words import NAME_KEY, ROLE
from phiscan.model import Finding
from phiscan.screen.table_columns import Tables

_LINE_CHARS = 110  # of a line that are read before a name
# A roster of who is on call, and a row of it.
_ON_CALL: Final = re.compile(
    r"\bon[- ]?call\b|\bcall (?:schedule|roster|rota)\b|\b(?:liste|horaire|tour|m[ée]decins?) de garde\b",
    re.IGNORECASE,
)
_DAY: Final = re.compile(
    r"[ \t>*•-]{0,4}(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun|lun|mar|mer|jeu|ven|sam"
    r"|dim)(?:day|di|\.)?\b"
    r"[^\n]{0,80}?(?:\d{3}|\t| \| )",
    re.IGNORECASE,
)
_TITLE_CHARS = 300
# A chat of those who work together, by its title; and what precedes the name of who writes.
_STAFF_CHAT: Final = re.compile(
    r"\b(?:ward|unit|huddle|nursing|nurses|team|coordinators|staff|handoff|handover|rounds|gang|shift"
    r"|quart|soir|nuit|desk|étage|unité|équipe"
    r"|infirmières|coordonnatrices|caucus)\b",
    re.IGNORECASE,
)
_WRITES: Final = re.compile(
    r"^(?:(?=[^\W\d_]{2,15}(?:[ ]\([^()\n]{1,12}\))?,?[ ]\d{1,2}:\d\d(?:[ ]?[ap]m)?[ ]?[—–-])"  # noqa: RUF001 (texts are written with it)
    r"|\d{1,2}[:h]\d\d[ ](?=[^\W\d_]{2,15}(?:[ -][^\W\d_]{1,15}\.?)?[ ]?:[ ])"
    r"|\[(?:\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?,?[ ])?\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[ap]m)?\][ ])",
    re.IGNORECASE | re.MULTILINE,
)
_MIN_LINES = 3


class StaffPlaces:
    """Where a whole text is one of staff: a roster of who is on call, a chat of a ward."""

    def __init__(self, text: str, is_lay: Callable[[str, Finding], bool]) -> None:
        self._text, self._is_lay = text, is_lay
        self._columns = StaffColumns(text)
        self._is_roster = _ON_CALL.search(text, 0, _TITLE_CHARS) is not None
        lines = list(_WRITES.finditer(text))
        title = min(lines[0].start(), _TITLE_CHARS) if len(lines) >= _MIN_LINES else 0
        of_staff = title > 0 and _STAFF_CHAT.search(text, 0, title) is not None
        self._writers = {match.end() for match in lines} if of_staff else set()

    def hold(self, finding: Finding) -> bool:
        """Tell whether a name is in a row that begins with a day, or writes in the chat."""
        start = finding.span.start
        if start in self._writers:
            return True
        if self._columns.hold(start, finding.span.end):
            return not self._is_lay(self._text, finding)
        if not self._is_roster:
            return False
        line = self._text.rfind("\n", max(0, start - _LINE_CHARS), start) + 1
        return bool(_DAY.match(self._text, line)) and not self._is_lay(self._text, finding)


_WHO = (
    rf"(?:{ROLE}|(?:rn|lpn|rpn|np|md|do|gp|fp|pcp|mrp|rph|rrt|msw|sw|slp|ot|psw|cna|hca|ips|ipspl|pab|rmt"
    rf"|crna|ta"
    r"|inf|erg|pht|inh|doc|dr|dre|mds|m\.d|r\.n|cm|case[ ]mgr|prov|tech|ts|t\.s)\.?|providers?"
    r"|practitioners?|clinicien(?:ne)?"
    r"|technicians?|technicien(?:ne)?s?|therapists?|th[ée]rapeutes?|soignante?s?|intervenante?s?"
    r"|professionnel(?:le)?s?"
    r"|prescript(?:eur|rice)|vaccinat(?:or|eur|rice)|injector|assessor|evaluator|[ée]valuat(?:eur|rice)"
    r"|operator"
    r"|op[ée]rat(?:eur|rice)|fellow|preceptor|signataire|counsell?or|crew|hyg|staff"
    r"|care[ ]?giver[ ]on[ ]shift"
    r"|(?:referring|ordering|rendering|requesting|attending|admitting|treating|performing|reading|signing"
    r"|r[ée]f[ée]rent"
    r"|traitante?|requ[ée]rante?))"
)
_BEFORE = (
    r"(?:(?:primary|day|night|days|nights|am|pm|charge|circ|scrub|circulating|assigned|ref|resp|second"
    r"|first|1st|2nd|lead"
    r"|main|unit|on[ -]?call|home|family|fam|nom[ ]du|nom[ ]de[ ]la|name[ ]of|care|med|assistant|asst"
    r"|co)[ ./_-]{1,2}){0,2}"
)
_BEHIND = (
    r"(?:[ ./_-]{1,2}(?:name|nom|last[ ]?name|first[ ]?name|signature|initials?|initiales|on[ -]?call"
    r"|traitant|de[ ]garde|chef"
    r"|responsable|r[ée]f[ée]rante?|assigned|attitr[ée]e?|resp\.?|pivot|traitante|aux\.?|days?|nights?|am"
    r"|pm|jour|soir|nuit|1|2|3)"
    r"|[ ]?/[ ]?[a-z.]{2,12}){0,2}"
)
_HEAD: Final = re.compile(
    rf"(?:(?<=[|\t,;\n\"])|(?<=[ ][ ])|\A)[ ]?(?=\w)(?P<head>{_BEFORE}{_WHO}{_BEHIND}"
    r"|(?:collected|drawn|assessed|given|prescribed|ordered|referred|reviewed|seen|done|checked|verified"
    r"|vaccinated|injected"
    r"|performed|triaged|screened|dispensed|reported|rx|dx|tx|charted|dictated|interpreted)[ _]by"
    r"|(?:pr[ée]lev[ée]e?|prescrite?|vue?|fait|[ée]valu[ée]e?|administr[ée]e?|v[ée]rifi[ée]e?"
    r"|r[ée]f[ée]r[ée]e?|donn[ée]e?|vaccin[ée]e?)[ _]par)"
    r"(?=[ ]?[|\t,;\n\"\r]|[ ]{2}|\Z)",
    re.IGNORECASE,
)
# A line that may head a table: several cells, and no value among them.
_LINE = re.compile(r"^(?=[^\n]{0,400}?(?:[|\t,;]|[ ]{2}))[^\n\d]*(?:\d[^\n\d]*){0,2}$", re.MULTILINE)
_MAX_HEADS = 400


class StaffColumns:
    """Which places of a text lie in the columns of those who treat."""

    def __init__(self, text: str) -> None:
        tables = Tables(text)
        cells: set[tuple[int, int]] = set()
        heads = (head for line in _LINE.finditer(text) for head in _HEAD.finditer(text, *line.span()))
        for match in islice(heads, _MAX_HEADS):
            cells.update(tables.column(*match.span("head")) or ())
        self._cells = sorted(cells)

    def hold(self, start: int, end: int) -> bool:
        """Tell whether ``[start, end)`` lies in one of their cells."""
        index = bisect_right(self._cells, (start, end + (1 << 40))) - 1
        return index >= 0 and end <= self._cells[index][1]


_WHO_FIELD = (
    rf"(?:{ROLE}|mrp|pcp|practitioners?|provider|prov|prestataire|soignante?|requester|recorder|asserter"
    r"|performer|attester"
    r"|author|authenticator|legalAuthenticator|informationRecipient|assigned(?:Person|Author|Entity)"
    r"|responsible"
    r"|(?:referr|order|attend|admitt?|consult|perform|prescrib|dispens|operat|render|report|sign|author"
    r"|verif|collect"
    r"|interpret|read|treat|request|discharg|supervis)(?:ing|ed|er|or)?[ _-]?(?:by|provider|physician|doctor"
    r"|clinician|practitioner|party|md|surgeon|nurse))"
)
_NAME_ELEMENT = r"<(?:\w{1,8}:)?(?:name|nom|given|prenom|family|prefix|text|display)\b[^<>\n]{0,40}>"
_CAMEL = (
    r"(?-i:(?:[A-Z]?[a-z]{2,12}){0,3}(?:Physician|Practitioner|Provider|Surgeon|Nurse|Operators?|Technologist"
    r"|Doctor|Prescriber|Therapist|Clinician|Pharmacist|Medecin|Soignant|Prescripteur)s?(?:Nm"
    r"|(?:Of[A-Z]\w{1,10})?"
    r"(?:Full|Last|First|Family|Given)?Name)?"
    r"|(?:[a-z]{2,12}_){0,3}(?:physician|practitioner|provider|surgeon|nurse|operator|technologist|doctor"
    r"|prescriber"
    r"|therapist|clinician|pharmacist|md|medecin|infirmiere|soignant|prescripteur)(?:_(?:full|last|first"
    r"|family"
    r"|given))?(?:_(?:name|nm|nom|prenom|last|first))?)"
)
# What is before such a value; without look-around, for two kinds of engines.
FIELD_BEFORE = (
    # <MRP msp="1">, <assignedPerson><name><given>
    rf"<(?:\w{{1,8}}:)?{_WHO_FIELD}(?:[ ][^<>\n]{{0,60}})?>(?:\s{{0,12}}{_NAME_ELEMENT}"
    r"(?:[^<>\n]{1,24}</\w{1,12}>)?){0,3}\s{0,12}"
    # <Person role="RN">
    rf"|<\w{{1,24}}(?:[ ][^<>\n]{{0,40}})?[ ](?:role|type|fonction)=\"(?:rn|md|np|mrp|pcp|rpn|lpn"
    rf"|{_WHO_FIELD})\"[^<>\n]{{0,40}}>"
    # "requester": {"reference": "Practitioner/1", "display": "
    rf"|\"{_WHO_FIELD}\"[ ]?:\s{{0,8}}(?:[\[{{]\s{{0,8}}){{0,3}}"
    rf"(?:\"\w{{1,20}}\"[ ]?:[ ]?\"[^\"\n]{{0,40}}\",\s{{0,8}}){{0,2}}"
    rf"(?:\"{NAME_KEY}\"[ ]?:[ ]?\[?)?\""
    # "par": "
    r"|\"(?:par|by|sign[ée]e?(?:_?par)?|signed(?:_?by)?|pr[ée]lev[ée]_?par|valid[ée]_?par"
    r"|conseill[èe]re?)\"[ ]?:[ ]?\""
    # "role": "attending", "display": "
    rf"|\"(?:role|type|function|fonction)\"[ ]?:[ ]?\"(?:rn|md|np|mrp|pcp|rendering|attending|referring"
    rf"|ordering|{_WHO_FIELD})"
    rf"\",\s{{0,8}}\"{NAME_KEY}\"[ ]?:[ ]?\""
    # ReferringPhysicianName: ; (0008,0090) PN [
    rf"|{_CAMEL}[\"']?[ ]{{0,3}}[:=][ ]{{0,3}}[\"'\[]?"
    r"|\((?:0008,(?:0090|1048|1050|1060|1062|1070)|0032,1032|0040,a(?:075|123))\)[ ]PN[ ]\["
)
# The comment of a dump after it.
FIELD_AFTER = r"\][ \t]{0,40}#[ ]{0,3}[\d, ]{0,8}\w{0,30}(?:Physician|Operator|Observer|Technologist)"
