"""Of whom a learned text tells: in an article or a monograph most names are of whoever wrote or found.

A text of four signs of an article, or with two references, names authors, editors, physicians of a hundred
years ago. Somebody in it is taken for a patient where it says so: by a label, a title, an age, a relative,
what is done to patients alone, or as he or she. Where it has a number that only patients have, or a date of
birth, nobody is set aside for it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from phiscan.model import EntityType, Finding
from phiscan.screen.bylines import is_article
from phiscan.screen.citations import references
from phiscan.screen.role_words import KIN

MIN_REFERENCES = 2
# What only patients and insured people have.
_OF_PATIENTS = frozenset(
    {
        EntityType.DATE_OF_BIRTH,
        EntityType.HEALTH_CARD,
        EntityType.HEALTH_PLAN,
        EntityType.MRN,
        EntityType.SIN,
        EntityType.SSN,
    }
)
# What stands beside the name of whoever has it, in the same line.
_NUMBERS = _OF_PATIENTS | {
    EntityType.OTHER_ID,
    EntityType.ACCOUNT,
    EntityType.BIOMETRIC,
    EntityType.AGE_OVER_89,
}
_WORD = re.compile(r"[^\W\d_]{2}")  # "Mrs. A." is nobody
_QUOTED = re.compile(r"[\"“«][ ]?(?:M(?:rs?|s|me|lle)\.? )?\Z")  # and so is "Mr. Yellow" of a lesson
_REACH = 70  # characters before and behind a name that are read
_BEFORE = re.compile(
    r"(?:\b(?:patiente?s?|pts?|clients?|usag(?:er|ère)s?|residents?|résidente?s?|participante?s?|subject|case|cas|index"
    r"|named|nommée?|mrs?|ms|miss|mme|mlle|monsieur|madame|m|boy|girl|garçon|wom[ae]n|m[ae]n|homme|widow|grandma|grandpa"
    r"|family|famille|survivors?|survivante?s?|donor|recipient|claimant|deceased|late|défunte?|re|objet|name|nom"
    rf"|consent(?:ed)?|consentement|{KIN})(?:['’]s)?"  # noqa: RUF001 (texts are written with it)
    r"[ .,:;()|\t\n\"“«-]{1,6}(?:(?:is|was|of|de|la|le|du|our|notre|her|his|named|called|M\.|Mme)[ ]|d['’])?"  # noqa: RUF001
    r"|\d[ -]?(?:year|yr|y/?o|ans)\b[^.\n]{0,30})$",
    re.IGNORECASE,
)
_BEHIND = re.compile(
    r"(?:['’]?s)?,?(?:\n|[ \t|]{1,6})\(?"  # noqa: RUF001 (texts are written with it)
    r"(?:(?:who|qui|now|then|alors|aged|âgée? de|is|was|est|était|had|has|a|avait)[ ]){0,3}"
    r"(?:\d{1,3}[ -]?(?:years?|yo\b|y/o|ans)|\d{1,3}(?=,[ ][a-z])|[MF]\b|DOB\b|born\b|née?\b"
    r"|MRN\b|(?:re)?admitted|discharged|diagnosed|presented with|underwent|complain|denie[sd]|collapsed"
    r"|fell\b|vomit|bled\b|died\b|was (?:given|seen|treated|intubated|operated)|souffr"
    r"|(?:a |est )?(?:chuté|tombée?|décédée?|mort[e]?\b)"
    r"|(?:been |été )?(?:hospitalisée?|admise?|opérée?|traitée?|diagnostiquée?)|s['’]est plaint"  # noqa: RUF001
    r"|(?:been |un |une )?(?:cancer|stroke|AVC|diabet|diabèt|leuk|leuc|tumou?r|tumeur|seizure|convulsion))",
    re.IGNORECASE,
)
# Whom the same paragraph calls he or she; "il faut" and "il y a" call nobody.
_PRONOUN_BEFORE, _PRONOUN_BEHIND = 100, 160
_PRONOUN = re.compile(
    r"\b(?:he|she|his|her|him|hers|elle"
    r"|il(?![ ](?:y|n['’]y|faut|s['’]agit|convient|semble|existe|est (?:import|poss|néc))))\b",  # noqa: RUF001
    re.IGNORECASE,
)


def is_learned(text: str) -> bool:
    """Tell whether a text is an article or made like one, or cites two works."""
    return is_article(text) or len(references(text)) >= MIN_REFERENCES


def has_patient_number(findings: Sequence[Finding]) -> bool:
    """Tell whether something was found that only patients have."""
    return any(finding.entity_type in _OF_PATIENTS and finding.bits for finding in findings)


def is_told_of(text: str, start: int, end: int) -> bool:
    """Tell whether a text says of the name ``[start, end)`` that a patient or a relative bears it.

    >>> text = "Halloran saw 40 of them. Delphine Arsenault, 78, fell at home."
    >>> is_told_of(text, 0, 8), is_told_of(text, 25, 43)
    (False, True)
    """
    if not _WORD.search(text, start, end) or _QUOTED.search(text, max(0, start - 8), start):
        return False
    if "^" in text[start:end]:  # as HL7 and DICOM write patients
        return True
    before = text[max(0, start - _REACH) : start]
    if _BEFORE.search(before) or _BEHIND.match(text[end : end + _REACH]):
        return True
    behind = text[end : end + _PRONOUN_BEHIND].partition("\n\n")[0]
    ahead = text[max(0, start - _PRONOUN_BEFORE) : start].rpartition("\n\n")[2]
    return bool(_PRONOUN.search(behind) or _PRONOUN.search(ahead))


def is_numbered(text: str, findings: Sequence[Finding], index: int) -> bool:
    """Tell whether a number or an old age is the finding right before or behind a name, in its line."""
    span = findings[index].span
    for near in (index - 1, index + 1):
        if 0 <= near < len(findings) and findings[near].entity_type in _NUMBERS:
            other = findings[near].span
            between = text[min(span.end, other.end) : max(span.start, other.start)]
            if len(between) <= _REACH and "\n" not in between:
                return True
    return False
