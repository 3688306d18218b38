"""People who treat, by what a text says of them: a role before the name, a degree behind it, the name again.

Most recognizers find that a name stands somewhere; what somebody does stands around it. A name that a text
gives to a patient or a relative ("Mrs", "his wife", "Patient:") is never taken for a professional's, nor is
a surname that both bear.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

import re2

from phiscan.model import EntityType, Finding, PiiBit, Reason, Span
from phiscan.screen.gazetteer import PARTICLES, fold

_AHEAD, _BEHIND = 110, 70  # characters that are read before and behind a name
# Who treats, in any form that stands before a name or behind it. Not "resident": one of a home is one, too.
_ROLE = (
    r"(?:surgeons?|(?:an(?:a)?esth(?:etist|esiologist|esia)?|anaes)|nurses?(?:[ ]practitioner)?"
    r"|physicians?|doctors?"
    r"|hospitalists?|pharmacists?|prescribers?|podiatrists?|dietiti?cians?|dietitians?|midwi(?:fe|ves)"
    r"|paramedics?"
    r"|chiropractors?|dentists?|optometrists?|psychologists?|psychiatrists?|physiatrists?|pa?ediatricians?"
    r"|geriatricians?|obstetricians?|internists?|intensivists?|clinicians?|physios?|phlebotomists?"
    r"|(?:physio|psycho|respiratory[ ]|occupational[ ]|physical[ ]|speech[ ]|massage[ ])therapists?"
    r"|(?:cardi|neur|radi|path|onc|ur|nephr|rheumat|dermat|hemat|haemat|immun|pulmon|pneum|respir"
    r"|gyn(?:a)?ec|ophthalm"
    r"|gastroenter|hepat|endocrin|audi|anesthesi|anaesthesi|neonat|otolaryng|microbi|allerg)o?logists?"
    r"|orthop(?:a)?edists?|social[ ]workers?|care[ ]coordinators?|coroner|consultants?|attendings?"
    r"|(?:family|fam)[ .](?:md|dr|doc(?:tor)?|physician|practitioner)|(?:med|md"
    r"|dr)[ .]{1,2}(?:trait(?:ant)?|fam)"
    r"|m[ée]decins?|chirurgien(?:ne)?s?|anesth[ée]sistes?|infirmi(?:er|[èe]re)s?|pharmacien(?:ne)?s?"
    r"|(?:physio|ergo|inhalo|psycho)th[ée]rapeutes?|ergo|inhalo"
    r"|psychologues?|psychiatres?|p[ée]diatres?|podiatres?|g[ée]riatres?|physiatres?|di[ée]t[ée]tistes?"
    r"|nutritionnistes?|orthophonistes?|audiologistes?|dentistes?|optom[ée]tristes?|sages?-femmes?"
    r"|prescripteur"
    r"|travailleu(?:r|se)s?[ ]social(?:e|es)?|ambulanci(?:er|[èe]re)|intensivistes?|hospitaliste"
    r"|(?:cardio|neuro|radio|onco|uro|n[ée]phro|rhumato|dermato|h[ée]mato|immuno|pneumo|gyn[ée]co|ophtalmo"
    r"|gastro-?ent[ée]ro|h[ée]pato|endocrino|micro-?bio|allergo|ost[ée]opatho|patho)logues?|pathologistes?)"
)
# Short forms, each a word of its own in other texts: only with a sign or a verb behind.
_SHORT = (
    r"(?:(?-i:RN|R\.N\.|LPN|RPN|NP|MD|GP|PCP|MRP|RPh|OT|RT|SLP|RD|MSW|PA-C)|inf\.?|ipspl|erg\.?|pht\.?"
    r"|t\.s\.|inh\.?"
    r"|prof|hosp|on[ -]call|de[ ]garde|garde|fellow|charge(?:[ ](?:RN|nurse))?|RN[ ]charge|provider"
    r"|fournisseur"
    r"|intervenante?|clinicien(?:ne)?|collector|coll|tech(?:nologist|nologue)?|case[ ]manager|therapist"
    r"|th[ée]rapeute|backup|reported[ ]by)"
)
_DONE_BY = (
    r"(?:(?:collected|drawn|obtained|dictated|transcribed|assessed|re-?assessed|administered|given|prescribed"
    r"|ordered|referred|reviewed|interpreted|performed|cosigned|co-signed|authenticated|seen|examined"
    r"|delivered"
    r"|charted|dispensed|vaccinated|injected|intubated|followed|operated|evaluated|treated|accepted|consulted"
    r"|triaged|verified|waste[d]?|(?:assessment|evaluation|eval|exam(?:ination)?|consult(?:ation)?|surgery"
    r"|repair|operation|biopsy|replacement))(?:[ ]\d[\d/.:-]{2,11}(?:[ ]at[ ][\d:]{4,5})?)?"
    r"[ ](?:by|per|w/|with(?<=n[ ]with))|(?-i:[A-Z]{2,6}[ ]by)"
    r"|(?:pr[ée]lev|prescri|v[ué]|rev[ué]|[ée]valu|r[ée][ée]valu|examin|dict|administr|r[ée]f[ée]r"
    r"|r[ée]dig|interpr[ée]t"
    r"|op[ée]r|suivi|effectu|trait|v[ée]rifi|transcri|ex[ée]cut|pratiqu|vaccin|appels[ ]fait)(?:[ée]|t|s"
    r"|u)?e?s?[ ]"
    r"(?:par|avec)|(?:consultation|chirurgie|[ée]valuation|visite|suivi)[ ](?:par|avec|chez)"
    r"|waste[ ]\S{1,8}[ ]w/|accepted|next[ ]\d[\d/.-]{2,9}[ ]w/)"
)
_GAP = r"(?:[ _.]{0,12}(?:\([^()\n]{1,16}\)[ ]{0,2})?[:=>|\t][ \t\"'\[]{0,12}|[ ]{2,12})"
_TITLE = r"(?:dr|dre|docteure?|doctor|prof)[ .]{1,5}"
_NAME_KEY = r"(?:full_?)?(?:name|nom|display|text|family|last|first|given|prenom|lastName|firstName)"
_BEFORE: Final = re.compile(
    rf"(?:(?<![\w-])(?:{_TITLE}"
    # label and value
    rf"|{_ROLE}(?:['’]s)?(?:[ ](?:signature|name|de[ ]famille|traitante?|r[ée]f[ée]rante?"  # noqa: RUF001 (texts are written with it)
    rf"|requ[ée]rante?))?{_GAP}"
    rf"|{_SHORT}{_GAP}|(?<=\n){_ROLE}[ ]?:?[ ]{{0,3}}\n[ ]{{0,8}}"
    # running text
    rf"|(?<!retired )(?<!former )(?<!ancienne )(?<!a )(?<!an ){_ROLE}[ ]"
    r"|(?-i:RN|LPN|RPN|NP|RPh|w/[ ]fellow|backup)[ ]"
    rf"|(?:{_ROLE}|(?-i:RN|LPN|RPN|NP|RT|OT|PT|PCP|MRP|GP))(?:,?[ ][^\W\d]{{1,8}}){{0,6}}[ ]"
    r"(?:is|was|est|named|called|nomm[ée]e?|as|being)[ ]"
    rf"|{_DONE_BY}{_GAP}|{_DONE_BY}[ ]|par=[\"']?"
    # <prescripteur permis="1"> <nom>, "prescriber": {"name": "
    rf"|{_ROLE}(?:[ ]\w{{1,20}}=\"[^\"\n]{{0,40}}\")?[\"' >:={{\[\n]{{1,24}}<?"
    rf"{_NAME_KEY}[\">:=' \[{{]{{1,8}}))"
    r"(?:(?-i:RN|NP|MD|OT|RT|SLP|LPN|RPN|PA|RPh)[ ])?(?:M(?:me|lle|r|rs|s)?\.?[ ])?\"?$",
    re.IGNORECASE,
)
_CREDENTIAL = (
    r"(?:M\.?D\.?|D\.O\.|R\.?N\.?|N\.?P\.?|P\.?A\.?-C\.?|PharmD|D\.?D\.?S\.?|D\.?M\.?D\.?|R\.?Ph\.?"
    r"|F\.?R\.?C\.?[PS]\.?\(?C?\)?"
    r"|FACS|FACP|FACC|CCFP|CRNA|CNM|LPN|RPN|RNA?|APRN|ARNP|DNP|FNP(?:-(?:C|BC))?|BSc?N|MScN|MSN|MBBS"
    r"|MBChB|MSW|LCSW"
    r"|L[I]?SW|RSW|PsyD|C\.?Psych|DPT|MPT|PTA|COTA|OTR(?:/L)?|SLP(?:-CCC)?|DPM|RRT|RDH|RMT|IPSPL|CMQ"
    r"|FMCQ|O\.?D\."
    r"|R?(?:OT|PT|RD|RT|SLP|RDN)(?=[ ]?(?:\(|Reg|[,.;)|\n]|$))|(?:OT|PT)[ ]Reg\b|inf\.?(?:[ ](?:aux|clin"
    r"|prat)\.?)?"
    r"|i\.a\.|pht\.?|erg\.?|ped\.|p[ée]d\.|t\.s\.|inh\.|m\.d\.|md|rn|np|rph|pa-c|d\.o\.)"
)
_AFTER: Final = re.compile(
    r"[\"']?[ ,;]{1,2}role=[\"']?(?:RN|MD|DO|NP|PA|LPN|RPN|RPH|RT|PHYSICIAN|NURSE|PHARMACIST)\b|"
    rf"(?:[ ]?,[ ]?|[ ]{{1,3}}|[ ]?\(|[ ][-–][ ])(?-i:{_CREDENTIAL})(?![\w-])"  # noqa: RUF001 (texts are written with it)
    r"|(?:,[ ]?|[ ]?\(|[ ][-–/][ ])(?:(?:le|la|the|your|our|votre|notre)[ ])?"  # noqa: RUF001 (texts are written with it)
    rf"{_ROLE}(?=[ ]?(?:[,.;:)\n|]|$|at\b|de\b|du\b|of\b))",
    re.IGNORECASE,
)
# What says that somebody is treated, or belongs to one who is.
_KIN = (
    r"(?:wife|husband|spouse|partner|son|daughter|mother|father|mom|mum|dad|brother|sister|child|baby"
    r"|infant|parents?"
    r"|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|son|daughter|ma|pa)|friend|neighbou?r"
    r"|guardian|nok|kin"
    r"|[ée]pouse|[ée]poux|conjointe?|mari|femme|fils|fille|m[èe]re|p[èe]re|fr[èe]re|s(?:oe|œ)ur|tante"
    r"|oncle|enfant|b[ée]b[ée]"
    r"|tut(?:eur|rice)|voisine?|amie?|poa|sdm|caregiver|proche[ ]aidante?)"
)
_LAY: Final = re.compile(
    rf"(?<![\w])(?:{_KIN}(?:[ ]{{0,2}}[:=,(|][ ]{{0,3}}|[ ](?:is[ ])?|\t)"
    r"|(?:patiente?s?|pts?|clients?|usag(?:er|ère)|r[ée]sidente?|b[ée]n[ée]ficiaire|claimant|insured"
    r"|member|subscriber"
    r"|employee|employ[ée]e?|student|[ée]l[èe]ve|re|objet|regarding|mrs?|ms|miss|m\.|mme|mlle|monsieur|madame"
    r"|mademoiselle|emergency[ ]contact|next[ ]of[ ]kin)(?:['’]s)?(?:[ ](?:name|nom))?[ .]{0,3}[:="  # noqa: RUF001 (texts are written with it)
    r"|\t]?[ \t\"']{0,12}"
    r"|(?<!user)(?<!doctor )(?<!du m[ée]decin )(?:full[ ]|complet[ ]?)?(?:name|nom)[ ]?:[ ]{1,3})\"?$",
    re.IGNORECASE,
)
_LAY_SURE: Final = re.compile(
    rf"(?<!\w)(?:{_KIN}|patiente?s?|pts?|usag(?:er|ère)|mrs?|ms|miss|m|mme|mlle|monsieur|madame)\b\W{{0,6}}$",
    re.IGNORECASE,
)
_TREATED: Final = re.compile(
    r"[ ]?[,(|\t ][ ]{0,3}(?:(?:is[ ])?an?[ ])?(?:dob|ddn|d\.o\.b|n[ée]e?[ ]le|mrn|\d{1,3}[ -]?(?:y\b"
    r"|yo\b|y/o|ans\b|year|[mf]\b)|[MF][ ]\d{1,3}\b)",
    re.IGNORECASE,
)
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
# A chat of those who work together, by its title; and what stands before the name of who writes.
_STAFF_CHAT: Final = re.compile(
    r"\b(?:ward|unit|huddle|nursing|nurses|team|coordinators|staff|handoff|handover|rounds|étage|unité|équipe"
    r"|infirmières|coordonnatrices|caucus)\b",
    re.IGNORECASE,
)
_WRITES: Final = re.compile(
    r"^(?:(?=[^\W\d_]{2,15}(?:[ ]\([^()\n]{1,12}\))?,?[ ]\d{1,2}:\d\d(?:[ ]?[ap]m)?[ ]?[—–-])"  # noqa: RUF001 (texts are written with it)
    r"|\[(?:\d{1,4}[-/]\d{1,2}(?:[-/]\d{1,4})?,?[ ])?\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[ap]m)?\][ ])",
    re.IGNORECASE | re.MULTILINE,
)
_MIN_LINES = 3
_NAMED: Final = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")  # noqa: RUF001 (names are written with it)
# A remark behind a comma or a figure that the name took along: "agbaje, gi", "Mahajan 0215", "Hoang, sera".
_TAIL: Final = re.compile(
    rf"(?:,[ ][a-zà-ÿ]{{2,6}}|[ ]\d{{3,4}}|[ ](?:EN|A|AU|ET|EST|LE|LA|SUR|AND|IS)|,[ ](?i:{_ROLE}))$"
)
_REMARK: Final = re.compile(
    rf"(?:[ ]\((?i:{_KIN})\)?|[ ](?:phn|dob|ddn|mrn|hcn|PHN|DOB|DDN|MRN|HCN)|[ ]A[ ]L['’]\w+)$"  # noqa: RUF001 (names are written with it)
)
_HEAD: Final = re.compile(
    r"^(?:(?:[^\W\d_]{2,12}[ ])?(?:Dre?|DRE?|Docteure?|DOCTEURE?)\.?|P\.A\.|OT|RN|NP|RT|SLP|LPN|RPN)"
    r"[ ]+(?=\w)"
)
_DEGREE: Final = re.compile(rf"(?<=\w)\.?,?[ ](?-i:{_CREDENTIAL})$")
_MIN_SURNAME = 3


def _possible(pattern: re.Pattern[str]) -> Callable[[bytes], object]:
    """Return a quick search that finds whatever a pattern finds, and a little more.

    A pattern that must end where a name begins is tried from each of a hundred places before it; an
    automaton, which has no look-behind and knows ASCII words alone, tells at once that it is of no use.
    """
    options = re2.Options()
    options.max_mem = 64 << 20
    options.never_capture = True
    options.case_sensitive = False
    loose = re.sub(r"\(\?<[!=](?:[^()\[\]]|\[[^\]]*\])*\)", "", pattern.pattern)
    loose = loose.replace(r"\b", "").replace(r"[^\W\d_]", r"[^\s\d]").replace(r"[^\W\d]", r"[^\s\d]")
    search: Callable[[bytes], object] = re2.compile(loose.replace(r"\w", r"\S").encode(), options).search
    return search


_MAY_BE_LAY: Final = _possible(_LAY)
_MAY_BE_SURELY_LAY: Final = _possible(_LAY_SURE)
_MAY_BE_MARKED: Final = _possible(_BEFORE)


def mark_professionals(text: str, findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings; names that the text gives to somebody who treats as health professionals'."""
    found = list(findings)
    people = [index for index, finding in enumerate(found) if finding.entity_type in _NAMED]
    treated = {
        frozenset(_words(text, found[index])) for index in people if _is_surely_lay(text, found[index])
    }
    staffed = _StaffPlaces(text)
    sure: list[tuple[str, ...]] = []
    lay: dict[int, frozenset[str]] = {}
    others: dict[int, frozenset[str]] = {}
    for index in people:
        finding = found[index]
        if finding.entity_type is EntityType.HEALTH_PROFESSIONAL or _is_marked(
            text, finding, treated, staffed
        ):
            found[index] = _professional(_trimmed(text, finding), ("label", "label_health"))
            sure.append(_words(text, found[index]))
        else:
            found[index] = finding = _without_remark(text, finding)
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


class _StaffPlaces:
    """Where a whole text is one of staff: a roster of who is on call, a chat of a ward."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._is_roster = _ON_CALL.search(text, 0, _TITLE_CHARS) is not None
        lines = list(_WRITES.finditer(text))
        title = min(lines[0].start(), _TITLE_CHARS) if len(lines) >= _MIN_LINES else 0
        of_staff = title > 0 and _STAFF_CHAT.search(text, 0, title) is not None
        self._writers = {match.end() for match in lines} if of_staff else set()

    def hold(self, finding: Finding) -> bool:
        """Tell whether a name stands in a row that begins with a day, or writes in the chat."""
        start = finding.span.start
        if start in self._writers:
            return True
        if not self._is_roster:
            return False
        line = self._text.rfind("\n", max(0, start - _AHEAD), start) + 1
        return bool(_DAY.match(self._text, line)) and not _is_lay(self._text, finding)


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
        """Tell whether a mention, by its words, is one of the professionals and can be nobody else."""
        full = [word for word in names if len(word) >= _MIN_SURNAME]
        if not full:
            return False
        whole = any(names <= one and len(full) > 1 for one in self._by_word.get(full[0], ()))
        if whole:
            return not any(names <= one for one in self._lay)
        bearers = [one for one in self._by_word.get(full[0], ()) if _is_same(names, one)]
        if not bearers:
            return False
        # A part of a name: nobody else in the document bears it, alone or with other words.
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


def _is_marked(text: str, finding: Finding, treated: set[frozenset[str]], staffed: _StaffPlaces) -> bool:
    """Tell whether a role stands before a name, or a degree or a role behind it.

    ``treated``: the names that the text gives to patients and relatives: a patient may be a nurse, too.
    """
    start, end = finding.span.start, finding.span.end
    name = finding.span.of(text)
    if _HEAD.match(name) or _DEGREE.search(name):
        return True
    behind = text[end : end + _BEHIND]
    if _is_lay(text, finding):
        # Behind "Name:" and "Re:" a degree says what somebody is; a patient may have one, too.
        return bool(_CREDENTIAL_END.match(behind)) and not _is_surely_lay(text, finding)
    if _CREDENTIAL_END.match(behind):
        return True
    if frozenset(_words(text, finding)) in treated:
        return False
    if _AFTER.match(behind) or staffed.hold(finding):
        return True
    return _ends(_BEFORE, _MAY_BE_MARKED, text, start)


def _ends(pattern: re.Pattern[str], possible: Callable[[bytes], object], text: str, place: int) -> bool:
    """Tell whether what a pattern describes ends at a place."""
    before = text[max(0, place - _AHEAD) : place]
    return bool(before) and (
        possible(before.encode("utf-8", "surrogatepass")) is not None and pattern.search(before) is not None
    )


_CREDENTIAL_END: Final = re.compile(rf"(?:,[ ]?|[ ])(?-i:{_CREDENTIAL})(?![\w-])")


def _is_surely_lay(text: str, finding: Finding) -> bool:
    """Tell whether a word of kinship, "Mr." or "patient" stands before a name, or an age behind it."""
    start, end = finding.span.start, finding.span.end
    return bool(
        _ends(_LAY_SURE, _MAY_BE_SURELY_LAY, text, start) or _TREATED.match(text[end : end + _BEHIND])
    )


def _is_lay(text: str, finding: Finding) -> bool:
    """Tell whether a text says of a name that it is a patient's or a relative's."""
    start, end = finding.span.start, finding.span.end
    return bool(_ends(_LAY, _MAY_BE_LAY, text, start) or _TREATED.match(text[end : end + _BEHIND]))


def _trimmed(text: str, finding: Finding) -> Finding:
    """Leave out a title before a name and a remark behind it that were taken along."""
    name = finding.span.of(text)
    head, tail = _HEAD.match(name), _DEGREE.search(name) or _TAIL.search(name)
    start = finding.span.start + (head.end() if head else 0)
    end = finding.span.end - (len(tail[0]) if tail else 0)
    return replace(finding, span=Span(start, end)) if start < end else finding


def _without_remark(text: str, finding: Finding) -> Finding:
    """Leave out what the name of a patient took along: who a relative is, the label of the next value."""
    remark = _REMARK.search(finding.span.of(text))
    if remark is None or not remark.start():
        return finding
    return replace(finding, span=Span(finding.span.start, finding.span.start + remark.start()))


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
