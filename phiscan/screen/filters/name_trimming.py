"""What a name took along that is no part of it: who somebody is before it, the sentence after it.

"fils Réjean", "Pastor Whitlock", "notes de Mylène", "Tunde well, two kids": a recognizer that goes by the
words around a name takes one too many now and then, in small letters above all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from phiscan.lexicon.capitalized_words import LETTER
from phiscan.lexicon.gazetteer import Gazetteer, Word, fold
from phiscan.model import EntityType, Finding, Span
from phiscan.screen.filters.name_stop_list import load_vetoes

_TRIMMED = frozenset({"names.tagger", "names.cue"})
_PEOPLE = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_KIN = frozenset(
    "mom mum mommy dad daddy son daughter wife husband fils fille mari frere soeur mere pere maman papa"  # noqa: SIM905 (a list of words reads best as a text)
    " tante oncle niece nephew neveu cousin cousine conjoint conjointe epouse epoux ami amie voisin"
    " voisine kokum mooshum kookum auntie uncle haji hajji hj puan encik tuan cik mevrouw meneer frau"
    " herr senor senora signora sor elder pastor chaplain deacon imam ustad sheikh coach thx thanks"
    " merci hi hello hey bonjour salut allo jeune kid dtr dau husb hubby gf bf bru gendre"
    " grandma grandpa".split()
)
# Words in small letters that join a name to its sentence.
_JOINING = frozenset(
    "et ou and or with for from re the to by w chez voir pi pis cest c quon que qui pour par avec mon"  # noqa: SIM905 (a list of words reads best as a text)
    " ma ta sa ses un une at is was mais petite petit bebe appeler aviser rappeler her his their per sw ot"
    " slp moa pab psw hca rn lpn inf nurse charge".split()
)
# Words in small letters that a sentence continues with, although some are names.
_GOING_ON = frozenset(
    "en la le les il elle on est a au aux pas ne se y un une du des dit va veut well now today again"  # noqa: SIM905 (a list of words reads best as a text)
    " early late here home back ok who needs wants called has is was says not but and or et ou mais came"
    " comes going also at in to for".split()
)
_PARTICLES = frozenset({"de", "du", "des", "d"})
# Who somebody is, without a name: a mother, not whose.
_ALONE = frozenset(
    "maman papa mom mum mommy dad daddy mamie papi granny grandma grandpa kokum mooshum auntie".split()  # noqa: SIM905 (a list of words reads best as a text)
)
_TITLE = re.compile(
    r"(?:\b(?:mme|mlle|mrs?|ms|m|dre?|madame|monsieur|docteur)\.?|[\n\t|,;:(])[ ]?$", re.IGNORECASE
)
_HEAD = re.compile(rf"({LETTER}+)(?:[ ]{{1,2}}|['’])(?={LETTER})")  # noqa: RUF001 (names are written with it)
_TAIL = re.compile(r"[ ,]+([^\W\d_]+)['’]?$")  # noqa: RUF001 (names are written with it)
_BETWEEN = re.compile(r"[ ](?:ou|OU|de[ ]chez|chez)[ ]")
_REACH, _WORD_CHARS = 14, 48
# Four capitals after a name, and eight digits: a card of Quebec, "Marie Tremblay TREM 1234 5678".
_CARD = re.compile(r"[ ,]+[A-Z]{4}$")
_CARDS = frozenset({"nam", "ramq"})
_CARD_DIGITS = re.compile(r"[ -]?\d{4}[ -]?\d{4}(?!\d)")
# What is wished at a feast is nobody, but for who it is wished to: "Merry Christmas", "Joyeuses Pâques".
_WISH = re.compile(
    r"(?:merry|happy|joyeu(?:x|ses?)|bon(?:nes?)?|feliz)[ ](?:[^\W\d_]{1,12}[ ]){0,2}"
    r"(?:christmas|x-?mas|easter|new[ ]year|holidays|thanksgiving|no[ëe]l|p[âa]ques|ann[ée]e|f[êe]tes?"
    r"|navidad)\b[ ,!.]{0,4}",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(rf"{LETTER}+")


def trimmed(text: str, finding: Finding, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield a name without what it took along; two where it holds two, none where nothing is left of it."""
    if finding.source == "names.tagger" and not any(map(str.isalnum, finding.span.of(text))):
        return  # a bracket
    start, end = finding.span.start, finding.span.end
    if finding.entity_type not in _PEOPLE or finding.source not in _TRIMMED:
        whole = _without_card(text, start, end) if finding.entity_type in _PEOPLE else end
        yield finding if whole == end else replace(finding, span=Span(start, whole))
        return
    if wish := _WISH.match(text, start, end):
        named = _FIRST_WORD.match(text, wish.end(), end)
        flags = gazetteer.of(named[0]) if named else 0
        if not flags & (Word.FIRST | Word.LAST) or flags & Word.ORDINARY:
            return
        start = wish.end()
    between = _BETWEEN.search(text, start, end)
    parts = [(start, end)] if between is None else [(start, between.start()), (between.end(), end)]
    for low, high in parts:
        if fold(text[low:high]) in _ALONE and text[low].islower():
            continue
        span = _cut(text, low, high, gazetteer)
        if span != (low, high) and (
            fold(text[slice(*span)]) in _CARDS or load_vetoes(gazetteer).is_label(text, *span)
        ):
            continue  # "NAM" of "NAM ROYM 5861 0316"
        is_whole = span == (finding.span.start, finding.span.end)
        yield finding if is_whole else replace(finding, span=Span(*span))


def _without_card(text: str, start: int, end: int) -> int:
    """Return where a name ends without the letters of the card after it."""
    if _CARD_DIGITS.match(text, end) is None:
        return end
    card = _CARD.search(text, max(start, end - _WORD_CHARS), end)
    return end if card is None else card.start()


def _cut(text: str, start: int, end: int, gazetteer: Gazetteer) -> tuple[int, int]:
    while (head := _HEAD.match(text, start, end)) is not None and _is_before(text, start, head, gazetteer):
        start = head.end()
    end = _without_card(text, start, end)
    while (tail := _TAIL.search(text, max(start, end - _WORD_CHARS), end)) is not None and _is_behind(
        tail[1], gazetteer
    ):
        end = tail.start()
    return start, end


def _is_before(text: str, start: int, head: re.Match[str], gazetteer: Gazetteer) -> bool:
    """Tell whether the first word of a name is none of it."""
    word = fold(head[1])
    if word in _KIN:
        return head[0][-1] == " " and (head[1].islower() or text[head.end()].isupper())
    if not head[1].islower():
        return False
    if word in _PARTICLES:
        return text[head.end()].isupper() and _TITLE.search(text, max(0, start - _REACH), start) is None
    return word in _JOINING and not gazetteer.of(head[1]) & Word.FIRST


def _is_behind(word: str, gazetteer: Gazetteer) -> bool:
    """Tell whether the last word of a name is one of the sentence: in small letters, and nobody's name."""
    if not word.islower():
        return False
    if word in _GOING_ON:
        return True
    flags = gazetteer.of(word)
    return bool(flags & (Word.ORDINARY | Word.PARTICLE)) and not flags & (Word.FIRST | Word.LAST)
