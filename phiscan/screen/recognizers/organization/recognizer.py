r"""Organizations by the words that say what they are: names before "Hospital", behind "Clinique".

Where such a word stands (``dictionaries/organization_heads.txt``), the words beside it are read up to what
cannot be a part of a name. With capitals in the usual places a capital is evidence enough. Where everything
is written in capitals, or nothing, one of the words must be on no list of ordinary words, or a name in
capitals must fill its line or cell. Source of the kinds of words: Uzuner et al. (2007), section 4.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar

from phiscan.lexicon.gazetteer import Gazetteer, fold
from phiscan.lexicon.organization_words import (
    BARRIER,
    JOINS,
    is_generic,
    is_unusual,
    load_heads,
    words_before,
)
from phiscan.model import Document, EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.recognizer import CaseVariant, Cost
from phiscan.screen.recognizers.organization.cues import OrganizationCueRecognizer
from phiscan.screen.recognizers.organization.known_names import KnownRecognizer
from phiscan.screen.recognizers.organization.residences import residences_by_room
from phiscan.screen.rules.context import whole_word
from phiscan.screen.rules.recognizer import MAX_HITS
from phiscan.text.automata import automaton
from phiscan.text.offsets import in_text
from phiscan.text.phrase_patterns import any_of

SOURCE = "organizations"
_SURE, _UNSURE = 0.85, 0.6
_BITS = bits_of(EntityType.ORGANIZATION)
_Name = tuple[int, int, float]  # where it begins and ends, and its score

_CAPITAL = r"[^\W\d_a-zà-öø-ÿ]"
_WORD = rf"(?:{_CAPITAL}|\d{{1,3}}(?:st|nd|rd|th)\b)[\w.'’&-]{{0,24}}"  # noqa: RUF001 (names are written with it)
_NUMBER = r"(?:[ ](?:No\.?[ ]?|Number[ ]|#[ ]?)\d{1,5})"
_LAST = _WORD.replace(".", "")  # with a dot it may end a sentence
_TAIL = re.compile(
    rf"{_NUMBER}|[ ]&[ ]{_LAST}|[ ](?:of|at|du|de)[ ](?:the[ ]|St\.[ ])?{_LAST}(?:[ ]{_LAST})?"
)
_TAIL_IN_CAPITALS = re.compile(rf"{_NUMBER}|[ ]OF[ ](?:THE[ ])?{_CAPITAL}[\w'’&-]{{2,24}}")  # noqa: RUF001 (names are written with it)
_OF = re.compile(
    rf"[ ](?:of|for)[ ](?:the[ ]|St\.[ ])?{_LAST}(?:[ ](?:(?:of|and|at|for|the)[ ])?{_LAST}){{0,4}}"
)
_IS_LABEL = re.compile(
    r"[ ]?[:#=]"
    r"|[ ](?:(?:no\.|no(?!\.)|number)(?![ ]?\d)|name|id|phone|fax|tel|address|card|record|course|day)\b",
    re.IGNORECASE,
)
_GOES_ON = re.compile(r"['’]s\b|[ ][^\W\d_a-z][a-z]|[ ]of\b")  # noqa: RUF001 (names are written with it)
# Where a name in capitals fills its line or cell.
_ENDS = re.compile(rf"[ ]?(?:{BARRIER}|,|$)")
_BEGINS = re.compile(rf"(?:^|{BARRIER}|,)[ ]{{0,2}}$")
# Where a place is due: after these words.
_DUE = re.compile(
    r"(?:(?<!\w)(?:at|to|from|by|with|via|through|thru|w|w/|in|@|ins\.?|insurer|carrier|chez|à|au|vers|par|the"
    r"|and)[ ]|[→>][ ])$",
    re.IGNORECASE,
)
_DUE_SMALL = re.compile(r"(?<!\w)(?:at|to|from|@|chez)[ ]$")
_SMALL_SUFFIXES = frozenset(("inc", "llc", "llp", "ltd", "ltée", "ltee", "enr", "s.e.n.c", "s.e.n.c.r.l"))
_DUE_CHARS = 12
_MAX_DUE = 3  # words before a head, all of them ordinary ones, where a place is due
_MAX_INITIAL = 3  # with its dot
# Between the French word for an organization and its name.
_ARTICLE = r"(?:de[ ]la|de[ ]l['’]|d['’]|l['’]|des|du|de|les?|la|à[ ]la|à[ ]l['’]|aux?|à|en|et|pour)"  # noqa: RUF001 (names are written with it)
_ADJECTIVE = (
    r"(?:intégrée?|universitaires?|hospitali[eè]re?s?|m[ée]dicale?|familiale?|sociaux|g[ée]n[ée]rale?"
    r"|r[ée]gionale?|communautaires?|primaires?|secondaires?|privée?s?|dentaires?|vétérinaires?|populaire"
    r"|palliatifs|âgées|spécialisée?s?"
    r"|[a-zà-ÿ-]{3,16}(?:aires?|iques?|ales?|iennes?|iens?|ives?|ifs?|tri(?:ques?|e)|logiques?))"
)
_NEXT = r"(?:[ ]|(?<=['’]))"  # noqa: RUF001 (names are written with it)
_PROPER = rf"(?:{_CAPITAL}\.|(?i:Ste?)\.|{_CAPITAL}(?:[\w'’-]|\.(?=-)){{0,32}})"  # noqa: RUF001 (names are written with it)
_BEHIND = re.compile(
    rf"(?:[ ]{_ADJECTIVE}\b){{0,2}}"
    rf"(?:{_NEXT}{_ARTICLE}(?:{_NEXT}[a-zà-ÿ-]{{2,16}}(?=[ ])(?:[ ]{_ADJECTIVE}\b)?)?){{0,4}}"
    rf"{_NEXT}(?!(?:No|Nom|T[eé]l|Fax|Dre?)\b(?!-))"
    rf"(?P<name>{_PROPER}(?:[ -](?:{_ARTICLE}{_NEXT})?{_PROPER}){{0,5}})"
)
# What continues after a name in capitals.
_VERB = (
    r"(?:APR[EÈ]S|AVANT|POUR|PAR|SUR|AVEC|SANS|DEPUIS|SELON|POSTE|CHAMBRE|SE|EST|SONT|A|AVAIT|SERA|FERA|VERS"
    r"|(?:CONFIRM|DEMAND|AVIS|REFUS|FERM|APPEL|ENVOY|ANNUL|RETOURN|TRANSF[EÉ]R|CONTACT)[EÉ]E?S?|PR[EÉ]VUE?)\b"
)
_BEHIND_IN_CAPITALS = re.compile(
    rf"(?:{_NEXT}(?i:{_ARTICLE})){{0,2}}{_NEXT}(?!(?:NO|NOM|T[EÉ]L|FAX|DRE?)\b(?!-))"
    rf"(?P<name>{_PROPER}(?:[ -](?:(?i:{_ARTICLE}){_NEXT})?(?!{_VERB}){_PROPER}){{0,4}})"
)
# A word in small letters before a name that has its capitals: "l'hôpital de La Pocatière".
_BEHIND_OF = re.compile(
    rf"(?:[ ]{_ADJECTIVE}\b)?(?:{_NEXT}{_ARTICLE})?{_NEXT}(?!(?:No|Nom|T[eé]l|Fax|Dre?)\b(?!-))"
    rf"(?P<name>{_PROPER}(?:[ -](?:{_ARTICLE}{_NEXT})?{_PROPER}){{0,4}})"
)
_BEHIND_SMALL = re.compile(
    r"(?:[ ](?:de[ ]la|de[ ]l['’]|des|du|de|le|la|les))?[ ](?P<name>[^\W\d_][\w-]{3,20})"  # noqa: RUF001 (names are written with it)
)
_SMALL_FRONTS = frozenset(
    "pharmacie clinique hopital residence chsld clsc garderie ecole manoir rpa poissonnerie boulangerie"  # noqa: SIM905 (a list of words reads best as a text)
    " boucherie quincaillerie epicerie depanneur garage ferme scierie polyvalente polyclinique cegep"
    " maison villa foyer gite auberge coop cooperative caisse".split()
)
# Words that name an organization only with an article or an adjective after: "Centre de la main Ouest".
_OF_WORDS = frozenset(
    ("centre", "club", "fondation", "association", "societe", "cercle", "agence", "salon", "cafe", "hotel")
)
_ABBREVIATED = frozenset(("hop", "clin", "pharm", "resid"))  # with a dot or without
_BEGINS_OF = re.compile(rf"[ ](?:{_ARTICLE}{_NEXT}|{_ADJECTIVE}[ ])")
_IS_PART = re.compile(r"[-_@.+]\w")  # of another word: "clinic@", "INC-2025"
_ACRONYMS = frozenset(  # written in capitals in any text
    "clsc ciusss cisss chsld crdp crdi crdited chu chum cusm gmf gmf-u umf rpa cpe".split()  # noqa: SIM905 (a list of words reads best as a text)
)
# Where a place is due, one word before these names a hospital; before others it may be a first name.
_SAY_ENOUGH = frozenset(
    ("regional", "memorial", "general", "gen", "territorial", "provincial", "health", "medical")
)
# The same where the one word is on no list of ordinary words: "at Akron Children's", "the Miller Centre".
_SAY_MORE = frozenset(
    "children's childrens methodist lutheran presbyterian baptist mennonite adventist deaconess midwives"  # noqa: SIM905 (a list of words reads best as a text)
    " midwifery pediatrics paediatrics orthopedics orthopaedics dermatology cardiology oncology urology"
    " ophthalmology optometry eyecare vision audiology villa village haven centre center gardens"
    " residence pines".split()
)
_WRITTEN = {"e": "[eéèê]", "o": "[oô]", "a": "[aàâ]", "'": "['’]"}  # noqa: RUF001 (names are written with it)
_KINDS = ("any", "name", "suffix", "firm", "place")  # of heads that follows a name


class OrganizationRecognizer:
    """Find the names of organizations; built once per process."""

    name: ClassVar = "organizations"
    cost: ClassVar = Cost.CHEAP
    case_variants: ClassVar = CaseVariant.UPPERCASE

    def __init__(self, gazetteer: Gazetteer) -> None:
        self._gazetteer = gazetteer
        self._kinds = _kinds()
        self._heads = automaton(any_of(map(_head, self._kinds)))
        self._known = KnownRecognizer(gazetteer)
        self._due = OrganizationCueRecognizer(gazetteer)

    def recognize(self, document: Document) -> Iterator[Finding]:
        """Yield findings; they may overlap. Spans are half-open, in code points."""
        text = document.text
        yield from self._known.recognize(text)
        yield from self._due.recognize(text)
        yield from residences_by_room(text)
        places = self._places(text)
        stride = -(-len(places) // MAX_HITS)
        for start, end in places[::stride] if stride else ():
            if not whole_word(text, start, end):
                continue
            head = _plain(text[start:end])
            name = self._name(text, start, end, self._kinds.get(head, frozenset()))
            if name is not None:
                low, high, score = name
                reasons: tuple[Reason, ...] = (Reason("head", head, score),)
                if stride > 1:
                    reasons += (Reason("cap", f"1 of {stride} of {len(places)} places examined", score),)
                yield Finding(Span(low, high), EntityType.ORGANIZATION, SOURCE, score, _BITS, reasons)

    def _places(self, text: str) -> list[tuple[int, int]]:
        """Return where heads stand; the last word of one may begin another ("Behavioral Health Center")."""
        raw = text.encode("utf-8", "surrogatepass")
        places: list[tuple[int, int]] = []
        position: int | None = 0
        while position is not None:
            begin, position = position, None
            for found in self._heads.finditer(raw, begin):
                start, end = found.span()
                places.append((start, end))
                last = raw.rfind(b" ", start, end)
                if last > 0:
                    position = last + 1
                    break
        return in_text(text, raw, places)

    def _name(self, text: str, start: int, end: int, kinds: frozenset[str]) -> _Name | None:
        """Return the name that a head of these kinds is a part of."""
        head = text[start:end]
        name = self._behind(text, start, end) if "front" in kinds else None
        kind = next((kind for kind in _KINDS if kind in kinds), None)
        if name is None and kind is not None and not _IS_PART.match(text, end):
            is_firm = kind == "suffix"
            words = words_before(text, start, firm=is_firm) if is_firm or head[0].isupper() else []
            if words:
                in_capitals = head.isupper() and all(word.isupper() or word in JOINS for _, word in words)
                name = (self._in_capitals if in_capitals else self._capitalised)(text, words, end, kind)
            elif head.islower():
                name = self._in_small_letters(text, start, end, kind)
        if name is None and "of" in kinds and head[0].isupper() and not head.isupper():
            found = _OF.match(text, end)
            name = None if found is None else (start, found.end(), _UNSURE)
        return name

    def _capitalised(self, text: str, words: list[tuple[int, str]], end: int, kind: str) -> _Name | None:
        low, names = words[0][0], [word for _, word in words]
        unusual = is_unusual(self._gazetteer, names)
        if not unusual and (is_generic(names) or _IS_LABEL.match(text, end)):
            return None
        if kind in {"firm", "place"} and (_GOES_ON.match(text, end) or all(map(_is_initial, names))):
            return None
        if kind == "place":
            before = text[max(0, low - _DUE_CHARS) : low]
            head = text[low:end].rpartition(" ")[2].lower()
            of_town = head in _SAY_ENOUGH and self._gazetteer.is_place(" ".join(names))
            is_due = of_town or (_DUE.search(before) or _BEGINS.search(before)) is not None
            is_short = len(names) == 1 and head not in _SAY_ENOUGH and not (unusual and head in _SAY_MORE)
            if not is_due or is_short:
                return None
        tail = _TAIL.match(text, end)
        return low, tail.end() if tail else end, _UNSURE if kind == "firm" else _SURE

    def _in_capitals(self, text: str, words: list[tuple[int, str]], end: int, kind: str) -> _Name | None:
        low, names = words[0][0], [word for _, word in words]
        before = text[max(0, low - _DUE_CHARS) : low]
        begins = _BEGINS.search(before) is not None
        if is_unusual(self._gazetteer, names):
            is_sure = kind not in {"firm", "place"} or begins or _DUE.search(before) is not None
        else:
            # Ordinary words alone: a name where it fills its line or cell, or where a place is due.
            is_alone = begins and _ENDS.match(text, end) is not None
            is_due = len(names) <= _MAX_DUE and _DUE.search(before) is not None
            is_sure = kind not in {"firm", "place"} and (is_alone or is_due) and not is_generic(names)
        if not is_sure:
            return None
        tail = _TAIL_IN_CAPITALS.match(text, end)
        return low, tail.end() if tail else end, _UNSURE if kind == "firm" else _SURE

    def _in_small_letters(self, text: str, start: int, end: int, kind: str) -> _Name | None:
        """Return a name before a head in small letters: with a capital ("Walgrove pharmacy"), or without."""
        if kind == "firm" or (kind == "suffix" and text[start:end] not in _SMALL_SUFFIXES):
            return None
        words = words_before(text, start) if kind == "any" else []
        if not words or words[-1][1].lower() in JOINS:
            words = words_before(text, start, small=True)[-2:]
            while words and words[0][1] in JOINS:
                del words[0]
        if not words or not is_unusual(self._gazetteer, [word for _, word in words]):
            return None
        low = words[0][0]
        before = text[max(0, low - _DUE_CHARS) : low]
        begins = kind == "name" and " " in text[start:end] and _BEGINS.search(before)
        if kind in {"name", "place"} and not (begins or _DUE_SMALL.search(before)):
            return None
        return low, end, _SURE

    def _behind(self, text: str, start: int, end: int) -> _Name | None:
        """Return the name after a French word for an organization."""
        head = text[start:end]
        plain = _plain(head)
        if plain in _ABBREVIATED and text.startswith(".", end):
            end += 1
        if plain in _OF_WORDS and not _BEGINS_OF.match(text, end):
            return None
        if head.islower():
            is_front = plain in _SMALL_FRONTS
            found = (_BEHIND_OF.match(text, end) or _BEHIND_SMALL.match(text, end)) if is_front else None
            needs_unusual = True
        else:
            needs_unusual = head.isupper() and fold(head) not in _ACRONYMS
            found = (_BEHIND_IN_CAPITALS if needs_unusual else _BEHIND).match(text, end)
        if found is None:
            return None
        names = re.findall(r"[^\W_][\w'’]*", found["name"])  # noqa: RUF001 (names are written with it)
        if is_generic(names):
            return None
        is_named = not needs_unusual or is_unusual(self._gazetteer, names)
        if not is_named and not _is_alone(text, start, found.end()):
            return None
        return start, found.end(), _SURE


def _is_alone(text: str, start: int, end: int) -> bool:
    """Tell whether a name in capitals fills its line or cell, or ends it where a place is due."""
    if not text[start:end].isupper() or _ENDS.match(text, end) is None:
        return False
    before = text[max(0, start - _DUE_CHARS) : start]
    return (_BEGINS.search(before) or _DUE.search(before)) is not None


def _is_initial(word: str) -> bool:
    """Tell whether a word is no more than an initial or the code of a state: "G.", "MN."."""
    return len(word) <= _MAX_INITIAL and word.endswith(".")


def _plain(head: str) -> str:
    return " ".join(fold(head).split())


def _kinds() -> dict[str, frozenset[str]]:
    """Return what each head says, by the head in small letters without accents."""
    table: dict[str, set[str]] = {}
    for word, kind in load_heads():
        table.setdefault(_plain(word), set()).add(kind)
    return {word: frozenset(kinds) for word, kinds in table.items()}


def _head(head: str) -> Sequence[str]:
    """Return the parts of a head; accents may stand or be missing."""
    return [_WRITTEN.get(char, re.escape(char)) for char in head]
