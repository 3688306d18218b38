"""Numbers of a person without a label: findings from columns of rows that name people, and after a name.

``row_codes``: where four rows or more of a table name a person each, a column whose cells are all of one
form (seven digits; a letter, a hyphen and five digits) and differ numbers those people, with a header or
without.
``numbers_after_names``: "Duc Pham 5517718", "Le Van Binh, 338117", a cell of nine digits next to a cell
with a name. Only numbers of six to nine digits, or in groups, count: shorter ones are rooms, doses and
ages. So do those after initials ("R.B. / 118204"). After a health professional, a number in brackets or
after the letters of the profession is a licence.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.resolution import is_taken
from phiscan.screen.validators.codes import record_code
from phiscan.screen.validators.dates import is_day, numeric_date
from phiscan.screen.validators.verdicts import Verdict, digits_of
from phiscan.text.prefilter import Rare

SCORE = 0.4
SOURCE = "row_codes"
MIN_ROWS, MIN_DIFFERENT = 4, 3
MIN_SHARE = 0.9  # of the filled cells of a column that have one form
MIN_SAME = 3  # one in so many has it as it is, where others were misread
MAX_LINE_CHARS = 4000
_MIN_DELIMITERS = 2
_SPACES = "  "
_SPACED = re.compile(r"\S+(?: \S+)*")
_QUOTED = re.compile(r"\"[^\"\n]{0,200}\"")
# A cell as its digits are written 9 and its capitals A.
_FORM = re.compile(
    r"9{6,12}|9{3}[ -]?9{3}(?:[ -]?9{3,4})?|A{1,4}[- ]?9{5,10}|9{2,6}-9{4,7}|A{1,3}-99-9{3,6}|99-99-99"
)
_SHAPES = str.maketrans("0123456789", "9" * 10) | dict.fromkeys(range(ord("A"), ord("Z") + 1), "A")
_MISREAD = {"9": "OQDolI|SZBGbgq", "A": "0158"}
_PHONE = re.compile(r"[2-9]\d{2}[2-9]\d{6}")
# Columns of goods, of places and of sums.
_OF_THINGS = re.compile(
    r"\b(?:din|ndc|upc|sku|lot|cpt|hcpcs|icd|code|amount|amt|total|balance|price|cost|fee|charge|salary|votes?|population"
    r"|montant|solde|prix|salaire|zip|postal|year|ann[ée]e|version|size|count|qty|qt[ée]|distance|km|score)\b",
    re.IGNORECASE,
)
_CARD_DIGITS, _DAY_DIGITS = 9, 8
_Cell = tuple[int, int]


def row_codes(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the cells of such columns; ``findings`` in text order, without overlaps."""
    rows: dict[tuple[str, int], list[list[_Cell]]] = defaultdict(list)
    done = -1
    for finding in findings:
        start = finding.span.start
        if finding.entity_type is not EntityType.PERSON or start <= done:
            continue
        before = text.rfind("\n", max(0, start - MAX_LINE_CHARS), start)
        after = text.find("\n", start, start + MAX_LINE_CHARS)
        if (before < 0 and start > MAX_LINE_CHARS) or (after < 0 and len(text) > start + MAX_LINE_CHARS):
            done = start + MAX_LINE_CHARS if after < 0 else after  # a line too long for a row
            continue
        done = len(text) if after < 0 else after
        cells, delimiter = _cells(text, before + 1, done)
        if len(cells) > 2:  # noqa: PLR2004 (a name and two more)
            rows[delimiter, len(cells)].append(cells)
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    for (delimiter, n_cells), table in rows.items():
        if len(table) >= MIN_ROWS:
            heads = _heads(text, table[0][0][0], delimiter, n_cells)
            for number, column in enumerate(zip(*table, strict=True)):
                if not _OF_THINGS.search(heads[number] if heads else ""):
                    yield from _column(text, column, taken)


def _column(text: str, cells: Sequence[_Cell], taken: Sequence[tuple[int, int]]) -> Iterator[Finding]:
    filled = [cell for cell in cells if cell[0] < cell[1]]
    values = [text[low:high] for low, high in filled]
    if len(set(values)) < MIN_DIFFERENT or len(filled) < MIN_ROWS:
        return
    form, n_same = Counter(value.translate(_SHAPES) for value in values).most_common(1)[0]
    if MIN_SAME * n_same < len(filled) or not _FORM.fullmatch(form):
        return
    n_alike = n_same if n_same == len(filled) else sum(_is_of(form, value) for value in values)
    if n_alike < MIN_SHARE * len(filled):
        return
    if all(value.endswith("000") for value in values) or _are_days(values):
        return
    for (low, high), value in zip(filled, values, strict=True):
        if is_taken(low, high, taken):
            continue  # another finding has it
        kind = _kind(value, form)
        yield Finding(
            Span(low, high), kind, SOURCE, SCORE, bits_of(kind), (Reason("column", "beside people", SCORE),)
        )


def _is_of(form: str, value: str) -> bool:
    """Tell whether a cell has a form, with figures that a scanner took for letters or letters for figures."""
    return len(value) == len(form) and all(
        sign == shape or char in _MISREAD.get(shape, "")
        for char, sign, shape in zip(value, value.translate(_SHAPES), form, strict=True)
    )


def _are_days(values: Sequence[str]) -> bool:
    return all(len(value) == _DAY_DIGITS and value.isdecimal() and is_day(value) for value in values)


def _kind(value: str, form: str) -> EntityType:
    if any(c.isalpha() for c in value) and "A" in form:
        return EntityType.OTHER_ID
    if _PHONE.fullmatch(value):
        return EntityType.PHONE
    return EntityType.HEALTH_CARD if len(digits_of(value)) == _CARD_DIGITS else EntityType.MRN


def _cells(text: str, start: int, end: int) -> tuple[list[_Cell], str]:
    """Cut a line at its most frequent delimiter, leaving quoted cells whole; without spaces around cells.

    A line with hardly any is set with spaces.
    """
    line = _QUOTED.sub(lambda quoted: "x" * len(quoted[0]), text[start:end])
    delimiter = max("\t|;,", key=line.count)
    if line.count(delimiter) < _MIN_DELIMITERS:
        return [match.span() for match in _SPACED.finditer(text, start, end)], _SPACES
    cells = []
    position = start
    for part in line.split(delimiter):
        low, high = position, position + len(part)
        while low < high and text[low] in ' "\t\r':
            low += 1
        while low < high and text[high - 1] in ' "\t\r':
            high -= 1
        cells.append((low, high))
        position += len(part) + 1
    return cells, delimiter


def _heads(text: str, first: int, delimiter: str, n_cells: int) -> list[str]:
    """Return the heads in the line above the first row, if it has as many cells and none holds a number."""
    line_start = text.rfind("\n", max(0, first - MAX_LINE_CHARS), first) + 1
    if line_start == 0:
        return []
    low = max(0, line_start - MAX_LINE_CHARS)
    above = text.rfind("\n", low, line_start - 1) + 1
    if above == 0 and low > 0:
        return []  # a line too long for heads
    cells, cut = _cells(text, above, line_start - 1)
    heads = [text[low:high] for low, high in cells]
    is_head = (
        cut == delimiter and len(heads) == n_cells and not any(re.search(r"\d{3}", head) for head in heads)
    )
    return heads if is_head else []


NEIGHBOUR_SCORE = 0.45
NEIGHBOUR_SOURCE = "numbers_after_names"
_BEHIND = re.compile(
    r"(?:[ ]{0,3}[\t|;][ ]{0,3}|, ?| / |[ ]{1,6}\(?|[ ]{2,24})(?:(?<=\()\d{1,3} ?[MFHy]?, ?)?#?"
    r"(?P<number>\d{6,9}|\d{2}-\d{3,5}(?:-\d{2,3})?|\d{3}-(?:\d{3}(?:-\d{3})?|\d{5})|\d{2}(?:-\d{2}){2}"
    r"|\d{3}[ ]\d{3}(?:[ ]\d{3})?|[A-Z]{1,3}-?\d{5,8}|[A-Z]{1,3}(?:[ ]\d{2}){3}|(?<=\(#)\d{4,5})"
    r"(?![\w-]|[ ]\d|[.,/:]\d|[ ]?(?:\$|%|mg|ml|mL|kg|km|USD|CAD|views|votes|shares|people)\b)"
)
_PROFESSION = (
    r"(?:[,;]? ?(?:M\.?D\.?|D\.?O\.?|N\.?P\.?|R\.?N\.?|R\.?P\.?N\.?|L\.?P\.?N\.?|PA(?:-C)?"
    r"|CRNA|CNM|PharmD|R\.?Ph\.?|PT|OT|RD|RT|RRT|RSW|MSW|LCSW|MLT|MRT|ML[ST]|EMT(?:-P)?|ACP|PCP|DC|DDS|DMD|DPM|OD"
    r"|FRCPC|CCFP|BScN|MN|PhD|t\.m\.|t\.i\.m\.|t\.r\.d\.|inf\.?(?: clin\.?| aux\.?| prat\.?)?|IPS(?:PL)?"
    r"|pht\.?|erg\.?|m\.d\.|pharm\.?|dt\.p\.?|sage-femme|aud\.?|orth\.?|psy\.?|t\.s\.|inh\.?|III?|physio|m[ée]decin)(?![^\W_])){0,3}"
)
_LICENCE = r"\d{5,8}|\d-\d{5}(?:-\d)?|\d{2}-\d{3,4}|\d{2,3} \d{3,4}|[A-Z]{1,3}-?\d{4,6}|\d{4,5}-?[A-Z]{1,2}"
_SIGNED = re.compile(
    rf"(?P<profession>{_PROFESSION})(?:[ ,:]{{0,3}}\((?P<enclosed>{_LICENCE})\)"
    rf"|,? {{1,4}}#?(?P<bare>{_LICENCE})(?![\w-]|[ ]\d|[.,/:]\d|[ ]?(?:\$|%|mg|ml|h\b)))"
)
# Initials, or two or three capitals after the word for a patient, and what may precede a number.
_INITIALS = Rare(
    re.compile(
        r"(?:(?<![\w.])(?P<pointed>(?:[A-Z]\. ?){2,3})"
        r"|\b(?i:pt|patiente?|usag[eè]re?|cliente?|r[ée]sidente?|initials?|initiales|init)\.?:? "
        r"[A-Z]{2,3}(?![\w.]))[\"']?,?[ \t]{0,3}[/|;(#\N{EN DASH}-]{0,2}[ \t]{0,3}"
        r"(?:(?i:no|nº|n°|rec|record|file|dossier|hosp|chart)\.?:? {0,2})?#?"
        r"(?P<number>\d{5,9}|\d{2}(?:-\d{2}){2}|\d{2,4}-\d{2,5}|\d{3} \d{3}|[A-Z]-?\d{4,8})"
        r"(?![\w-]|[ ]\d|[.,/:]\d|[ ]?(?:\$|%|°|mg|ml|mL|kg|km|units?|members|patients)\b)"
    ),
    r"[A-Z]\. ?[A-Z]\.|(?i:pt|patient|usag.re?|client|r.sident|initial|init)[.:es]{0,4} [A-Z]{2}",
)
# What is written so and is nobody: "P.O. 118204", "M.D. 118204", "R.S.O. 19904", "U.S. 118204".
_NO_INITIALS = frozenset(
    "po us uk un ns nb bc pe rr dc la ny rn md pt ot do np pa sw rd rt cp na am pm id dl hc ei iv im or er"  # noqa: SIM905 (a list of words reads best as a text)
    " ed vp ak ie eg bs ma ba rs sr so lr qc on tv av fo rp lp rso rsc rsq usa usc rpn lpn phd dds dmd dvm"
    " bsn msn pac scd std ltd inc".split()
)
_MIN_NUMBER = 5  # characters
_YEAR_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])")
_IS_MONEY = re.compile(r"000$")


def numbers_after_names(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the numbers right after a person; ``findings`` in text order, without overlaps."""
    starts = [finding.span.start for finding in findings]
    for finding in findings:
        if finding.entity_type is EntityType.HEALTH_PROFESSIONAL:
            yield from _licence(text, finding, starts)
            continue
        if finding.entity_type is not EntityType.PERSON or not _is_name(finding.span.of(text)):
            continue
        match = _BEHIND.match(text, finding.span.end)
        if match is None:
            continue
        start, end = match.span("number")
        following = bisect_left(starts, finding.span.end)
        if following < len(starts) and starts[following] < end:
            continue
        number = match["number"]
        if _IS_MONEY.search(number) or record_code(number) is Verdict.VETO or _is_day(number):
            continue
        is_card = len(digits_of(number)) == _CARD_DIGITS and not any(map(str.isalpha, number))
        kind = EntityType.HEALTH_CARD if is_card else EntityType.MRN
        reasons = (Reason("beside", "behind a person", NEIGHBOUR_SCORE),)
        yield Finding(Span(start, end), kind, NEIGHBOUR_SOURCE, NEIGHBOUR_SCORE, bits_of(kind), reasons)
    yield from _behind_initials(text, findings)


def _behind_initials(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the numbers right after somebody's initials; what another finding has is left to it."""
    taken = [(finding.span.start, finding.span.end) for finding in findings]
    for match in _INITIALS.finditer(text):
        number = match["number"]
        letters = "".join(filter(str.isalpha, match["pointed"] or "")).lower()
        if letters in _NO_INITIALS or len(number) < _MIN_NUMBER or _YEAR_MONTH.fullmatch(number):
            continue
        if _IS_MONEY.search(number) or record_code(number) is Verdict.VETO or _is_day(number):
            continue
        low, high = match.span("number")
        if not is_taken(low, high, taken):
            reasons = (Reason("beside", "behind initials", NEIGHBOUR_SCORE),)
            yield Finding(
                Span(low, high),
                EntityType.MRN,
                NEIGHBOUR_SOURCE,
                NEIGHBOUR_SCORE,
                bits_of(EntityType.MRN),
                reasons,
            )


def _licence(text: str, finding: Finding, starts: Sequence[int]) -> Iterator[Finding]:
    """Yield the number in brackets, or after the letters of the profession, that follows a professional."""
    match = _SIGNED.match(text, finding.span.end)
    if match is None or not (match["enclosed"] or match["profession"]):
        return
    start, end = match.span("enclosed" if match["enclosed"] else "bare")
    following = bisect_left(starts, finding.span.end)
    number = text[start:end]
    if (following < len(starts) and starts[following] < end) or record_code(number) is Verdict.VETO:
        return
    if _IS_MONEY.search(number) or _is_day(number):
        return
    kind = EntityType.LICENSE
    reasons = (Reason("beside", "behind a professional", NEIGHBOUR_SCORE),)
    yield Finding(Span(start, end), kind, NEIGHBOUR_SOURCE, NEIGHBOUR_SCORE, bits_of(kind), reasons)


def _is_name(name: str) -> bool:
    """Tell whether a name is more than one word: a word alone before a number may be anything."""
    return len(re.findall(r"[^\W\d_]+", name)) > 1


def _is_day(number: str) -> bool:
    return len(number) == 8 and number.isdecimal() and numeric_date(number) is not Verdict.VETO  # noqa: PLR2004 (a day)
