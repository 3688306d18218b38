"""Single names by who they belong to or what they sign: "Troy (son)", "the Roy family", "Merci, Rhéal".

Also the initial beside a name that another recognizer left out: "Devin R.", "LeFebvre G", "M Okumura".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from phiscan.lexicon.capitalized_words import FIRST_ONLY, LAST_ONLY, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding, Span
from phiscan.screen.recognizers.person.initials import is_other
from phiscan.text.prefilter import Rare

_SCORE = 0.55
_NAMES = Word.FIRST | Word.LAST
_BLOCK = Word.MONTH_OR_DAY | Word.CREDENTIAL | Word.NOT_PERSON | Word.EPONYM | Word.TITLE_HEALTH
_PEOPLE = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_CAP = r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{1,15}(?:[A-Z][a-z]{1,12})?(?:[-'’][^\W\d_]{2,15})?"  # noqa: RUF001 (names are written with it)
_KIN = (
    r"(?:wife|husband|hubby|spouse|partner|son|daughter|dtr|mother|father|mom|mum|dad|brother|sister|niece"
    r"|nephew|cousin|aunt(?:ie)?|uncle|grand(?:mother|father|son|daughter|ma|pa)|friend|neighbou?r|roommate"
    r"|girlfriend|boyfriend|gf|bf|ex|dil|sil|poa|sdm|caregiver|[ée]pouse|[ée]poux|conjointe?|mari|fils|fille"
    r"|m[èe]re|p[èe]re|fr[èe]re|s(?:oe|œ)ur|tante|oncle|ni[èe]ce|neveu|voisine?|amie?|bru|gendre|blonde|chum)"
)
_WHOSE = r"(?:(?:pt['’]?s|his|her|the|sa|son|le|la)[ ])?"  # noqa: RUF001 (names are written with it)
_RELATED = Rare(
    re.compile(rf"(?<![\w'’.-])(?P<name>{_CAP})[ ]\((?i:{_WHOSE}{_KIN})(?:[),/;]|[ ]\(?\+?\d)"),  # noqa: RUF001 (names are written with it)
    rf"\((?i:{_WHOSE}{_KIN})[),/; ]",
)
_WORD_BEFORE = re.compile(r"([^\W\d_]+)\.?[ ]$")
_SIGNED = re.compile(
    r"(?:^|[.!?][ ]{1,2})(?:Merci(?: beaucoup)?|Thanks(?: so much)?|Thank you|Thx|THX|Tx|Cheers|Regards|Best"
    r"|Cordialement|Amicalement|Bye|Ty)[,!.]?[ ]{1,2}[-–]?[ ]?"  # noqa: RUF001 (texts are written with it)
    rf"(?P<name>{_CAP})[ \t]{{0,3}}$",
    re.MULTILINE,
)
_OF_FAMILY = (
    r"(?:family|families|kids?|girls|boys|duplicates|triplets|lady|baby|residence|household|couple|brothers|sisters"
    r"|siblings)\b"
)
_FAMILY = Rare(
    re.compile(
        rf"\b(?:[Tt]he[ ](?P<name>{_CAP})(?:[ ](?:&|and)[ ](?P<other>{_CAP}))?[ ]{_OF_FAMILY}"
        rf"|[Ll]a[ ]famille[ ](?P<famille>{_CAP}))"
    ),
    rf"[Tt]he \p{{Lu}}[^ ]+ (?:(?:&|and) \p{{Lu}}[^ ]+ )?{_OF_FAMILY}|[Ll]a famille \p{{Lu}}",
)
# Initials before a surname that is a word, too: "R.A. Strong (Mrs.)", "seen by P. Grant, then".
_INITIALED = re.compile(
    rf"(?:(?<=[a-zà-ÿ:,(|\t] )|(?<=[|\t(])|(?:(?<=\n)|\A)(?=[A-Z]\.[ ]?[A-Z]\.))"
    rf"(?P<name>(?P<letters>[A-Z]\.(?:[ ]?-?[A-Z]\.){{0,2}})[ ]?(?P<last>{_CAP}))"
    r"(?=[ ]?(?:[,;)(|\t\n]|\.?$)|[ ]{2})"
)
# A letter beside a name, its dot, and what ends it.
_INITIAL_BEHIND = re.compile(r"[ ][A-Z](?:\.(?![A-Z])|(?=[ ]?[\t|;,):\n]|[ ]{2}|[ ]\(|[ ]?$|[ ]!!))")
# "M." is a title, and a letter without a dot an article or a unit but at the start of a cell.
_INITIAL_BEFORE = re.compile(
    r"(?:(?:^|[\s|,;:(\"'>])(?P<dotted>(?!M\.[ ]?$)[A-Z]\.(?:[ ]?-?[A-Z]\.)?[ ]?)|[|,;\t](?P<bare>[B-Z][ ]))$"
)
_SURNAME = re.compile(r"[ ](?P<last>[a-zà-ÿ]{3,12})(?=[ ]?[\t|;:,.)(\"\n]|[ ]?$)")
# Words that are surnames, and yet mostly go on with the sentence: "told maria back,".
_GOING_ON = frozenset(
    "back home early late well today away again soon ready down here there more less after before gone sick"  # noqa: SIM905 (a list of words)
    " out free open call calls called care can case house room west east north south law visit may will bed"
    " drop drops hand hands head foot legs bath meal rest ride work please wants".split()
)
_ONE_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 (names are written with it)


def single_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield single names by what stands beside them; spans are half-open, in code points."""
    yield from _surnames(text, gazetteer)
    for match in _RELATED.finditer(text):
        before = _WORD_BEFORE.search(text, max(0, match.start() - 24), match.start())
        if before is not None and (before[1][0].isupper() or gazetteer.of(before[1]) & Word.PARTICLE):
            continue  # the last word of a longer name
        if gazetteer.of(match["name"]) & (Word.FIRST | _BLOCK) == Word.FIRST:
            yield _found(match.span("name"), first=True)
    for match in _SIGNED.finditer(text):
        flags = gazetteer.of(match["name"])
        if not flags & (_BLOCK | Word.ORDINARY) and (flags & Word.FIRST or not flags):
            yield _found(match.span("name"), first=True)


def _surnames(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield surnames behind initials, and those of families."""
    for match in _INITIALED.finditer(text):
        letters = "".join(filter(str.isalpha, match["letters"])).lower()
        flags = gazetteer.of(match["last"])
        if flags & (Word.LAST | Word.ORDINARY | _BLOCK) == Word.LAST | Word.ORDINARY and not is_other(
            letters
        ):
            yield _found(match.span("name"), first=False)
    for match in _FAMILY.finditer(text):
        parts = [part for part in ("name", "other", "famille") if match[part] is not None]
        for part in parts:
            flags = gazetteer.of(match[part])
            is_family = flags & (Word.LAST | Word.ORDINARY | _BLOCK) == Word.LAST
            known = is_family and not gazetteer.is_place(match[part])
            if known or (not flags and len(parts) > 1):
                yield _found(match.span(part), first=False)


def with_initials(text: str, findings: Iterable[Finding], gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield findings; a name of one word with the initial, or in small letters the surname, beside it."""
    for finding in findings:
        start, end = finding.span.start, finding.span.end
        if finding.bits and finding.entity_type in _PEOPLE and _ONE_WORD.fullmatch(text, start, end):
            behind = _INITIAL_BEHIND.match(text, end)
            before = _INITIAL_BEFORE.search(text, max(0, start - 10), start)
            surname = _SURNAME.match(text, end) if text[start].islower() else None
            if surname is not None and _is_whole(gazetteer, text[start:end], surname["last"]):
                end = surname.end("last")
            elif behind is not None:
                end = behind.end()
            elif before is not None:
                start = before.start("dotted" if before["dotted"] else "bare")
        span = Span(start, end)
        yield finding if span == finding.span else replace(finding, span=span)


def _is_whole(gazetteer: Gazetteer, first: str, last: str) -> bool:
    """Tell whether a given name and a surname that is a word, too, are one name: "garry prince"."""
    is_first = gazetteer.of(first) & (Word.FIRST | Word.ORDINARY) == Word.FIRST
    flags = gazetteer.of(last)
    return is_first and bool(flags & Word.LAST) and not flags & _BLOCK and last not in _GOING_ON


def _found(span: tuple[int, int], *, first: bool) -> Finding:
    return name_finding(
        *span, health=False, bits=FIRST_ONLY if first else LAST_ONLY, source="names.single", score=_SCORE,
        reason=("context", "a single name by what stands beside it"),
    )  # fmt: skip
