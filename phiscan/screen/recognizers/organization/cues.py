r"""Where an organization is due: "transferred to", "works nights at", "insured with", "suivie à l'".

What is there with a capital and is on no list of words, of places or of people is an organization
although no word says so: "transferred to Mon Sheong", "retired from Raytheon". A known short name needs
less: "at Grady" (``organization_names``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.lexicon.organization_words import GENERIC, STOPS, is_unusual
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.text.automata import automaton
from phiscan.text.offsets import spans_of

SOURCE = "organizations.due"
SCORE = 0.845  # above the tagger's, below that of a name with a word that says what it is
_BITS = bits_of(EntityType.ORGANIZATION)
_WORDS = r"(?:[ ][\w'’/+-]+){0,3}?"  # noqa: RUF001 (texts are written with it)
# Somebody is treated there, or comes from there; what was taken there.
_TREATED = (
    r"(?:transferred|transfered|xferr?ed|txf?e?r?r?'?e?d|admitted|readmitted|discharged|d/c'?e?d"
    r"|airlifted|medevac'?e?d"
    r"|flown|hospitali[sz]ed|seen|treated|followed|delivered|scanned|evaluated|assessed"
    r"|repatriated|dialy[sz]ed"
    r"|surgery|operation|mri|ct|pet|x-?rays?|films|ultrasound|echo|biopsy|rehab|chemo|radiation"
    r"|dialysis|day program"
    r"|bed|appointment|appt|follow[- ]?up|consult|visit|admission|stay|records?|placement|er|ed|emerg|icu"
    r"|mammogram|colonoscopy|ward|residency|fellowship|looked|still|awaiting|accepted|refused"
    r"|stent|cath|psych|transfer|txf|xfer|repat|moved|exam|imaging"
    r"|lives|living|lived|resides|stays|stayed|volunteers?|volunteering|volunteered"
    r"|detox|counsell?ing|inmate|brought|released|report|opinion|trial|worships?|worshipped|goes|attends?"
    r"|attending"
    r"|church|mass|sleeps?|sleeping|sheltering|respite|repat'?d|preop|pre-op|labs|bloodwork)"
)
_AT = r"(?:at|@|to|from|via|through|thru|out of)"
_WORKED = (
    r"(?:works?|worked|working|employed|job|jobs|job offer|shifts?|nights|days|employee|intern"
    r"|cook|driver|welder"
    r"|clerk|cashier|manager|foreman|teache[sr]|taught|studies|student|enrolled|laid off|retired"
    r"|fired|hired|boss"
    r"|contract|internship|co-?op|pension|disability|leave|supervisor)"
)
_FOR = r"(?:at|@|for|from)"
# Whom somebody belongs to, and whom money is given.
_MEMBER = (
    r"(?:members?|parishioners?|volunteers?|captain|goalie|coach|plays?|played|playing|sings|sang|choir"
    r"|season|team|skates|hockey|ball|soccer|rugby)"
)
_OF = r"(?:with|for|of|at|in)[ ](?:the[ ])"
_GIVEN = r"(?:donations?|memorials?|gifts?|contributions?|bequest|donated)"
_INSURED = (
    r"(?:insur(?:ed|ance|er)|covered|coverage|claim|policy|benefits|plan|extended health|account"
    r"|file[ds]?|switched"
    r"|enrolled|signed up|ordered|rented|bought|delivery|equipment|oxygen|chair|bed|pump)"
)
_WITH = r"(?:with|through|thru|under|from|to)"
# The same in French.
_SOIGNE = (
    r"(?:transf[ée]r[ée]e?s?|admise?s?|hospitalis[ée]e?s?|hospit\.|vue?s?|suivie?s?"
    r"|op[ée]r[ée]e?s?|trait[ée]e?s?"
    r"|soign[ée]e?s?|dirig[ée]e?s?|envoy[ée]e?s?|retourn[ée]e?s?|retourne|sortie?|cong[ée]"
    r"|consult[ée]e?|accouch[ée]e?"
    r"|irm|scan|tdm|[ée]cho(?:graphie)?|radio|biopsie|chirurgie|op[ée]ration|s[ée]jour"
    r"|r[ée]adaptation|convalescence"
    r"|stage|rdv|rendez-vous|lit|c[ée]sarienne|transfert|soins|greffe|chimio|dialyse|h[ée]bergement|place|va)"
)
_A = r"(?:à[ ]l['’]|à[ ]la[ ]|à[ ]|au[ ]|aux[ ]|vers[ ](?:l['’]|la[ ]|le[ ])?)"  # noqa: RUF001 (texts are written with it)
_PARTI = (
    r"(?:sort|sorti|sortie|transfert|connue?|cong[ée]|arriv[ée]e?|provenance|revient|revenue?|bless[ée]e?)"
)
_DE = r"(?:de[ ]l['’]|de[ ]la[ ]|du[ ]|de[ ]|d['’])"  # noqa: RUF001 (texts are written with it)
_TRAVAILLE = (
    r"(?:travaill(?:e|ait|ent|é|er)|emploi|employ[ée]e?s?|retrait[ée]e?|embauch[ée]e?"
    r"|cong[ée]di[ée]e?|assur[ée]e?"
    r"|[ée]tudiante?|[ée]tudie|enseignante?|enseigne|commis|caissi[eè]re?|soudeur|m[ée]canicien"
    r"|camionneur|quart|job)"
)
_CHEZ = r"(?:chez[ ]|pour[ ]|par[ ]|à[ ]la[ ]|à[ ]l['’]|à[ ]|au[ ]|de[ ]la[ ]|de[ ]l['’]|de[ ]|d['’])"  # noqa: RUF001 (texts are written with it)
_CAPITAL = r"\p{Lu}"
_CUES = (
    rf"(?:{_TREATED}{_WORDS}[ ]{_AT}[ ](?:the[ ])?|{_WORKED}{_WORDS}[ ]{_FOR}[ ](?:the[ ])?"
    rf"|{_MEMBER}{_WORDS}[ ]{_OF}|{_GIVEN}{_WORDS}[ ](?:to|for)[ ](?:the[ ])?"
    rf"|{_INSURED}{_WORDS}[ ]{_WITH}[ ](?:the[ ])?|(?:employed|insured|covered)[ ]by[ ](?:the[ ])?"
    rf"|{_SOIGNE}{_WORDS}[ ]{_A}|{_PARTI}{_WORDS}[ ]{_DE}"
    rf"|{_TRAVAILLE}{_WORDS}[ ]{_CHEZ}|(?:re[çc]ue?s?|lou[ée]e?|achet[ée]e?|appareillage"
    rf"|livr[ée]e?){_WORDS}[ ](?:de[ ])?chez[ ])"
)
_SURELY_AT = re.compile(r"(?:(?:\bat|@)[ ](?:the[ ])?|\bau[ ]|à[ ]l['’])$", re.IGNORECASE)  # noqa: RUF001 (texts are written with it)
_LETTERS = r"[^\W\d_]"
_PART = rf"(?:St|Ste|Mt)\.|[^\W\d_a-zà-öø-ÿ](?:{_LETTERS}|['’&-](?={_LETTERS}))*"  # noqa: RUF001 (names are written with it)
_JOIN = r"[ ](?:(?:of|and|&|de|du|des|la|le|ya)[ ]){0,2}"
_NAME = re.compile(rf"(?:{_PART})(?:{_JOIN}(?:{_PART})){{0,4}}")
_SPLIT = re.compile(r"[ ]+")
_POSSESSIVE = re.compile(r"['’]s$")  # noqa: RUF001 (texts are written with it)
_MAX_CODE = 5  # letters in capitals: a ward or a test rather than an organization
_BLOCK = Word.MONTH_OR_DAY | Word.TITLE | Word.TITLE_HEALTH | Word.CREDENTIAL
_WARDS = frozenset(
    "stepdown emerg pacu telemetry triage resus rehab urgence usi bloc icu tele floor ward chair"  # noqa: SIM905 (a list of words reads best as a text)
    " commode".split()
)
_SAINT = frozenset(("st", "ste", "saint", "sainte", "mount", "mt", "mont"))


class OrganizationCueRecognizer:
    """Finds organizations after words that say that one follows; built once per process."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._cues = automaton(rf"(?:\b(?i:{_CUES}){_CAPITAL})")

    def recognize(self, text: str) -> Iterator[Finding]:
        """Yield findings in text order; spans are half-open, in code points."""
        for _, end in spans_of(self._cues, text):
            name = _NAME.match(text, end - 1)
            if name is None:
                continue
            stop = self._end(text, name)
            if stop is not None:
                reason = Reason("context", "where an organization is due", SCORE)
                yield Finding(
                    Span(name.start(), stop), EntityType.ORGANIZATION, SOURCE, SCORE, _BITS, (reason,)
                )

    def _end(self, text: str, name: re.Match[str]) -> int | None:
        """Return where the name that begins here ends; None where it is a place, a person or plain words."""
        words = _SPLIT.split(name[0])
        kept: list[str] = []
        for word in words:
            plain = word.rstrip(".").lower()
            flags = self._gazetteer.of(word)
            is_joined = bool(kept) and word.islower()
            if (flags & _BLOCK and plain not in _SAINT) or (plain in STOPS and not is_joined):
                break
            kept.append(word)
        while kept and kept[-1].islower():
            kept.pop()
        if not kept or (len(kept) == 1 and _POSSESSIVE.search(kept[0])):  # not "St. Mary's"
            return None
        return name.start() + len(" ".join(kept)) if self._is_one(text, name.start(), kept) else None

    def _is_one(self, text: str, start: int, words: list[str]) -> bool:
        first = fold(words[0])
        whole = " ".join(words)
        if self._gazetteer.is_place(whole) or all(fold(word) in GENERIC for word in words) or first in _WARDS:
            return False
        if all(word.isupper() for word in words) and (
            sum(map(len, words)) <= _MAX_CODE or text[max(0, start - 12) : start].isupper()
        ):
            return False
        if first.partition("-")[0] in _SAINT:
            return True
        flags = [self._gazetteer.of(_POSSESSIVE.sub("", word)) for word in words if not word.islower()]
        is_person = bool(flags[0] & Word.FIRST) and (len(flags) == 1 or bool(flags[-1] & Word.LAST))
        is_person = is_person or (len(flags) > 1 and all(flag & Word.LAST for flag in flags))
        if is_person and not (_SURELY_AT.search(text, max(0, start - 8), start) and len(flags) == 1):
            return False
        return is_unusual(self._gazetteer, words)
