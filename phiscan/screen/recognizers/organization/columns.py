"""Organizations in columns that say so: "Pharmacy", "employer", "Assureur", in any letters.

A cell below such a head needs no word that says what it is, nor a capital: "shoppers", "blue finch".
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.table_columns import Tables
from phiscan.screen.validators.contacts import employer
from phiscan.screen.validators.verdicts import Verdict
from phiscan.text.prefilter import Rare

SOURCE = "organizations.column"
_SCORE = 0.845  # above the tagger's
_BITS = bits_of(EntityType.ORGANIZATION)
_KIND = (
    r"(?:pharmac(?:y|ie)|employ(?:er|eur)|insur(?:er|ance)|assur(?:eur|ance)|payer|payor|carrier"
    r"|facility|hospital"
    r"|h[ôo]pital|school|[ée]cole|daycare|garderie|clinic|clinique|laborator(?:y|ies)|laboratoire"
    r"|vendor|fournisseur"
    r"|sending|receiving|nursing[ ]home|ltc(?:[ ]home)?|snf|retirement[ ]home|group[ ]home|dialysis[ ]unit"
    r"|milieu[ ]de[ ]vie|osh|union|syndicat|church"
    r"|supplier|agency|agence|company|compagnie|organi[sz]ation|[ée]tablissement|sponsor"
    r"|ambulance|funeral[ ]home)"
    r"(?:[ _]name)?"
)
_HEAD = Rare(
    re.compile(
        r"(?:^|(?<=[\t|,;\"])|(?<=[ ]{2}))[ ]?(?P<head>(?:preferred[ _]|home[ _]|local[ _]"
        r"|referring[ _]|sending[ _]"
        r"|receiving[ _]|primary[ _]|secondary[ _]|nom[ ]de[ ]l['’])?"  # noqa: RUF001 (texts are written with it)
        rf"{_KIND})(?=[ ]?[\t|,;\"\r\n]|[ ]{{2}})",
        re.IGNORECASE | re.MULTILINE,
    ),
    rf"(?i:{_KIND})(?: ?[\t|,;\"\r\n]|  )",
)
_CELL = re.compile(r"(?=[^\W_]*[^\W\d_]{2})[^\W_][\w.'’&/#-]*(?:[ ][\w.'’&/#()-]+){0,6}")  # noqa: RUF001 (names are written with it)
_NONE = re.compile(
    r"(?:yes|no|none|nil|n/?a|unknown|unk|self|same|other|tbd|pending|see|oui|non|aucune?"
    r"|inconnue?|idem|autre"
    r"|not|any|private|public|cash|retired|retrait[ée]e?|student|pickup|delivery|x|ok|done|open"
    r"|closed|call(?:ed)?"
    r"|faxed|in|out|new|old|true|false|internal|external|\d+[a-z]?)\b",
    re.IGNORECASE,
)
_MAX_CHARS, _MIN_CELLS = 60, 2


def column_organizations(text: str) -> Iterator[Finding]:
    """Yield the cells below heads that say organization; spans are half-open, in code points."""
    heads = [match.span("head") for match in _HEAD.finditer(text)]
    if not heads:
        return
    tables = Tables(text)
    for head in heads:
        cells = tables.column(*head) or []
        found = [cell for cell in cells if _is_name(text, cell)]
        if len(found) < _MIN_CELLS:
            continue
        for start, end in found:
            reason = Reason("header", "organization", _SCORE)
            yield Finding(Span(start, end), EntityType.ORGANIZATION, SOURCE, _SCORE, _BITS, (reason,))


def _is_name(text: str, cell: tuple[int, int]) -> bool:
    value = text[slice(*cell)]
    if len(value) > _MAX_CHARS or _CELL.fullmatch(value) is None or _NONE.match(value):
        return False
    return employer(value) is not Verdict.VETO
