"""Spans of the people whom a text cites: the references of an article, and "et al." in running text.

A reference is recognized by how it ends (year;volume:pages, a DOI, "(2006).", "pp. 12-34, 2015"), and begins
at the line with its number, or with an author and initials. So a year and a page in a letter cite nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import LATIN_UPPER
from phiscan.text.automata import Rare, automaton, spans_of

_YEAR = r"(?:18|19|20)\d\d[a-z]?"
_PAGES = r"[A-Z]{0,2}\d{1,6}(?:[ ]?[-–—][ ]?[A-Z]{0,2}\d{1,6})?"  # noqa: RUF001 (pages are written with it)
_SURNAME = rf"[{LATIN_UPPER}][^\W\d_]+(?:[-'’ ](?:[{LATIN_UPPER}]|de |d['’])?[^\W\d_]+){{0,2}}"  # noqa: RUF001 (names are written with it)
_INITIALS = rf"(?:[{LATIN_UPPER}]\.?[- ]?){{1,4}}"
# How references end: Vancouver, the APA, Chicago and the MLA, the IEEE, books, and French ways. For re2.
_ENDS = automaton(
    rf"[ .(]{_YEAR}(?: [A-ZÀ-Þ]?[a-zà-ÿ]{{2,9}}\.?(?:[- ]\d{{1,2}})?)? ?; ?\d{{1,4}} ?"
    rf"(?:\([^()\n]{{1,20}}\) ?)?[:,]\s?{_PAGES}"
    rf"|(?:[{LATIN_UPPER}]\.|\bal\.?|\b[Ee]ds?\.\)?|\(dir\.\)),?\s"
    rf"\({_YEAR}(?:, \pL{{3,9}}(?: \d{{1,2}})?)?\)\.\s"
    rf"|\b\d{{1,4}}(?: ?\(\d{{1,3}}\)|, (?:no|n[o°])\.? \d{{1,3}})? \(?{_YEAR}\)?: ?{_PAGES}"
    rf"|\bvol\. \d{{1,4}},[^\n]{{0,60}}?\bpp?\. ?{_PAGES}|\bpp\. ?{_PAGES}"
    r"|\b(?:Press|Publish(?:ers?|ing)|Verlag|Springer|Elsevier|Wiley|Routledge|Éditions?|Presses|Editions?|Gallimard"
    r"|Masson|Maloine|McGraw-Hill|Norton|Saunders|Mosby|Lippincott)"
    rf"[^\n;:]{{0,40}}[,;] ?c?{_YEAR}\b"
    r"|\bdoi(?::| 10)|\bdoi\.org/|\bPMC?ID[: ]|\bISBN\b"
)
_NUMBERED = r"(?:\[\d{1,3}\]|\(\d{1,3}\)|\d{1,3}[.)])[ \t]{0,4}(?=\S)"
# A line that begins a reference.
_BEGIN = re.compile(
    rf"[ \t]{{0,8}}(?:{_NUMBERED}(?:[{LATIN_UPPER}\"“«]|de |van |von )|[•*-][ ](?=[{LATIN_UPPER}])"
    rf"|(?:\d{{1,3}}[ ]{{1,4}})?(?:de |van |von |d['’])?{_SURNAME}(?:,[ ]?|[ ]){_INITIALS}(?=[,.;:&( ]|$)"  # noqa: RUF001
    rf"|{_SURNAME},[ ][{LATIN_UPPER}][^\W\d_]+(?:[ ]{_INITIALS})?(?:,|\.|[ ](?:and|et|&)[ ]))",
    re.MULTILINE,
)
_MAX_CHARS, _MAX_LINES = 700, 9  # of one reference
_WORD = re.compile(r"[^\W\d_]{2,}")
_TITLE_WORD = re.compile(r"(?<![^\W_])[a-zà-ÿ]{3}")
_MIN_WORDS = 4  # rows of a table have a year and a time, and no author, title and journal
_YEAR_CHARS = 24  # characters after an end in which its year may stand
_HEADING = re.compile(
    r"^[ \t#*]{0,6}(?:\d{1,2}\.?[ ]{1,3})?(?:references?(?:[ ](?:list|cited))?|bibliography|works cited"
    r"|literature cited|(?:further|suggested|recommended|required) readings?|reading list"
    r"|(?:selected |recent )?publications"
    r"|références(?: bibliographiques)?|bibliographie|médiagraphie|ouvrages (?:cités|de référence)"
    r"|lectures (?:suggérées|complémentaires|obligatoires)|notes)[ ]?:?[*]{0,2}[ \t]{0,4}$",
    re.IGNORECASE | re.MULTILINE,
)
_SECTIONS = Rare(
    _HEADING,
    r"(?i:r[ée]f[ée]rence|graph(?:y|ie)|works cited|literature cited|reading|publications|ouvrages|lectures"
    r"|\bnotes)",
)
_HAS_YEAR = re.compile(rf"(?<!\d){_YEAR}(?!\d)")
_MIN_IN_SECTION = 2  # references, for a heading to be one of them
_CITED_LINE = re.compile(r"[^\n]+")
# What may follow a list of references, and is none.
_OTHER_HEADING = re.compile(
    r"[ \t#*]{0,6}(?:(?:appendix|annexe?|tables?|tableaux?|figures?|cc|c\. ?c\.|sincerely|signed|dictated"
    r"|patient|re|objet|about|à propos|acknowledg|remerciements|author|auteur)\b"
    r"|(?-i:[A-ZÀ-Þ])[^\W\d_]{2,20}(?: [^\W\d_]{2,20}){0,2}:?[ \t]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_ET_AL = automaton(r"\bet\s(?:al|coll)\b|\band colleagues\b|\bet collaborateurs\b")
_NAMES_CHARS = 160  # of the names before "et al."
_NAMES_BEFORE = re.compile(
    # Each name is read in one way only, up to what ends it.
    rf"(?<!\w)(?>{_SURNAME}(?:[ ]{_INITIALS})?(?=,|\s\Z))"
    rf"(?:,[ ](?>{_SURNAME}(?:[ ]{_INITIALS})?(?=,|\s\Z))){{0,6}}+,?\s\Z",
)
# "Marchessault (2009)", "Oligny (2012, p. 33)", "Boutin and Kasongo [2]"; only in a text that has references.
_IN_TEXT = re.compile(
    rf"(?<!\w){_SURNAME}(?:,?[ ](?:and|et|&)[ ]{_SURNAME})?[ ](?:\({_YEAR}[,;)]|\[\d{{1,3}}[],–-])"  # noqa: RUF001
    rf"|\((?:(?:see|cf\.|e\.g\.,?|voir)[ ])?{_SURNAME}(?:,?[ ](?:and|et|&)[ ]{_SURNAME})?,?[ ]{_YEAR}\b"
)
# Authors as journals print them above an abstract: the surname first, initials without dots.
_AUTHOR = rf"[{LATIN_UPPER}][^\W\d_]+(?:[-'’ ][^\W\d_]+){{0,2}}[ ][{LATIN_UPPER}]{{1,3}}"  # noqa: RUF001 (names are written with it)
_AUTHORS = re.compile(
    rf"^(?:\[?\d{{1,3}}[.)\]]{{0,2}}[ \t]+|[-*•][ ])?{_AUTHOR}(?:,[ ](?:and[ ]|&[ ])?{_AUTHOR}|,?[ ]et al)+"
    r"(?=[.,:(\n \t]|\Z)",
    re.MULTILINE,
)
_LEARNED = automaton(
    r"\bet al\b|\bdoi\b|\b(?:19|20)\d\d ?; ?\d{1,4}|\babstract\b|\brésumé|\bmethods\b|\bméthodes?\b"
    r"|\breferences\b|\bréférences\b|\bconflicts? of interest\b|\bconflits? d'intérêts?\b|\breprints\b"
    r"|\bcorresponding author\b"
    r"|\bpmid\b|\bwe (?:describe|report|studied|conducted|enrolled)\b",
    any_case=True,
)


def references(text: str) -> list[tuple[int, int]]:
    """Return the spans of references, in text order; they do not overlap."""
    found: list[tuple[int, int]] = []
    for start, end in spans_of(_ENDS, text):
        low = found[-1][1] if found else 0
        begin = _begin(text, low, start)
        # Of the APA, where a space is the end, the title follows; its year in brackets is nowhere else.
        if begin is not None and (text[end - 1].isspace() or _is_reference(text, begin, end)):
            found.append((begin, end))
        elif found and text.find("\n", low, start) < 0:
            found[-1] = (found[-1][0], end)  # the DOI after the pages
    return found


def cited(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans of the people whom a text cites, in any order; they may overlap."""
    found = [*references(text), *_sections(text)]
    yield from found
    if found:
        yield from (match.span() for match in _IN_TEXT.finditer(text))
    for start, end in spans_of(_ET_AL, text):
        names = _NAMES_BEFORE.search(text, max(0, start - _NAMES_CHARS), start)
        if names is not None:
            yield names.start(), end + 1
    if _LEARNED.search(text.encode("utf-8", "surrogatepass")):
        yield from ((match.start(), match.end() + 1) for match in _AUTHORS.finditer(text))


def _begin(text: str, low: int, end: int) -> int | None:
    """Return where the reference begins that ends at ``end``, not before ``low``; None where none does."""
    low = max(low, end - _MAX_CHARS)
    line = text.rfind("\n", low, end) + 1
    for _ in range(_MAX_LINES):
        if line < low and not (line == 0 == low):
            return None
        if _BEGIN.match(text, line):
            return line
        if line == 0 or not text[line:end].strip():
            return None
        before = text.rfind("\n", low, line - 1)
        if before < 0 and low > 0:
            return None
        if not text[before + 1 : line - 1].strip():
            return None  # an empty line is between two references, not in one
        line = before + 1
    return None


def _is_reference(text: str, begin: int, end: int) -> bool:
    """Tell whether there are the title of a work and a year."""
    titled = _TITLE_WORD.search(text, begin, end) and len(_WORD.findall(text, begin, end)) >= _MIN_WORDS
    return bool(titled) and _HAS_YEAR.search(text, begin, end + _YEAR_CHARS) is not None


def _sections(text: str) -> Iterator[tuple[int, int]]:
    """Yield the references below their heading, whatever their ends: two lines of them, with years."""
    done = 0
    for heading in _SECTIONS.finditer(text):
        if heading.start() < done:
            continue
        begun: list[int] = []
        last_end = heading.end()
        n_years = 0
        for line in _CITED_LINE.finditer(text, last_end):
            start, end = line.span()
            ends = _OTHER_HEADING.match(text, start) or _HEADING.match(text, start)
            if ends or start - last_end > _MAX_CHARS:
                break
            if _BEGIN.match(text, start):
                begun.append(start)
            if begun and _HAS_YEAR.search(text, start, end):
                n_years += 1
                last_end = end
        if min(len(begun), n_years) >= _MIN_IN_SECTION:
            yield begun[0], last_end
            done = last_end
