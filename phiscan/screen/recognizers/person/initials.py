"""People told by their initials: "pt. J.R.", "M.K.-S. 61F", "Dr. L.", "mme S.B.".

Initials alone say nothing: a title, a word for a patient or a relative must stand before them, an age after
them, or they must fill a line or begin one in a list of such lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import FIRST_ONLY, name_finding
from phiscan.model import Finding
from phiscan.text.prefilter import Rare

_SCORE = 0.6
_CAPITAL = r"[A-ZÀ-ÖØ-Þ]"
_APOSTROPHE = r"['’]"  # noqa: RUF001 (names are written with it)
_ONE = rf"(?:(?:O|D|Mac|Mc){_APOSTROPHE}?)?{_CAPITAL}[a-z]?"
_PARTICLE = r"(?:(?:de[ ]la|de|du|van[ ]der|van|von|al|el|bin|St)[ -])?"
# "J.R.", "J. R.", "M.K.-S.", "É.-M. T.", "R. de V."
_INITIALS = Rare(
    re.compile(
        rf"(?<![\w.&@/'’-])(?P<all>{_ONE}\.(?:[ ]?-?{_PARTICLE}{_ONE}\.){{1,3}})(?![\w&@]"  # noqa: RUF001 (texts are written with it)
        rf"|[ ]?{_CAPITAL}[a-zà-ÿ])"
    ),
    r"\p{L}\..{0,14}\p{L}\.",
)
# Without dots, or one alone: after a title or a word for a person.
_TITLED = Rare(
    re.compile(
        r"(?<![\w.-])(?:[Dd]rs?|[Dd]re|[Mm]rs?|[Mm]s|[Mm]me|[Mm]lle|DR|DRE|MR|MRS|MS|MME)\.?[ ]"
        rf"(?P<all>{_CAPITAL}\.?)(?![\w'’&/+.-]|[ ]?{_CAPITAL}(?:[\w.]|\b))"  # noqa: RUF001 (names are written with it)
    ),
    r"(?i:drs?|dre|mrs?|ms|mme|mlle)\.? \p{L}(?:[^\p{L}]|$)",
)
_CALLED = Rare(
    re.compile(
        r"(?<![\w.-])(?:[Pp]t\.?|PT\.?|[Pp]atiente?|[Cc]liente?|[Uu]sag[eè]re?|[Ss]ubject(?!:)"
        r"|[Ss]ujet|[Pp]articipante?"
        r"|[Rr]esident|[Rr][ée]sidente?|[Cc]oordinator|[Ii]nitials?|[Ii]nitiales)(?:[ ]?:[ ]{0,2}|[ ])"
        rf"(?P<all>{_CAPITAL}{{2}})(?=[ ]?(?:[,.;:)(]|$|[ ]-|[ ]\d{{1,3}}[ ]?(?:[MF]\b|y|ans))"
        r"|[ ](?:is|was|had|has|called|says|said|a|est|dit|veut)\b)",
        re.MULTILINE,
    ),
    r"(?i:pt\.?|patiente?|cliente?|usag[eè]re?|subject|sujet|participante?|r[ée]sidente?|coordinator"
    r"|initials?|initiales)[ :]{1,4}\p{L}{2}",
)
_AGED = Rare(
    re.compile(
        rf"(?<![\w.-])(?P<all>{_CAPITAL}{{2}}"
        rf"|{_CAPITAL}[a-z]{{1,2}}{_CAPITAL}),?[ ]\d{{1,3}}[ ]?(?:yo[ ]?)?[MF]\b"
    ),
    r"\p{L}{2},? \p{Nd}",
)
# Behind these they are a person's; after those of ``_MAYBE`` unless they are short for something else.
_SURE = re.compile(
    r"(?<!\w)(?:pts?|patiente?s?|cliente?s?|usag[eè]res?|mr|mrs|ms|miss|mme|mlle|dre?|madame"
    r"|monsieur|m[eè]re|p[eè]re"
    r"|husband|wife|spouse|conjointe?|[ée]poux|[ée]pouse|sons?|daughter|fils|fille|brother|sister|fr[eè]re"
    r"|s(?:oe|œ)ur|fratrie|initial(?:s|es))\.?[ ]?[:(]?[ ]?$",
    re.IGNORECASE,
)
_MAYBE = re.compile(
    r"(?<!\w)(?:resident|r[ée]sidente?|m|mother|father|partner|enfant|child|re|subject|sujet"
    r"|participante?|for|by|par"
    r"|pour|with|avec|from|saw|see|vu)\.?[ ]?[:(]?[ ]?$",
    re.IGNORECASE,
)
_AGE_BEHIND = re.compile(
    r",?[ ]?\(?(?:is[ ]an?[ ]|,[ ]an?[ ])?\d{1,3}[ -]?(?:[MFmfH]\b|y/?o\b|y\.o|yrs?\b|years?\b"
    r"|ans\b|m(?:o|onths)\b)"
)
_ROW_BEHIND = re.compile(
    r"[ ]?[:(,]|[ ][-–—][ ]|[ ]\d|[ ]{2}|\t|[ ]?$|[ ](?:from|called|wants)\b",  # noqa: RUF001 (texts are written with it)
    re.MULTILINE,
)
_ROW_BEFORE = re.compile(r"(?:^|\n)[ \t]{0,8}(?:(?:[-*•>]|#?\d{1,4}[.):]?(?:[ ]-)?)[ \t]{1,3})?$")
# What is written with dots and is nobody: letters without them.
_OTHERS = frozenset(
    "us uk usa bc nb ns pe pei nl on qc ab sk mb nt yt nu dc ny nj ca fl md rn np pa phd pm am iv po im"  # noqa: SIM905 (a list of words reads best as a text)
    " sc bid tid qid qd od hs prn sos ps rsvp id dob sin ta rv cv er or icu eg ie ac pc sq sl pr ad os"
    " ou as au gi gu ob eeg ecg ekg mri ct xr ph ok tb hiv ed ms ma ba bsc msc mph mba lpn frcpc do dds"
    " esq jr sr cia fbi un eu nhs va rr bp hr cc ml mg iu pp vs co inc ltd sa st no vo nc ao ci ddn nas"
    " tel pt ot rt slp af mi hf cp dm ld re fx tx rx dx hx sx px bx cx ng gt jt ua bs mr tr ar vt vf av"
    " la lv ra hd pd nm oa lp uc cd cf gp".split()
)
_MIN_ROWS, _REACH = 3, 24


def initials(text: str) -> Iterator[Finding]:
    """Yield the people of a text that are classified by initials; spans are half-open, in code points."""
    rows = []
    for match in _INITIALS.finditer(text):
        start, end = match.span("all")
        before = text[max(0, start - _REACH) : start]
        aged = _AGE_BEHIND.match(text, end) is not None
        is_sure = aged or _SURE.search(before) is not None
        if _letters(match["all"]) in _OTHERS and not is_sure:
            continue
        begins = _ROW_BEFORE.search(before) is not None
        if is_sure or _MAYBE.search(before):
            yield _found(start, end)
        elif begins and (_fills(text, end) or _ROW_BEHIND.match(text, end)):
            rows.append((start, end, _fills(text, end)))
    alone = {(start, end) for start, end, fills in rows if fills}
    for start, end, _ in rows:
        if (
            len(rows) >= _MIN_ROWS
            or (start, end) in alone
            or text.startswith((" :", " from", ":", " ("), end)
        ):
            yield _found(start, end)
    for pattern in (_TITLED, _CALLED, _AGED):
        for match in pattern.finditer(text):
            if _letters(match["all"]) not in _OTHERS:
                health = pattern is _TITLED and match[0].lower().startswith("dr")
                yield _found(*match.span("all"), health=health)


def _letters(name: str) -> str:
    return "".join(char for char in name if char.isalpha()).lower()


def _fills(text: str, end: int) -> bool:
    """Tell whether nothing follows in the line."""
    stop = text.find("\n", end, end + _REACH)
    return not text[end : stop if stop >= 0 else end + _REACH].strip()


def _found(start: int, end: int, *, health: bool = False) -> Finding:
    return name_finding(
        start, end, health=health, bits=FIRST_ONLY, source="names.initials", score=_SCORE,
        reason=("context", "initials of a person"),
    )  # fmt: skip
