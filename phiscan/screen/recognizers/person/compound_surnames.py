"""Family names of two words of the language, as among First Nations: "Lyle Running Rabbit".

No list of names has them, and both words stand on lists of ordinary ones. A word of a first kind and one of a
second make such a name where a given name stands before or behind them, a title, or where they begin a row.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from phiscan.lexicon.capitalized_words import FULL_NAME, LAST_ONLY, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding
from phiscan.text.prefilter import Rare

_SCORE = 0.6
_REACH = 24
_FIRST: Final = (  # noqa: SIM905 (a list of words reads best as a text)
    "running standing sitting walking flying rising looking laughing crying sleeping fighting"
    " charging two three four many first big little tall long heavy strong swift fast lone good"
    " bad old young crazy spotted broken wounded medicine thunder lightning iron stone white"
    " black red yellow blue green brown grey gray gold crow eagle bear wolf elk horse buffalo"
    " bull calf weasel owl hawk bird fox otter deer antelope coyote star moon sun morning day"
    " night rain chief shot kills rides runs comes goes looks walks holy sweet takes gives"
    " singing snow wind winter"
).split()
# What begins a row by itself only here: "Iron Cloud  STEMI", and not "Red Eye  x 3 days".
_SIGHTS: Final = (  # noqa: SIM905 (a list of words reads best as a text)
    "rabbit bear bears wolf wolves eagle eagles horse horses feather feathers gun guns hat hats"
    " bull bulls cloud clouds crow crows elk calf chief chiefs shield bird birds plume robe"
    " robes tail tails fox owl hawk deer antelope buffalo weasel otter waters fire thunder"
    " sky star stars moon rain smoke smokes pipe drum rider axe knife bow arrow"
    " arrows spear quills kettle claw dog dogs spots swan sun coyote cow tallow hoof"
    " mane pony colt skunk striker"
).split()
_OTHERS: Final = (  # noqa: SIM905 (a list of words reads best as a text)
    "head heads hand hands face eye eyes heart hearts leg legs nose neck foot toes ears mouth"
    " fingers elbow child woman man boy girl medicine strike strikes twice after himself water"
    " stone tobacco walker runner lodge river wing wings day night"
).split()
_A = "|".join(sorted((word.title() for word in _FIRST), key=len, reverse=True))
_B = "|".join(sorted((word.title() for word in _SIGHTS + _OTHERS), key=len, reverse=True))
_GIVEN = r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{1,15}(?:-[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{1,15})?"
_PAIR = rf"(?:{_A})[ -](?:{_B})(?![\w'’-])"  # noqa: RUF001 (names are written with it)
_ANY: Final = Rare(
    re.compile(
        rf"(?<![\w'’-])(?P<given>{_GIVEN}[ ])?(?P<pair>{_PAIR})(?:,[ ](?P<turned>{_GIVEN}|[A-Z]\.))?"  # noqa: RUF001 (names are written with it)
    ),
    rf"(?:{_A})[ -](?:{_B})",
)
_TITLED = re.compile(
    r"\b(?:mr|mrs|ms|miss|mme|m|dre?|pt|patiente?|elder|re|name|nom)\b[.:]? {1,2}$", re.IGNORECASE
)
# The pair begins a row and what follows is no sentence: a bed, an age, a thing that is done.
_ROW_BEFORE = re.compile(
    r"(?:^|\n)[ \t>*•-]{0,6}(?:(?:(?:rm|room|bed|ed|ch|lit)[ .]?)?\d{1,4}[A-Za-z]?(?:-\d)?[ \t:.)-]{1,4})?$",
    re.IGNORECASE,
)
_ROW_BEHIND = re.compile(
    r"[ ]?[\t|;]|[ ]{2}|[ ][-–→>(]|[ ](?:\d|[A-Z]{2,5}\b|d/c|adm|npo|f/u|c/o|s/p|w/|re\b)|,[ ](?:\d|[a-z]{2})"  # noqa: RUF001 (texts are written with it)
)


def compound_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield family names of two words, with the given name; spans are half-open, in code points."""
    for match in _ANY.finditer(text):
        start, end = match.span("pair")
        is_given, is_turned = (_is_given(match[part], gazetteer) for part in ("given", "turned"))
        if is_turned:
            end = match.end("turned")
        elif is_given:
            start = match.start("given")
        elif not (_TITLED.search(text, max(0, start - _REACH), start) or _is_row(text, start, end)):
            continue
        yield name_finding(
            start, end, health=False, bits=FULL_NAME if is_turned or is_given else LAST_ONLY,
            source="names.compound", score=_SCORE, reason=("gazetteer", "a family name of two words"),
        )  # fmt: skip


def _is_row(text: str, start: int, end: int) -> bool:
    """Tell whether two words begin a row of a list of people."""
    return bool(
        text[start:end].lower().endswith(tuple(_SIGHTS))
        and _ROW_BEFORE.search(text, max(0, start - _REACH), start)
        and _ROW_BEHIND.match(text, end)
    )


def _is_given(word: str | None, gazetteer: Gazetteer) -> bool:
    """Tell whether a word is a given name of the lists, and no month or title, or an initial."""
    if word is None:
        return False
    if word.endswith("."):
        return True
    flags = gazetteer.of(word.strip())
    return bool(flags & Word.FIRST) and not flags & (Word.MONTH_OR_DAY | Word.NOT_PERSON | Word.TITLE)
