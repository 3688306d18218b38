"""Cities, states, provinces and countries by the gazetteer, where the words around speak of a place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from phiscan.lexicon.capitalized_words import Token, is_term
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of

SCORE = 0.5
SURE = 0.86  # more than the tagger's, which takes many a town for a person
MAX_WORDS = 3
_LOOK_CHARS = 24  # before a place
# Where "à" has lost its accent, as in capitals and on scans, the word before it says that it is no verb.
_WITHOUT_ACCENT = (
    r"(?<!\w)(?:faite?s?|vue?s?|n[ée]e?s?|suivie?s?|(?:transf[ée]r|hospitalis|d[ée]m[ée]nag|domicili|envoy|op[ée]r|pass"
    r"|retourn|sign)[ée]e?s?|demeur(?:e|ant)|habit(?:e|ant)|r[ée]sid(?:e|ant)|venue?s?|rendue?s?|vit|vivant|travaille"
    r"|audience|s[ée]jour|retour|transfert|voyage|stage|arriv[ée]e)"
    r"[ ][a4]"
)
_BEFORE = re.compile(
    r"(?<!\w)(?:in|from|near|to|at|of|via|visiting|toward|towards|around|across|outside|leaving"
    r"|reaching|moved to|à"
    rf"|de|du|au|aux|en|vers|depuis|chez|and|or|et|the|,)[ ]$|{_WITHOUT_ACCENT}[ ]$|(?<!\w)d['’]$",  # noqa: RUF001 (texts are written with it)
    re.IGNORECASE,
)


# Behind these words stands a place, where the gazetteer knows one by that name.
_IN = re.compile(
    r"(?<!\w)(?:in|from|near|to|visiting|outside|around|leaving|past|beyond|(?:late|formerly)[ ]of"
    rf"|buried[ ]at|à|vers|depuis)[ ]$|{_WITHOUT_ACCENT}[ ]$|(?:\d[MFmf]?|[MF]),?[ ]of[ ]$"
    r"|(?:->|→|=>)[ ]$"
    r"|(?<!\w)(?:arrive|native?|originaire|vient|viennent|venue?|près|proche) (?:de[ ]|d['’])$",  # noqa: RUF001 (texts are written with it)
    re.IGNORECASE,
)
_PROVINCE = re.compile(r",?[ ](?:AB|BC|MB|SK|QC|NB|NS|NL|PE|YT|NT|NU|Qc|Sask|Man|Alta)\b\.?")
# What continues after a place in a text in capitals.
_GOES_ON = re.compile(
    r"[ ](?:AND|AT|AS|BY|BUT|FOR|FROM|IN|IS|LAST|NEXT|ON|OR|SINCE|THAT|THE|THIS|TO|UNTIL|WAS|WHERE|WHEN"
    r"|WHO|WITH|WITHOUT|AVEC|CHEZ|DANS|DEPUIS|EN|ET|LE|LA|OU|PAR|POUR|QUI|SUR)\b"
)
# Cities of the shorter list that are everyday words, too. The other cities among the ordinary words stand
# there because they are written often ("Saskatoon", "Sherbrooke").
EVERYDAY = frozenset(
    "airport alabaster alliance aloha anchorage annex antelope anthem apex arcadia archway badger barking"  # noqa: SIM905 (a list of words reads best as a text)
    " bath bear beaver bell bend billings boulder bountiful briarwood brick bush butte canton centennial"
    " central centralia centurion ceres champaign china chinatown chino clay cocoa columbine commonwealth"
    " concord confederation converse cork corona crystal cutler cypress defiance delta derby dover draper"
    " eagle enterprise eureka evergreen fishers flagstaff flint fountain fords garland golden grapevine"
    " green greenbelt greenfield greenwood harrow hermitage hickory highland hillside hitachi holiday"
    " homestead hoover humble hurricane imperial independence jasper keystone lander largo laurel liberal"
    " liberty linden lira lisle mage male man mandan mango manta marina mascara mastic medea mentor"
    " meridian merrimack mesquite metro midland midway minot mission mobile mustang naga nice normal"
    " opportunity orange orchards overland pace palatine pali pampa paradise paramount pare parma parole"
    " pearl pine pisa plantation plum portage praia prosper providence reading republic revere rouge ruse"
    " saga saki sandy savage seaside shaping shoreline simmering slough sparta split spring springs sterling"
    " stow sucre sulphur summit sunrise sunset superior surprise sycamore temple terrace tete tiffin turkey"
    " union university upland vestal vineyard vista waldorf walnut warren westerly wheeling wildwood winder"
    " woodland woodlands".split()
)
_NAME_OR_WORD = Word.FIRST | Word.LAST | Word.ORDINARY
_BEGINS = re.compile(r"(?:^|[\n>(|\t;:→]|,|(?:^|[ \n])[-–—])[ ]{0,2}$")  # noqa: RUF001 (texts are written with it)
_ENDS = re.compile(r"[ ]?(?:$|[\n\r,;|\t)→]|->|=>|[–—-][ ])|[ ]{2}")  # noqa: RUF001 (texts are written with it)
_NEXT = re.compile(r",[ ]{0,2}([^\W\d_]+)")


def find_places(text: str, tokens: Sequence[Token], gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield places of one to three capitalised words after a preposition, alone on a line or after another.

    A place that is also an ordinary word ("Reading", "Of") or a first name needs a preposition.
    """
    index = 0
    while index < len(tokens):
        length, is_town = _place(text, tokens, index, gazetteer)
        if not length:
            index += 1
            continue
        words = tokens[index : index + length]
        index += length
        first, last = words[0], words[-1]
        if not (_stands_as_town(text, words, gazetteer) if is_town else _stands_as_place(text, first, last)):
            continue
        score = SURE if _is_sure(text, words) else SCORE
        reason = Reason("gazetteer", "town" if is_town else "place", score)
        kind = EntityType.LOCATION
        yield Finding(Span(first.start, last.end), kind, "places", score, bits_of(kind), (reason,))


def _place(text: str, tokens: Sequence[Token], index: int, gazetteer: Gazetteer) -> tuple[int, bool]:
    """Return of how many words a place is that begins here, and whether it is a town of the longer list."""
    for length in range(min(MAX_WORDS, len(tokens) - index), 0, -1):
        last = tokens[index + length - 1]
        name = text[tokens[index].start : last.end]
        if len(name) > 40 or "\n" in name:  # noqa: PLR2004 (no place of the list is longer)
            continue
        if gazetteer.is_place(name):
            return length, fold(name) not in gazetteer.places
    return 0, False


def _stands_as_town(text: str, words: Sequence[Token], gazetteer: Gazetteer) -> bool:
    """Tell whether a word is a town of the longer list: after "in", or in a cell or brackets of its own."""
    first, last = words[0], words[-1]
    if _PROVINCE.match(text, last.end):
        return True
    is_compound = "-" in text[first.start : first.end]  # "Trois-Pistoles"
    if len(words) == 1 and not is_compound and first.flags & (Word.FIRST | Word.ORDINARY | Word.TITLE):
        return False
    if is_term(text, last.end, gazetteer, n_words=2, kinds=Word.EPONYM):
        return False  # "in Carpenter syndrome"
    before = text[max(0, first.start - _LOOK_CHARS) : first.start]
    ends = _ENDS.match(text, last.end) is not None
    if _IN.search(before):
        if text[first.start : last.end].isupper() and _GOES_ON.match(text, last.end):
            return True
        return ends or not text[last.end : last.end + 2].strip().isupper()
    stands_alone = ends and _BEGINS.search(before) is not None and not first.flags & (Word.FIRST | Word.LAST)
    following = _NEXT.match(text, last.end) if stands_alone else None  # "St. Croix, Leo"
    return stands_alone and (following is None or not gazetteer.of(following[1]) & Word.FIRST)


def _is_sure(text: str, words: Sequence[Token]) -> bool:
    """Tell whether a name can only be a place: no name or word of the lists, after "in" or "from"."""
    first, last = words[0], words[-1]
    if len(words) == 1 and first.flags & _NAME_OR_WORD:
        return False
    if first.flags & Word.FIRST and last.flags & Word.LAST:
        return False
    return _IN.search(text[max(0, first.start - _LOOK_CHARS) : first.start]) is not None


def _is_word(text: str, token: Token) -> bool:
    """Tell whether a name of one word is an ordinary word before it is a city."""
    return bool(token.flags & Word.ORDINARY) and fold(text[token.start : token.end]) in EVERYDAY


def is_everyday(name: str, gazetteer: Gazetteer) -> bool:
    """Tell whether a place of one word is a word before it is a place: "Mobile", "Congress"; not "Duluth"."""
    if " " in name or not gazetteer.of(name) & Word.ORDINARY:
        return False
    key = fold(name)
    return key in EVERYDAY or key not in gazetteer.places


def _stands_as_place(text: str, first: Token, last: Token) -> bool:
    after = text[last.end : last.end + 1]
    if after in ("-", "@", "_") or (after == " " and text[last.end + 1 : last.end + 2].isupper()):
        following = text[last.end + 1 : last.end + 6]
        if not (after == " " and following[:2].isupper()):  # "Boston MA"
            return False
    before = text[max(0, first.start - _LOOK_CHARS) : first.start]
    if _BEFORE.search(before):
        return not _is_word(text, first) or first is not last
    is_name_or_word = first.flags & (Word.FIRST | Word.LAST) or (
        first.flags & Word.ORDINARY and (first is not last or _is_word(text, first))
    )
    if _BEGINS.search(before) and _ENDS.match(text, last.end) and not is_name_or_word:
        return True
    line_start = not before or before[-1] in "\n>"
    line_end = after in ("\n", "\r", "", ",") or text[last.end : last.end + 2] in (", ", " (")
    return line_start and line_end and not first.flags & (Word.FIRST | Word.ORDINARY)
