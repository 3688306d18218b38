"""Dates without a label, by context: findings from numeric months and days, and the unit of ages.

Three methods. ``bare_days``: 4/5 may be a day or four of five. A text that has other days in figures with the
same sign writes days so; there it is a day where no score, dose or share is near, and either what precedes it
happens on a day or it is no usual share (of seven, nine or eleven). 12/5 is a share in no text. Three cells
or more in a row that hold nothing else, each as many days after the last, are those of a flow sheet.
``day_lines``: where three lines begin with a day ("9/4  Rec'd records"), or two of which one can only be a
day (9/20), each is a day. ``with_units``: an age over 89 is found with its unit ("91 y.o."), since whoever
redacts an age redacts its unit, and other tools mark both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Final

from phiscan.model import EntityType, Finding, Reason, Span, bits_of
from phiscan.text.intervals import is_taken
from phiscan.text.prefilter import Rare

SCORE = 0.45
SOURCE = "bare_days"
MAX_DAYS = 1000
_MAX_APART = 8  # days from one cell of a sheet to the next
_MONTHS, _MONTH_DAYS = 12, 31
_ODD_PARTS = frozenset({7, 9, 11})  # of which hardly anything is counted
_DAYS = frozenset({EntityType.DATE, EntityType.DATE_OF_BIRTH})
_BEFORE_CHARS, _BEHIND_CHARS = 40, 24
# Another day of the text: its figures, with or without a year.
_SHAPE = re.compile(r"(?<![\d/-])\d{1,2}(?P<sign>[/-])\d{1,2}(?!\d)")
_SHORT = r"(?:[12]\d|3[01]|0?[1-9])/(?:[12]\d|3[01]|0?[1-9])(?!\d)"
_DAY = re.compile(
    r"(?<![\w.,/$#%+:=<>~×-])(?:0?[1-9]|[12]\d|3[01])(?P<sign>[/-])(?:0?[1-9]|[12]\d|3[01])"  # noqa: RUF001 (texts are written with it)
    r"(?![\w/%+°]|[.,:-]\d| ?[-–] ?\d| ?[=:]=)"  # noqa: RUF001 (texts are written with it)
)
_GAP = r"(?:[ ]{0,2}[\t|;,][ ]{0,12}|[ ]{2,24})"
_CELLS = re.compile(rf"(?<![^\s|;,]){_SHORT}(?:{_GAP}{_SHORT}){{2,31}}(?=[ ]{{0,2}}(?:[\t|;,\n]|$)|[ ]{{2}})")
_CELL = re.compile(_SHORT)
# What the texts have in which these match: most texts with a slash have neither.
_DIGIT = r"[0-9\x{80}-\x{10FFFF}]"
_DAYS_ALONE = Rare(
    _DAY,
    rf"(?:\A|[^0-9A-Za-z_.,/$#%+:=<>~-])(?:0?[1-9]|[12]{_DIGIT}|3[01])[/-](?:0?[1-9]|[12]{_DIGIT}|3[01])",
)
_ROWS_OF_DAYS = Rare(_CELLS, rf"{_DIGIT}/{_DIGIT}{{1,2}}{_GAP}{_DIGIT}{{1,2}}/{_DIGIT}")
# What is counted, scored, or taken in parts, anywhere in the words before; its unit or kind after.
_COUNTED_BEFORE = re.compile(
    r"(?<![^\W_])(?:pain|douleurs?|eva|strength|force|power|motor|mrc|reflex\w*|dtrs?|pulses?|pouls|murmurs?"
    r"|souffle|grade[ds]?|scores?|scale|[ée]chelle|gcs|glasgow|apgars?|nrs|vas|phq|gad|moca|mmse|mmt|ecog|rass"
    r"|braden|bishop|asa|kps|va|acuity|acuit[ée]|vision|od|os|ou|sats?|spo2|bp|ta|hr|fc|rr|fr|temp|ratio|page"
    r"|pg|p|part|step|[ée]tape|stage|stade|level|niveau|size|gauge"
    r"|station|effort|edema|oed[èe]me|rated|rates|cot[ée]e?|intensity|anxiety|mood|humeur|fatigue|nausea|tabs?"
    r"|doses?|mg|ml|cups?|inch(?:es)?|wk|weeks?|days?|jours?|semaines?|question|items?|criteria|crit[èe]res"
    r"|bottles?|flacons?|nodes?|ganglions?|vials?|cycles?|orient[ée]e?d?|alert|ox|x|oriented|ue|le|lue|rue|lle"
    r"|rle|grip|\w{0,8}flexion|extension|quads?|biceps|triceps|delt(?:oid)?s?|hip|[clts]\d|visite?s?|sessions?"
    r"|s[ée]ances?|treatments?|no|nos|pa|tension|bi-?pap|cpap|avaps|[ie]pap|peep|pip"
    r"|vent\w{0,9}|settings?|pressures?"
    r"|parts?|parties?|ages?|aged|[âa]g[ée]e?s?|q)(?![^\W_])",
    re.IGNORECASE,
)
_PLACED_BEFORE = re.compile(
    r"(?<![^\W_])(?:rooms?|rm|ch|chambre|beds?|lits?|unit|apt|ward|wing|floor|bloc|pod|bay|suite|route|rte"
    r"|lot)\.?[ ]#?$",
    re.IGNORECASE,
)
_COUNTED_BEHIND = re.compile(
    r" {0,2}(?:of|sur|strength|power|force|pain|tabs?|cups?|mg|ml|cm|mm|inch|inches|kg|bilat\w*|throughout"
    r"|sem|systolic|systolique|holosystolic|diastolic|murmur|souffle|in all|dans|effort|days?|weeks?|jours?"
    r"|semaines?|ns|saline|dakins?|patients?|questions?|items?|criteria|crit[èe]res|correct|positive|pos|neg"
    r"|bottles?|nodes?|ganglions?|sets?|at rest|with|w/|avec|right|left|[lr]t?|ue|le|upper|lower|word|recall"
    r"|mots|symptomatic|teeth|dents|time|fois|way|full|split|share|ratio|mile|hour)(?![^\W_])",
    re.IGNORECASE,
)
_HAPPENS = re.compile(
    r"(?:(?<![^\W\d_])(?:[^\W\d_]{2,14}(?:[tsdlnrkvcgmpe]ed|ied|ée?s?)"
    r"|labs?|labos?|cbc|fsc|bmp|cmp|lytes|ct|tdm|tac|mri|irm|[eé]cho|us|cxr|rx|x-?rays?|films|biopsy|biopsie|bx"
    r"|path|surgery|sx|chx|op|appt|rdv|f/u|admit|adm|dis?ch|d/c|d/c['’]?d|dc['’]?d|pap|mammo|scope|colonoscopy"  # noqa: RUF001 (texts are written with it)
    r"|cscope|inr|rni|a1c|tests?|addendum|note|fall|chute|call|cancell?ed|cong[ée]|auth|letter|fax|email|refill"
    r"|cultures?|rpt|repeat|hemocs?|procedure|intervention|clinic|clinique|consult|eval|injection|vaccin\w{0,6}|pose|retrait"
    r"|orders?|prescription|forms?|claim|invoice|facture|chemo|chimio|dialysis|transfert?|accident|mva|mvc"
    r"|injury|today|yesterday|hier|tomorrow|demain|aujourd['’]hui|sent|seen|given|done|told|left|came|went"  # noqa: RUF001 (texts are written with it)
    r"|began|spoke|vue?s?|revue?s?|faite?s?|re[çc]ue?s?|mise?s?|d[ée]bute?|start|stop|end|fin|due|exp|expires?"
    r"|since|until|till|before|after|from|by|as of|depuis|avant|apr[èe]s|d[èe]s)[.:,]? ?\(?)$",
    re.IGNORECASE,
)
_WORD_BEFORE = re.compile(r"[^\W\d_]{2,}(?:['’]s?)?[)\]]?,? ?\(?$")  # noqa: RUF001 (texts are written with it)
_CLOSED = re.compile(
    r" ?[.,;:)|\]](?!\d)|\s{0,4}(?:\n|$)| {2}|\t| (?:by|par|per|and|et|but|mais|to|au|@|à|at)\b"
)


def bare_days(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield days in small figures; ``findings`` in text order, without overlaps."""
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    in_cells = set(_in_cells(text)) if "/" in text else set()
    signs = {
        sign
        for finding in findings
        if finding.entity_type in _DAYS
        for sign in (match["sign"] for match in _SHAPE.finditer(finding.span.of(text)))
    }
    alone = islice(_DAYS_ALONE.finditer(text), MAX_DAYS) if signs or "/" in text else ()
    open_ones = [match for match in alone if not is_taken(*match.span(), taken)]
    days = {match.span() for match in open_ones if _is_day(text, match, signs, _ODD_PARTS)}
    if len(days) < len(open_ones):  # the text counts, too: of nine or eleven as well
        days = {match.span() for match in open_ones if _is_day(text, match, signs, frozenset())}
    for start, end in sorted(in_cells | days):
        if not is_taken(start, end, taken):
            kind = EntityType.DATE
            reasons = (Reason("context", "days are written so here", SCORE),)
            yield Finding(Span(start, end), kind, SOURCE, SCORE, bits_of(kind), reasons)


def _in_cells(text: str) -> Iterator[tuple[int, int]]:
    """Yield the days of flow sheets: cells side by side, each a few days after the one before."""
    for match in islice(_ROWS_OF_DAYS.finditer(text), MAX_DAYS):
        cells = [cell.span() for cell in _CELL.finditer(text, *match.span())]
        parts = [tuple(map(int, text[start:end].split("/"))) for start, end in cells]
        for one in (parts, [(second, first) for first, second in parts]):  # month first, or day first
            apart = [((b[0] - a[0]) * _MONTH_DAYS + b[1] - a[1], a[0] == b[0]) for a, b in pairwise(one)]
            if (
                all(month <= _MONTHS for month, _ in one)
                and all(0 < days <= _MAX_APART for days, _ in apart)
                and len({days for days, same_month in apart if same_month}) <= 1
            ):
                yield from cells
                break


def _is_day(text: str, match: re.Match[str], signs: set[str], odd_parts: frozenset[int]) -> bool:
    """Tell whether figures are a day and, by what is around them, no share of something.

    ``signs``: those of other days of the text; ``odd_parts``: of how many parts nobody would count.
    """
    first, second = (int(part) for part in re.split(r"[/-]", match[0]))
    if min(first, second) > _MONTHS or (match["sign"] not in signs and max(first, second) > _MONTHS):
        return False  # a rule looks for what can only be a day, where no drug of two parts is near
    start, end = match.span()
    before = text[max(0, start - _BEFORE_CHARS) : start].rpartition("\n")[2]
    if (
        _PLACED_BEFORE.search(before)
        or _COUNTED_BEFORE.search(before)
        or _COUNTED_BEHIND.match(text, end, end + _BEHIND_CHARS)
        or (match["sign"] not in signs and first <= second)
    ):
        return False
    is_no_share = first > second or max(first, second) > _MONTHS
    happens = _HAPPENS.search(before) is not None
    if match["sign"] == "-":  # "2-4" is a range, or a time of day, far more often
        return happens and is_no_share
    if happens or (text[start - 1 : start] == "(" and text[end : end + 1] == ")"):
        return True  # also a value of a row and its day: "70.8 (5/1)"
    is_no_share = is_no_share or second in odd_parts
    return is_no_share and bool(_WORD_BEFORE.search(before)) and bool(_CLOSED.match(text, end))


LINE_SCORE = 0.5
LINE_SOURCE = "day_lines"
MIN_LINES, MIN_SURE_LINES = 3, 2
MAX_LINES = 5000
_DAY_CELL = r"(?:0?[1-9]|[12]\d|3[01])(?P<sign>[/.-])(?:0?[1-9]|[12]\d|3[01])"
# A sign of a list or a number of the row may stand before it; after it no unit and no third part.
_LINE = re.compile(
    rf"^[ \t>]{{0,8}}(?:[-*•–\[(] ?|\d{{1,3}}[.)] {{1,3}})?(?P<day>{_DAY_CELL})(?![\w/.%:+]|-\d| ?[-–] ?\d)"  # noqa: RUF001 (texts are written with it)
    r"(?=[ \t,;:)\]–-]|$)(?![ \t]{1,2}(?:of|sur|mg|ml|mL|cm|mm|inch|kg|strength|power|force|tab|cup)\b)",  # noqa: RUF001 (texts are written with it)
    re.MULTILINE,
)


def day_lines(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the days that begin lines; ``findings`` in text order, without overlaps."""
    found: dict[str, list[tuple[int, int, bool]]] = {}
    for number, match in enumerate(_LINE.finditer(text)):
        if number >= MAX_LINES:
            break
        first, second = (int(part) for part in re.split(r"[/.-]", match["day"]))
        if min(first, second) > _MONTHS:
            continue
        start, end = match.span("day")
        found.setdefault(match["sign"], []).append((start, end, max(first, second) > _MONTHS))
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    for lines in found.values():
        n_sure = sum(is_sure for _, _, is_sure in lines)
        if len(lines) < (MIN_SURE_LINES if n_sure else MIN_LINES) or _is_counted(text, lines):
            continue
        for start, end, _ in lines:
            if is_taken(start, end, taken):
                continue
            kind = EntityType.DATE
            reasons = (Reason("line", "lines begin with days", LINE_SCORE),)
            yield Finding(Span(start, end), kind, LINE_SOURCE, LINE_SCORE, bits_of(kind), reasons)


def _is_counted(text: str, lines: Sequence[tuple[int, int, bool]]) -> bool:
    """Tell whether lines count ("1.1", "1.2", "2-1" of a contract), or repeat a fraction."""
    values = [text[start:end] for start, end, _ in lines]
    if len(set(values)) < MIN_SURE_LINES:
        return True
    pairs = [tuple(map(int, re.split(r"[/.-]", value))) for value in values]
    is_next = [b in {(x, y + 1), (x + 1, 1)} for (x, y), b in pairwise(pairs)]
    return "/" not in values[0] and (pairs[0] == (1, 1) or 2 * sum(is_next) > len(is_next))


_UNIT: Final = re.compile(
    r"[ -]?(?:years?|yrs?)[ -]?(?:old|of[ ]age|young)"
    r"|[ -]?y[./]?o\.?(?:[mf]\b)?"
    r"|[ ]?(?:ans?|years?|yrs?)(?:[ ](?:et|and)?[ ]?\d{1,2}[ ](?:mois|months?))?"
    r"|[ ]?y(?:\d{1,2}m)?"
    r"|[ ]a\.(?![ ]?m)",
    re.IGNORECASE,
)
_WORD: Final = re.compile(r"\w")


def with_units(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield findings, ages with their units; ``findings`` in text order, without overlaps.

    A unit ends where the next finding begins.
    """
    limits = [*(finding.span.start for finding in findings[1:]), len(text)]
    for finding, limit in zip(findings, limits, strict=False):
        if finding.entity_type is EntityType.AGE_OVER_89:
            unit = _UNIT.match(text, finding.span.end, limit)
            if unit is not None and not _WORD.match(text, unit.end()):
                yield replace(finding, span=Span(finding.span.start, unit.end()))
                continue
        yield finding
