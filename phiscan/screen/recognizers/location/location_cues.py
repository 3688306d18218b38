r"""Places by the words before them: "67M from Gander", "born in", "medevac'd from", "demeure à", "natif de".

What is there with a capital and is a place of the lists is one, also where families are called so or
the language has the word; after words that leave no other reading, what is on no list at all is one, too.
Nations, reserves, bases and the like say what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import is_term
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.recognizers.location.gazetteer_places import is_everyday
from phiscan.text.automata import automaton
from phiscan.text.offsets import spans_of

SOURCE = "places.due"
KNOWN, UNKNOWN, NAMED = 0.865, 0.846, 0.866
_KIN = (
    r"(?:son|daughter|dtr|dau|sister|brother|mother|mom|father|dad|wife|husband|niece|nephew|cousin|aunt"
    r"|uncle|kids"
    r"|family|parents|grandkids|grandchildren|grandson|granddaughter|in-laws|friend|partner|guardian|poa|nok|sdm|fille|fils|soeur|sœur|fr[èe]re|m[èe]re|p[èe]re|famille|neveu"
    r"|ni[èe]ce)"
)
_WORDS = r"(?:[ ][\pL\d'’(),/+-]{1,12}){0,2}"  # noqa: RUF001 (texts are written with it)
_SURE_CUES = (
    r"(?:lives?|living|lived|resides?|residing|grew up|raised|born|reared|winters|summers)"
    rf"{_WORDS}[ ](?:in|near|outside(?: of)?|past|beyond)"
    r"|(?:originally|hails?|hailing|visiting|flew in|drove in|drives in|driving in|immigrated|emigrated"
    r"|medevac'?e?d?|airlift(?:ed)?|air[ ]ambulance|flown(?: in)?|evacuated|evac'?d|in from|up from|down from"
    r"|over from)(?:[ ]in)?[ ](?:from|out of)"
    r"|(?:\d{1,3}[ ]?(?:yo|y/o|yr|year)?[ -]?(?:old)?[ ]?[MF]|male|female|woman|lady|gentleman|fisherman"
    r"|farmer|miner"
    r"|trapper|rancher|elder|logger|refugee|claimant)[ ](?:from|of|in|outside)"
    r"|(?:resident|native|citizen|raised|homes?|hometown)[ ](?:of|in)|hometown:?|home community:?|community:"
    r"|quartier|secteur|arr\.|arrondissement(?: de| du)?|county:|parish:|comm:|pt'?s town:"
    r"|(?:place of (?:birth|death|residence)|birthplace|pob|born|lieu (?:de )?naiss(?:ance)?\.?"
    r"|lieu du d[ée]c[èe]s):?"
    r"|n[ée]e?s?[ ]à|(?:vit|habite|demeure|demeurant|r[ée]side|r[ée]sidant|domicili[ée]e?|h[ée]berg[ée]e?"
    rf"|d[ée]m[ée]nag[ée]?e?|grandi){_WORDS}[ ](?:à|près de|en)"
    r"|(?:natif|native|originaire|provenance|venue?|arriv[ée]e?|[ée]vacu[ée]e?"
    r"|a[ée]roport)[ ](?:de[ ]|d['’]|du[ ]|des[ ])"  # noqa: RUF001 (texts are written with it)
)
_CUES = (
    rf"(?:{_KIN}|pt|patiente?|student|worker|works?|working|job|rigs|camp|cottage|cabin|chalet|farms?"
    rf"|farmer|house|home|trailer|travel(?:l?ed)?|trip|vacation|accident|hunting|fishing|arrested|jail|burial|buried|service|ems|crew|posted"
    rf"|fish(?:ed|es|ing)?|sail(?:ed|s)|stationed|based|camping|office|nurse|clinic){_WORDS}[ ](?:from|in"
    rf"|near|outside(?: of)?|out of|up in|out in)"
    r"|(?:stationed|based|camping|posted|camp|deployed)[ ]at"
    r"|(?:moved|moving|relocat(?:ed|ing)|going|return(?:s|ed|ing)?|go|back|home|trip|travel(?:l?ed|l?ing"
    r"|s)?|flight"
    r"|fly|flying|flew|drive|driving|drove|deported|headed|commutes?|posted|escort)"
    r"(?:[ ](?:back|home|here|up|down|out|in)){0,2}[ ](?:to|from)"
    rf"|{_KIN}{_WORDS}[ ](?:de[ ]|d['’]|à|au|en)"  # noqa: RUF001 (texts are written with it)
    r"|(?:vient|revient|arrive|transf[ée]r[ée]e?|retour|d[ée]part|voyage|vol|avion|accident|chasse|pêche"
    r"|travaille"
    r"|mine|chalet|usine|[ée]tudie|sort|patiente?|r[ée]sidente?|ambulance)"
    rf"{_WORDS}[ ](?:à|de[ ]|du[ ]|des[ ]|d['’]|vers|pour|près de|aux?|en|sur)"  # noqa: RUF001 (texts are written with it)
)
_NAME = re.compile(
    r"[^\W\d_a-zà-öø-ÿ](?:[\w'’-]|\.(?=[ ]?\w)){1,24}"  # noqa: RUF001 (names are written with it)
    r"(?:[ ](?:(?:of|the|du|de|la|des|aux|sur)[ ]){0,2}[^\W\d_a-zà-öø-ÿ][\w'’-]{1,24}){0,3}"  # noqa: RUF001
)
# Nations, reserves, counties of the prairies, bases, and land that has a name of its own.
_NAMED = re.compile(
    r"(?:(?:[^\W\d_a-z][^\W\d_]['’\w-]{0,20}[ ]){1,4}(?:First[ ]Nations?|Cree[ ]Nation|Ojibway[ ]Nation"  # noqa: RUF001
    r"|Dene[ ]Nation"
    r"|M[ée]tis[ ]Settlement|Indian[ ]Reserv(?:e|ation)|Reserv(?:e|ation)|Air[ ]Force[ ]Base|AFB"
    r"|Naval[ ]Station"
    r"|Peninsula|Band)(?![\w-])"
    r"|(?:(?:Rural[ ]Municipality|R\.?M\.?|M\.?D\.?|Municipal[ ]District|Regional[ ]Municipality|Town"
    r"|Township|Village"
    r"|Hamlet|District[ ]Municipality|Municipalité|Canton|Paroisse)[ ](?:of|de|d['’]))[ ]?"  # noqa: RUF001
    r"[^\W\d_a-z][\w'’-]{2,20}(?:[ ][^\W\d_a-z][\w'’-]{2,20}){0,2}"  # noqa: RUF001
    r"|(?:CFB|BFC|CFS|NAS|Joint[ ]Base|Camp|Fort|Ft\.?)[ ][^\W\d_a-z][\w'’-]{2,20}(?:[ ](?:Lake|River|Bay))?"  # noqa: RUF001
    r"|(?:Navajo|Cherokee|Choctaw|Osage|Oneida|Hopi|Crow)[ ]Nation)(?!['’]s)"  # noqa: RUF001
)
_NAMED_HINT = automaton(
    r"First Nation|Cree Nation|Ojibway Nation|Dene Nation|tis Settlement|Reserve|Reservation|Air Force Base"
    r"|AFB|Naval St"
    r"|Peninsula|Band|Rural Municipality|\bR\.?M\.? of|\bM\.?D\.? of|District of|Municipality of|Town of"
    r"|Township of"
    r"|Village of|Hamlet of|Municipalité d|Canton d|Paroisse d|\bCFB|\bBFC|\bCFS|\bNAS |Joint Base|Camp "
    r"|Fort |\bFt\.? "
    r"|Navajo|Cherokee|Choctaw|Osage|Oneida|Hopi|Crow Nation"
)
_FORTS = re.compile(r"(?:Camp|Fort|Ft\.?|NAS|CFS)[ ]")
_NO_BAND = re.compile(
    r"(?:Resistance|Rubber|Wrist|Lap|Gastric|Allergy|Name|ID|Arm|Ace|Head|Hair|Elastic|The|A)[ ]Band\b"
)
_NO_RESERVE = re.compile(
    r"(?:Ovarian|Functional|Coronary|Flow|Fractional|Army|Federal|Cardiac|Renal|Pulmonary|Bone|Marrow|Iron"
    r"|Respiratory"
    r"|Military|Navy|The|No|In|Off|On|Nature|Cognitive|Mental|Hepatic|Liver)[ ](?:\w+[ ])?Reserve",
)
_LEADING = re.compile(
    r"(?:(?:The|From|In|At|To|Of|Near|Member|Pt|Patient|Lives|Living|Resident|Chief|Elder|Band)[ ])+"
)
_IS_PART = re.compile(r"['’]s?\b|[-@_]\w|/\w")  # noqa: RUF001 (names are written with it)
_CAPITALISED = re.compile(r"[ ]([^\W\d_a-zà-öø-ÿ][\w'’-]*)")  # noqa: RUF001 (names are written with it)
_WARDS = frozenset(
    "emerg emergency icu er ed or pacu stepdown triage telemetry tele rehab resus trauma bed bloc"  # noqa: SIM905 (a list of words reads best as a text)
    " urgence usi psych maternity peds nicu picu ccu micu sicu holding waiting clinic hospital home"
    " radiology dialysis school prison custody detox heaven chair floor room reserve bathroom hallway"
    " afib sinus hospice snf ltc chsld cpe".split()
)
_LANGUAGES = frozenset(
    ("navajo", "cree", "dene", "ojibway", "inuktitut", "mandarin", "cantonese", "french", "english")
)
_BITS = bits_of(EntityType.LOCATION)


class LocationCueRecognizer:
    """Finds places after words that say that one follows, and those that say what they are; built once."""

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        gap = r"[ :-]{0,3}(?:the |la |le |l['’])?"  # noqa: RUF001 (texts are written with it)
        self._sure = automaton(rf"\b(?i:{_SURE_CUES}){gap}\p{{Lu}}")
        self._cues = automaton(rf"\b(?i:{_CUES}){gap}\p{{Lu}}")

    def recognize(self, text: str) -> Iterator[Finding]:
        """Yield findings; they may overlap. Spans are half-open, in code points."""
        for cues, is_sure in ((self._sure, True), (self._cues, False)):
            for _, end in spans_of(cues, text):
                name = _NAME.match(text, end - 1)
                if name is not None and (found := self._behind(text, name, is_sure=is_sure)) is not None:
                    yield found
        if _NAMED_HINT.search(text.encode("utf-8", "surrogatepass")) is not None:
            yield from self._named(text)

    def _behind(self, text: str, name: re.Match[str], *, is_sure: bool) -> Finding | None:
        """Return the place that begins after a cue."""
        start, words = name.start(), list(re.finditer(r"\S+", name[0]))
        for word in reversed(words):
            end = start + word.end()
            if self._gazetteer.is_place(text[start:end]):
                if not is_sure and is_everyday(text[start:end], self._gazetteer):
                    return None  # "returned to Congress"
                if word[0].lower() in _LANGUAGES or _IS_PART.match(text, end) or self._goes_on(text, end):
                    return None
                return _found(start, end, KNOWN, "a place of the lists where one is due")
        if not is_sure:
            return None
        end = start + words[0].end()
        first = words[0][0]
        is_plain = first.lower() in _WARDS or first.isupper() or len(first) < 4  # noqa: PLR2004 (of an abbreviation)
        if is_plain or self._gazetteer.of(first) or _IS_PART.match(text, end) or self._goes_on(text, end):
            return None
        return _found(start, end, UNKNOWN, "where a place is due")

    def _goes_on(self, text: str, end: int) -> bool:
        """Tell whether a name continues after a place, as that of an organization: "Brantford General"."""
        if is_term(text, end, self._gazetteer, n_words=2):
            return True
        after = _CAPITALISED.match(text, end)
        return after is not None and not after[1].isupper() and not self._gazetteer.is_place(after[1])

    def _named(self, text: str) -> Iterator[Finding]:
        """Yield what shows that it is a place."""
        for match in _NAMED.finditer(text):
            leading = _LEADING.match(match[0])
            start, end = match.start() + (leading.end() if leading else 0), match.end()
            goes_on = _IS_PART.match(text, end) or is_term(text, end, self._gazetteer, n_words=2)
            if not goes_on and self._is_place(text[start:end]):
                yield _found(start, end, NAMED, "shows that it is a place")

    def _is_place(self, name: str) -> bool:
        """Tell whether what shows that it is a place is one: no gastric band, no coronary reserve."""
        if " " not in name or _NO_BAND.search(name) or _NO_RESERVE.search(name):
            return False
        if name.endswith(" Band"):
            return self._gazetteer.is_place(name.removesuffix(" Band"))
        return not _FORTS.match(name) or self._is_fort(name)

    def _is_fort(self, name: str) -> bool:
        """Tell whether a fort or camp is one of the lists, or bears a name that is no word."""
        last = name.split()[1]
        return self._gazetteer.is_place(name) or not self._gazetteer.of(last) & Word.ORDINARY


def _found(start: int, end: int, score: float, why: str) -> Finding:
    return Finding(
        Span(start, end), EntityType.LOCATION, SOURCE, score, _BITS, (Reason("context", why, score),)
    )
