"""How staff sign: initials before a degree, the initials of who dictated and who typed, an account.

"K.S., LPN", "SGR/tlm" at the end of a letter, "transcribed by jmb", "Crit called by smacisaac". Two letters
say nothing by themselves: a degree, a word for dictating or typing, or the end of a letter must stand by.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding
from phiscan.screen.recognizers.person.initials import is_other
from phiscan.text.prefilter import Rare

SOURCE = "names.signs"
_SCORE = 0.55
_DEGREE = r"(?:RN|LPN|RPN|LVN|NP|PA-C|RRT|RPh|PSW|HCA|CNA|[Ii]nf\.?|INF\.?)"
_DEGREED = Rare(
    re.compile(
        rf"(?:^|(?<=[\t|(/;])|(?<=[ ]{{2}})|(?<=\bby[ ])|(?<=\b(?:par|per)[ ]))[ \t–—-]{{0,4}}"  # noqa: RUF001 (texts are written with it)
        rf"(?P<all>[A-Z]{{2}}|[A-Z]\.[ -]?(?:[A-Z]\.[ -]?)?[A-Z]\.),?[ ]{_DEGREE}"
        r"(?=[ ]?(?:[,;.)/|\t]|[ ]|$))",
        re.MULTILINE,
    ),
    rf"[A-Z]\.?,? {_DEGREE}",
)
# Shifts and wards that are no initials: "AM RN", "ED RN".
_WARDS = frozenset("am pm ed er or iv md ob ld gi pc ac np hs or ic cc nd sn ps".split())  # noqa: SIM905 (a list of words)
# At the end of a letter, in a line of its own: who dictated, who typed.
_REFERENCE = re.compile(r"^[ \t]{0,8}(?P<all>[A-Z]{2,4})[/:](?P<typed>[a-z]{2,4})[ \t]{0,4}$", re.MULTILINE)
_LETTER = re.compile(
    r"\b(?:D[DT]?|T|Dict\w{0,6}|Trans\w{0,8}|c\.? ?c|enc\w{0,8}|p\.? ?j|sincerely|regards|cordialement"
    r"|dictée?|MD|M\.D)[ ]?[.:,]",
    re.IGNORECASE,
)
_LETTER_CHARS = 240
_TYPED = Rare(
    re.compile(
        r"(?<!\w)(?:transcri(?:bed|t)e?|typed|saisie?|dactylographi[ée]e?|transcriptionist|transc\.?|typist)(?!\w)"
        r"(?:[ ](?:by|par))?[ ]?:?[ ]{0,3}(?P<all>[a-z]{2,3}|[A-Z]{2,4})"
        r"(?=[ ]?(?:[,;.)/|\t]|[ ]{2}|$|[ ](?:le|on)\b))",
        re.MULTILINE | re.IGNORECASE,
    ),
    r"(?i:transc|typed|typist|saisie?|dactylo)",
)
_DICTATED = Rare(
    re.compile(
        r"(?<!\w)(?:[Dd]ict(?:ated|é|ée)?\.?|DICT(?:ATED)?)(?:[ ](?:by|par|BY|PAR))?[ ]?:[ ]{0,3}"
        r"(?P<all>[A-Z]{2,4})(?=[ ]?(?:[,;.)/|\t]|[ ]{2}|$))",
        re.MULTILINE,
    ),
    r"(?i:dict)",
)
_ACCOUNT = Rare(
    re.compile(
        r"(?<!\w)(?:[Bb]y|[Pp]ar|BY|[Uu]ser|[Uu]sager|[Ll]ogin|[Aa]uthor|[Ss]igned|[Ss]igné)"
        r"(?:[ ]?:)?[ ]{1,2}"
        r"(?P<all>[a-z](?P<last>[a-z]{4,14})\d{0,2})(?![\w@.'’-])"  # noqa: RUF001 (texts are written with it)
    ),
    r"(?i:by|par|user|usager|login|author|signed|signé)(?: ?:)? {1,2}[a-z]{5}",
)


def signs(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield the signs of staff; spans are half-open, in code points."""
    for match in _DEGREED.finditer(text):
        letters = "".join(filter(str.isalpha, match["all"])).lower()
        if "." in match["all"] or not (letters in _WARDS or is_other(letters)):
            yield _found(match.span("all"), health=True)
    for match in _REFERENCE.finditer(text):
        near = text[max(0, match.start() - _LETTER_CHARS) : match.end() + _LETTER_CHARS]
        if not is_other(match["all"].lower()) and _LETTER.search(near):
            yield _found(match.span("all"), health=True)
            yield _found(match.span("typed"))
    for match in _DICTATED.finditer(text):
        yield _found(match.span("all"), health=True)
    for match in _TYPED.finditer(text):
        word = match["all"]
        if word.isupper() or (word.islower() and not gazetteer.of(word)):
            yield _found(match.span("all"))
    for match in _ACCOUNT.finditer(text):
        surname = gazetteer.of(match["last"]) & (Word.LAST | Word.ORDINARY) == Word.LAST
        if surname and not gazetteer.of(match["all"]):
            yield _found(match.span("all"))


def _found(span: tuple[int, int], *, health: bool = False) -> Finding:
    return name_finding(
        *span,
        health=health,
        bits=frozenset(),
        source=SOURCE,
        score=_SCORE,
        reason=("label", "a sign of staff"),
    )
