"""Health professionals: names get this type by a role before them, a degree after them, or a repeated name.

Most recognizers find the name alone; its role is in the words around it. A name after a word for a patient or
a relative ("Mrs", "his wife", "Patient:") never gets the type, nor does a surname that both have.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from phiscan.lexicon.gazetteer import PARTICLES, fold
from phiscan.lexicon.identifier_labels import BIRTH_DATE, RECORD, label_words
from phiscan.lexicon.role_words import CREDENTIAL, DONE_BY, GAP, KIN, NAME_KEY, ROLE, SHORT, TITLE
from phiscan.model import EntityType, Finding, PiiBit, Reason, Span
from phiscan.text.automata import automaton

# A field that holds who treats says so in its own name (``ReferringPhysicianName``), in an attribute or a
# field before it, or in a comment after it, as in dumps of DICOM files. Source: HL7 FHIR R4, elements of type
# Reference(Practitioner); HL7 CDA R2, 4.2; DICOM PS3.6, data elements with value representation PN.
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
_FIELD_BEFORE = (
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
_FIELD_AFTER = r"\][ \t]{0,40}#[ ]{0,3}[\d, ]{0,8}\w{0,30}(?:Physician|Operator|Observer|Technologist)"
_BEFORE: Final = re.compile(
    rf"(?:(?<![\w-])(?:{TITLE}"
    # label and value
    rf"|{ROLE}(?:['’]s)?(?:[ ](?:signature|name|de[ ]famille|traitante?|r[ée]f[ée]rante?"  # noqa: RUF001 (texts are written with it)
    rf"|requ[ée]rante?))?{GAP}"
    rf"|{SHORT}{GAP}|(?<=\n){ROLE}[ ]?:?[ ]{{0,3}}\n[ ]{{0,8}}"
    # running text
    rf"|(?<!retired )(?<!former )(?<!ancienne )(?<!a )(?<!an ){ROLE}[ ]"
    r"|(?-i:RN|LPN|RPN|NP|RPh|MD|RRT|CRNA|MSW|SW|LCSW|PSW|CNA|HCA|MLT|OD|SF|PI|IPS|TS|MRP|w/[ ]fellow|backup"
    r"|RT|OT|SLP|CM|RCP|T\.S\.|R[1-6]|PGY-?[1-7]|CC[34]|MS[34]|PAB|[Cc]harge|CHARGE"
    r"|[Cc]rew[ ]\d|reviewer)[ ]|(?:psw|hca|rn|lpn|rpn|cna|msw|rrt|lcsw|ipspl|inf\.?|hyg\.|sw|ot|slp)[ ]"
    # in brackets after what is done, as in with OT (Thaddeus)
    rf"|(?:{ROLE}|(?-i:RN|OT|SLP|RT|NP|SW|MSW|RD|MA)|(?:slp|ot|pt|psych|wound|diet"
    rf"|cardio)[ ]referral)[ ]\("
    # a line for a signature, as in charge nurse of ED to countersign
    rf"|{ROLE}(?:[ ][^\W\d]{{1,12}}){{0,5}}[ ](?:countersign|sign|signature"
    rf"|initials?)[ ]?:[ ]{{0,2}}_{{0,20}}[ ]?"
    # "my nurse, Hope"
    rf"|(?:my|our|your|notre|votre|mon|ma)[ ](?:[^\W\d]{{1,14}}[ ]){{0,2}}(?:{ROLE}|(?-i:RN|NP|OT|PT|SLP"
    rf"|SW|RD|GP)),[ ]"
    rf"|(?:{ROLE}|(?-i:RN|LPN|RPN|NP|RT|OT|PT|PCP|MRP|GP|CHR|CHW|SW|MSW|PSW|HCA|CNA|RRT"
    rf"|PI))(?:,?[ ][^\W\d]{{1,8}}){{0,6}}[ ]"
    r"(?:is|was|est|named|called|nomm[ée]e?|as|being)[ ]"
    rf"|{DONE_BY}{GAP}|{DONE_BY}[ ]|par=[\"']?"
    # <prescripteur permis="1"> <nom>, "prescriber": {"name": "
    rf"|{ROLE}(?:[ ]\w{{1,20}}=\"[^\"\n]{{0,40}}\")?[\"' >:={{\[\n]{{1,24}}<?"
    rf"{NAME_KEY}[\">:=' \[{{]{{1,8}})|{_FIELD_BEFORE})"
    r"(?:(?-i:RN|NP|MD|OT|RT|SLP|LPN|RPN|PA|RPh)[ ])?(?:M(?:me|lle|r|rs|s)?\.?[ ])?\"?$",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    r"[\"']?[ ,;]{1,2}role=[\"']?(?:RN|MD|DO|NP|PA|LPN|RPN|RPH|RT|PHYSICIAN|NURSE|PHARMACIST)\b|"
    rf"(?:[ ]?,[ ]?|[ ]{{1,3}}|[ ]?\(|[ ][-–][ ])(?-i:{CREDENTIAL})(?![\w-])"  # noqa: RUF001 (texts are written with it)
    r"|(?:,[ ]?|[ ]?\(|[ ][-–/][ ])(?:(?:le|la|the|your|our|votre|notre)[ ])?"  # noqa: RUF001 (texts are written with it)
    rf"{ROLE}(?=[ ]?(?:[,.;:)\n|]|[ ]{{2}}|$|at\b|de\b|du\b|of\b))"
    # the line below a signature
    rf"|\.?[ ]?\r?\n[ >]{{0,8}}(?-i:(?:[A-Z]{{2}}[ ])?{CREDENTIAL})(?=[ ]{{2}}|[ ]?[,(\n]"
    rf"|[ ][A-Z]{{0,4}}\d|\Z)"
    rf"|[ ]?\r?\n[ >]{{0,8}}(?:[^\W\d_]{{2,14}}[ ]){{0,2}}{ROLE}"
    r"(?=,[ ]|[ ](?:at|of|de|du|[-–—])[ ])"  # noqa: RUF001 (texts are written with it)
    # a licence to treat
    rf"|[ ,]{{1,4}}(?-i:NPI|CPS[A-Z]{{1,4}}|C[RN]N[A-Z]{{0,2}}|BCC?NM|CMQ|O[A-Z]{{2,7}}Q"
    rf"|RCDSO)[ #:]{{0,3}}(?:no\.?[ ]?)?\w?\d"
    r"|[ ](?:pab|psw|lpn|rpn|rn|np|inf(?:\.?[ ]?aux)?\.?|pr[ée]pos[ée]e?|cna|hca)[ ]?:"
    # of a chat: "sunny (rt)"
    r"|[ ]\((?:sw|charge|rt|rn|ot|slp|md|np|pab|inf|aux|pa|hca|resp)\b[^()\n]{0,10}\)"
    rf"|{_FIELD_AFTER}",
    re.IGNORECASE,
)
_LAY: Final = re.compile(
    rf"(?<![\w])(?:{KIN}(?:[ ]{{0,2}}[:=,(|][ ]{{0,3}}|[ ](?:is[ ])?|\t)"
    r"|(?:patiente?s?|pts?|clients?|usag(?:er|ère)|r[ée]sidente?|b[ée]n[ée]ficiaire|claimant|insured"
    r"|member|subscriber"
    r"|employee|employ[ée]e?|student|[ée]l[èe]ve|re|objet|regarding|mrs?|ms|miss|m\.|mme|mlle|monsieur|madame"
    r"|mademoiselle|emergency[ ]contact|next[ ]of[ ]kin)(?:['’]s)?(?:[ ](?:name|nom))?[ .]{0,3}[:="  # noqa: RUF001 (texts are written with it)
    r"|\t]?[ \t\"']{0,12}"
    r"|(?<!user)(?<!doctor )(?<!du m[ée]decin )(?:full[ ]|complet[ ]?)?(?:name|nom)[ ]?:[ ]{1,3})\"?$",
    re.IGNORECASE,
)
_LAY_SURE: Final = re.compile(
    rf"(?<!\w)(?:{KIN}|patiente?s?|pts?|usag(?:er|ère)|mrs?|ms|miss|m|mme|mlle|monsieur|madame)\b\W{{0,6}}$",
    re.IGNORECASE,
)
_LABELS: Final = "|".join(label_words(BIRTH_DATE, RECORD))
_TREATED: Final = re.compile(
    rf"[ ]?[,(|\t ][ ]{{0,3}}(?:(?:is[ ])?an?[ ])?(?:{_LABELS}|d\.o\.b|n[ée]e?[ ]le"
    r"|\d{1,3}[ -]?(?:y\b|yo\b|y/o|ans\b|year|[mf]\b)|[MF][ ]\d{1,3}\b)",
    re.IGNORECASE,
)
# A remark after a comma or a figure that the name took along: "agbaje, gi", "Mahajan 0215", "Hoang, sera".
_TAIL: Final = re.compile(
    rf"(?:,[ ][a-zà-ÿ]{{2,6}}|[ ]\d{{3,4}}|[ ](?:EN|A|AU|ET|EST|LE|LA|SUR|AND|IS)|,[ ](?i:{ROLE}))$"
)
_HEAD: Final = re.compile(
    r"^(?:(?:[^\W\d_]{2,12}[ ])?(?:Dre?|DRE?|Docteure?|DOCTEURE?)\.?|P\.A\.|OT|RN|NP|RT|SLP|LPN|RPN|MRP|SW"
    r"|MSW|PSW"
    r"|CNA|HCA|RRT|MLT|IPS|TS|PI|SC|(?:[A-Z]{4,9}[ ])?PAR|(?:de la|du|la|le)[ ](?:TS|Dre?)|inf\.|INF\."
    rf"|(?i:(?:(?:l['’]|(?:la|le|the|our|notre)[ ])?{ROLE})))"  # noqa: RUF001 (texts are written with it)
    r"[ ]+(?=\w)"
)
# What a name is addressed with, or a rank; "M." is an initial, too.
_ADDRESS: Final = re.compile(
    r"(?i:mrs?|ms|miss|mme|mlle|monsieur|madame|mademoiselle|sister|rev(?:erend)?|imam|rabbi|hon|sgt|ssgt"
    r"|cst|const|ofc"
    r"|officer|det|capt|cpl|pte|lt|ma[îi]tre|agente?|soeur|sœur|coach|teacher|staff[ ]sgt|uncle|auntie?"
    r"|stepdad|stepmom"
    r"|foster[ ](?:mom|dad|mother|father)|gu?ardian|constable|sergeant|detective|trooper|dil|fil"
    r"|mil|sil)\.?[ ]+(?=\w)"
    r"|(?:Me|M\.(?=[ ][^\W\d_]{2}))[ ]+(?=\w)"
)
_DEGREE: Final = re.compile(rf"(?<=\w)\.?,?[ ](?-i:{CREDENTIAL})$")
_CREDENTIAL_END: Final = re.compile(rf"\.?(?:,[ ]?|[ ])(?-i:{CREDENTIAL})(?![\w-])")
# "titrated by Mr. Blevins": what a person did to a patient outranks the title.
_DID: Final = re.compile(
    rf"(?<!\w){DONE_BY}(?:(?<=by)|(?<=par))[ ](?:mrs?|ms|miss|m|mme|mlle|monsieur|madame)\b\.?[ ]$",
    re.IGNORECASE,
)
_CHARS_BEFORE, _CHARS_AFTER = 110, 70  # characters that are read before and after a name
_NAMED: Final = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001 (names are written with it)
_SHARED: Final = frozenset({"/", " / ", " & ", "/ "})
_MIN_SURNAME = 3


def _possible(pattern: re.Pattern[str]) -> Callable[[bytes], object]:
    """Return a quick search that finds whatever a pattern finds, and a little more.

    A pattern that must end where a name begins is tried from each of a hundred places before it; an
    automaton, which has no look-after and knows ASCII words alone, tells at once that it is of no use.
    """
    loose = re.sub(r"\(\?<[!=](?:[^()\[\]]|\[[^\]]*\])*\)", "", pattern.pattern)
    if loose.endswith("$"):  # of `re` it also matches before a last line end
        loose = rf"{loose[:-1]}\n?$"
    loose = loose.replace(r"\b", "").replace(r"[^\W\d_]", r"[^\s\d]").replace(r"[^\W\d]", r"[^\s\d]")
    search: Callable[[bytes], object] = automaton(loose.replace(r"\w", r"\S"), any_case=True).search
    return search


_MAY_BE_LAY: Final = _possible(_LAY)
_MAY_BE_SURELY_LAY: Final = _possible(_LAY_SURE)
_MAY_BE_MARKED: Final = _possible(_BEFORE)
_MAY_HAVE_DONE: Final = _possible(_DID)


def mark_professionals(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; names of people who treat as findings of health professionals."""
    found = list(findings)
    people = [index for index, finding in enumerate(found) if finding.entity_type in _NAMED]
    if not people:
        return found
    treated = {
        frozenset(_words(text, found[index])) for index in people if _is_surely_lay(text, found[index])
    }
    sure: list[tuple[str, ...]] = []
    shared = -1  # where the name of a professional ends: "Mugabe / Roy"
    lay: dict[int, frozenset[str]] = {}
    others: dict[int, frozenset[str]] = {}
    for index in people:
        finding = found[index]
        is_shared = shared >= 0 and text[shared : finding.span.start] in _SHARED
        if (
            finding.entity_type is EntityType.HEALTH_PROFESSIONAL
            or (is_shared and not _is_lay(text, finding))
            or _is_marked(text, finding, treated)
        ):
            shared = finding.span.end
            found[index] = _professional(_trimmed(text, finding), ("label", "label_health"))
            sure.append(_words(text, found[index]))
        else:
            found[index] = finding = _without_address(text, finding)
            others[index] = frozenset(_words(text, finding))
            if _is_lay(text, finding):
                lay[index] = others[index]
    if not sure:
        return found
    known = _Known(sure, lay.values(), others.values())
    for index, names in others.items():
        if index not in lay and known.holds(names):
            found[index] = _professional(found[index], ("label", "repeats a name of this document"))
    return found


class _Known:
    """The names of professionals in a document, and what may be taken for them further on."""

    def __init__(
        self, sure: Iterable[tuple[str, ...]], lay: Iterable[frozenset[str]], others: Iterable[frozenset[str]]
    ) -> None:
        self._sure = {names for names in map(frozenset, sure) if names}
        self._lay = set(lay)
        self._taken: dict[str, set[frozenset[str]]] = {}  # by word, the names that others bear
        for names in (*self._lay, *others):
            for word in names:
                self._taken.setdefault(word, set()).add(names)
        self._by_word: dict[str, list[frozenset[str]]] = {}
        for names in self._sure:
            for word in names:
                self._by_word.setdefault(word, []).append(names)

    def holds(self, names: frozenset[str]) -> bool:
        """Tell whether a mention, by its words, is one of the professionals, and of no other person."""
        full = [word for word in names if len(word) >= _MIN_SURNAME]
        if not full:
            return False
        whole = any(names <= one and len(full) > 1 for one in self._by_word.get(full[0], ()))
        if whole:
            return not any(names <= one for one in self._lay)
        bearers = [one for one in self._by_word.get(full[0], ()) if _is_same(names, one)]
        if not bearers:
            return False
        # A part of a name: no other person in the document has it, alone or with other words.
        return all(
            any(_is_same(other, one) for one in bearers) and other not in self._lay
            for word in full
            for other in self._taken.get(word, ())
        )


def _is_same(part: frozenset[str], whole: frozenset[str]) -> bool:
    """Tell whether all words of a mention are those of a name, an initial for a word of it."""
    initials = {word[0] for word in whole}
    return all(word in whole or (len(word) == 1 and word in initials) for word in part)


def _words(text: str, finding: Finding) -> tuple[str, ...]:
    words = (fold(word) for word in _WORD.findall(finding.span.of(text)))
    return tuple(word for word in words if word not in PARTICLES)


def _is_marked(text: str, finding: Finding, treated: set[frozenset[str]]) -> bool:
    """Tell whether a role is before a name, or a degree or a role after it.

    ``treated``: the names of patients and relatives; a patient may be a nurse, too.
    """
    start, end = finding.span.start, finding.span.end
    name = finding.span.of(text)
    if _HEAD.match(name) or _DEGREE.search(name) or _ends(_DID, _MAY_HAVE_DONE, text, start):
        return True
    behind = text[end : end + _CHARS_AFTER]
    if _is_lay(text, finding):
        # After "Name:" and "Re:" a degree marks a professional; a patient may have one, too.
        return bool(_CREDENTIAL_END.match(behind)) and not _is_surely_lay(text, finding)
    if _CREDENTIAL_END.match(behind):
        return True
    if frozenset(_words(text, finding)) in treated:
        return False
    if _AFTER.match(behind):
        return True
    return _ends(_BEFORE, _MAY_BE_MARKED, text, start)


def _ends(pattern: re.Pattern[str], possible: Callable[[bytes], object], text: str, place: int) -> bool:
    """Tell whether what a pattern describes ends at a place."""
    before = text[max(0, place - _CHARS_BEFORE) : place]
    return bool(before) and (
        possible(before.encode("utf-8", "surrogatepass")) is not None and pattern.search(before) is not None
    )


def _is_surely_lay(text: str, finding: Finding) -> bool:
    """Tell whether a word of kinship, "Mr." or "patient" is before a name, or an age after it."""
    start, end = finding.span.start, finding.span.end
    return bool(
        _ends(_LAY_SURE, _MAY_BE_SURELY_LAY, text, start) or _TREATED.match(text[end : end + _CHARS_AFTER])
    )


def _is_lay(text: str, finding: Finding) -> bool:
    """Tell whether the words before a name are those of a patient or a relative."""
    start, end = finding.span.start, finding.span.end
    return bool(_ends(_LAY, _MAY_BE_LAY, text, start) or _TREATED.match(text[end : end + _CHARS_AFTER]))


def _trimmed(text: str, finding: Finding) -> Finding:
    """Leave out a title before a name and a remark after it that were taken along."""
    name = finding.span.of(text)
    head, tail = _HEAD.match(name), _DEGREE.search(name) or _TAIL.search(name)
    start = finding.span.start + (head.end() if head else 0)
    if tail is not None and tail[0] == " A" and "," in name:  # an initial: "Smith, John A"
        tail = None
    end = finding.span.end - (len(tail[0]) if tail else 0)
    return replace(finding, span=Span(start, end)) if start < end else finding


def _without_address(text: str, finding: Finding) -> Finding:
    """Leave out what the name of a patient is addressed with."""
    name = finding.span.of(text)
    address = None if name[:2] == "M." else _ADDRESS.match(name)
    if address is None:
        return finding
    return replace(finding, span=Span(finding.span.start + address.end(), finding.span.end))


def _professional(finding: Finding, reason: tuple[str, str]) -> Finding:
    """Return a name as that of a health professional; one that does not count still does not."""
    if finding.entity_type is EntityType.HEALTH_PROFESSIONAL:
        return finding
    kind = EntityType.HEALTH_PROFESSIONAL
    if not finding.bits:  # it was set aside, or is doubtful: for a reason that stays the last
        return replace(finding, entity_type=kind)
    bits = frozenset({PiiBit.HEALTH_PROFESSIONAL})
    reasons = (*finding.reasons, Reason(*reason, finding.score))
    return replace(finding, entity_type=kind, bits=bits, reasons=reasons)
