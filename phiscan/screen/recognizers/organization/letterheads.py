"""The organization at the head of a letter: a first line above an address or a telephone number.

"two rivers midwifery collective" above "#12 - 3380 skeena st" needs no word that says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of

SOURCE = "organizations.letterhead"
_SCORE = 0.845  # above the tagger's
_BITS = bits_of(EntityType.ORGANIZATION)
_MAX_CHARS, _MIN_CHARS, _MIN_WORDS, _MAX_WORDS, _MAX_DIGITS = 70, 5, 2, 9, 2
_HEAD = re.compile(
    r"\s{0,40}(?P<line>[^\n]{1,200})\n(?:[ \t\r]{0,40}\n)?(?P<next>(?:[^\n]{0,120}(?:\n|$)){1,2})"
)
_NAME = re.compile(r"[^\W_][^\n:;|\t@=]*?(?=[ ]{3}|[ ]--?[ ]|[ ]?[\r\n]|$)")
_MAX_PERSON = 4  # words: Mary Jo Ann Roy
_ADDRESS = re.compile(
    r"\b[a-z]\d[a-z][ -]?\d[a-z]\d\b|\b[a-z]{2}[ ]{1,2}\d{5}(?:-\d{4})?\b"
    r"|\(?\b\d{3}\)?[ .-]{1,2}\d{3}[ .-]\d{4}\b"
    r"|^[ ]{0,8}(?:#?\d{1,5}[A-Za-z]?(?:[ ]?[-,][ ]?\d{1,5})?,?[ ](?:[^\W\d_]+[ ]){1,4}(?:st"
    r"|street|ave?|avenue|rd|road|dr"
    r"|drive|blvd|way|lane|hwy|highway|pkwy|ct|cres)\b|\d{1,5},?[ ](?:rue|av\.?|avenue|boul\.?"
    r"|ch\.?|chemin|rang|place)[ ])",
    re.IGNORECASE | re.MULTILINE,
)
_LABELLED = re.compile(r"^[ ]{0,8}[^\W\d_][\w ./'-]{0,24}[ ]?:", re.MULTILINE)
_IS_TITLE = re.compile(
    r"\b(?:fax|form(?:ul(?:aire|ary))?|notes?|reports?|rapports?|summary|sommaire|referral"
    r"|r[ée]f[ée]rence|demande|letter"
    r"|lettre|lists?|listes?|log|sheet|feuille|chart|invoice|facture|statement|relev[ée]"
    r"|requisition|requ[eê]te|consult\w*"
    r"|discharge|cong[ée]|transfer\w*|records?|dossiers?|messages?|memo|avis|notice|certifica\w+"
    r"|orders?|prescriptions?"
    r"|ordonnance|appointments?|rendez-vous|r[ée]sum[ée]|curriculum|schedule|horaire|patients?"
    r"|clients?|from|to|de|re|subject"
    r"|objet|dear|cher|ch[eè]re|hi|hello|bonjour|draft|confidential|confidentiel|urgent|copy"
    r"|copie|page|version|test"
    r"|result\w*|r[ée]sultat\w*|update|reminder|rappel|minutes|agenda|policy|procedure|plan|label"
    r"|étiquette|history|intake"
    r"|voicemail|chat|export|thread|calls?|appels?|alertes?|alerts?|visites?|visits?|explanation"
    r"|benefits|names?|noms?|address|adresse|contacts?|roster|directory|bottin)\b",
    re.IGNORECASE,
)


def letterhead(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield the first line of a text if it is an organization's; spans are half-open, in code points."""
    head = _HEAD.match(text)
    if head is None or _ADDRESS.search(head["next"]) is None or _LABELLED.match(head["next"]):
        return
    name = _NAME.match(head["line"])
    if name is None or not _MIN_CHARS <= len(name[0]) <= _MAX_CHARS or _IS_TITLE.search(name[0]):
        return
    words = re.findall(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*", name[0])  # noqa: RUF001 (names are written with it)
    n_digits = sum(char.isdecimal() for char in name[0])
    if not _MIN_WORDS <= len(words) <= _MAX_WORDS or n_digits > _MAX_DIGITS or _is_person(words, gazetteer):
        return
    start = head.start("line")
    reason = Reason("context", "the head of a letter", _SCORE)
    span = Span(start, start + len(name[0].rstrip(" ,.-")))
    yield Finding(span, EntityType.ORGANIZATION, SOURCE, _SCORE, _BITS, (reason,))


def _is_person(words: list[str], gazetteer: Gazetteer) -> bool:
    """Tell whether a line is somebody's name: a title, a degree, or nothing but names."""
    flags = [gazetteer.of(word) for word in words]
    if flags[0] & (Word.TITLE | Word.TITLE_HEALTH | Word.CREDENTIAL | Word.MONTH_OR_DAY):
        return True
    if any(flag & Word.CREDENTIAL and word.isupper() for word, flag in zip(words, flags, strict=True)):
        return True
    names = Word.FIRST | Word.LAST | Word.PARTICLE
    return len(words) <= _MAX_PERSON and all(flag & names or not flag for flag in flags)
