"""Numbers right after a person's name: charts, cards and licences in lists and signatures.

"Duc Pham 5517718", "Le Van Binh, 338117", a cell of nine digits beside a cell with a name. Only numbers of
six to nine digits, or in groups, count: shorter ones are rooms, doses and ages. So do those after initials
("R.B. / 118204", "pt JT (4471-20)"), by which notes hide who a patient is. Behind a health professional,
"N. Belzile inf. clin. (2114407)", a number in brackets or after the letters of the profession is a licence.
What another finding has is left to it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from phiscan.model import EntityType, Finding, Reason, Span
from phiscan.screen.characteristics import bits_of
from phiscan.screen.resolution import is_taken
from phiscan.screen.validators.codes import record_code
from phiscan.screen.validators.dates import numeric_date
from phiscan.screen.validators.verdicts import Verdict, digits_of
from phiscan.text.prefilter import Rare

SCORE = 0.45
SOURCE = "numbers_after_names"
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
# Initials, or two or three capitals after the word for a patient, and what may stand before a number.
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
_CARD_DIGITS = 9  # most provinces


def numbers_after_names(text: str, findings: Sequence[Finding]) -> Iterator[Finding]:
    """Yield the numbers that stand right after a person; ``findings`` in text order, without overlaps."""
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
        reasons = (Reason("beside", "behind a person", SCORE),)
        yield Finding(Span(start, end), kind, SOURCE, SCORE, bits_of(kind), reasons)
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
            reasons = (Reason("beside", "behind initials", SCORE),)
            yield Finding(Span(low, high), EntityType.MRN, SOURCE, SCORE, bits_of(EntityType.MRN), reasons)


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
    reasons = (Reason("beside", "behind a professional", SCORE),)
    yield Finding(Span(start, end), kind, SOURCE, SCORE, bits_of(kind), reasons)


def _is_name(name: str) -> bool:
    """Tell whether a name is more than one word: a word alone before a number may be anything."""
    return len(re.findall(r"[^\W\d_]+", name)) > 1


def _is_day(number: str) -> bool:
    return len(number) == 8 and number.isdecimal() and numeric_date(number) is not Verdict.VETO  # noqa: PLR2004 (a day)
