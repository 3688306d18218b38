"""Who wrote an article, and whom to ask about it: its byline, correspondence, contributions and thanks.

They are named above the abstract, with figures for where they work, and again in sections of their own. A
draft of a case report may name the patient as well: what is elsewhere in it is read as ever.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import re2

from phiscan.screen.attributes.citations import CAPITAL
from phiscan.text.automata import options

_LINE = r"(?m:^)[ \t#*]{0,6}(?:(?:\d{1,2}|[IVX]{1,4})[.)]?[ \t]{1,4})?"
_HEADING_END = r"[ \t]{0,4}(?:[:.—–-]|\*\*|\r?\n|\z)"  # noqa: RUF001 (headings end with it)
# What only articles and their like have. For re2, which tells in one pass how many kinds a text has.
_HEADINGS = (
    "(?:structured )?abstract|résumé|summary|sommaire",
    r"(?:\pL{4,12} (?:and|et) )?(?:methods?|méthodes?|méthodologie|methodology)|search strategy",
    "results|résultats|findings",
    "discussion|conclusions?|limit(?:ation|e)s|introduction|background|contexte|objecti(?:f|ve)s?",
)
_SIGNS = (
    *(f"{_LINE}(?:{words}){_HEADING_END}" for words in _HEADINGS),
    r"\b(?:key ?words?|mots[- ]clés|MeSH (?:terms|headings)) ?:",
    r"\bdoi[: ]|\bdoi\.org/|\bISSN\b|\bPMID\b|\bvol(?:ume)?\.? \d{1,4} ?[,(]|\b\d{4} ?; ?\d{1,4} ?[(:]\d",
    (
        r"\b(?:received|submitted|reçu|soumis)\b[^\n]{4,80}\b(?:revised|accepted|published|accept|révis|publi)é?"
        r"|\b(?:published online|publié en ligne)\b"
    ),
    (
        "author.{0,3} contribution|contributions? des aut(?:eu|o)r|competing interest|conflicts? of interest"
        "|conflits? d.intérêt|(?:funding|financement) ?:|ethics approval|research ethics board"
        "|comité d.éthique"
    ),
    (
        r"\bcorrespond(?:ence|ance)(?: to| à)? ?:|corresponding author|address for correspondence"
        "|reprint requests|auteure? correspondante?|adresse de correspondance"
    ),
    r"\bet al\b",
    r"\bp ?[<=] ?0?[.,]\d{2}|\b95 ?% [CI]{2}\b|\b[CI]{2}(?: à)? 95 ?%|\bn ?= ?\d{2}|\bodds ratio\b",
)
MIN_SIGNS = 4

_ASK = (
    "correspondence|corresponding author|reprint requests|correspondance|auteure? correspondante?"
    "|auteure? de correspondance|tirés à part"
)
_SECTION = (
    "acknowledge?ments?|remerciements|(?:author.{0,3} )?contributions?(?: of authors| des aut(?:eu|o)rs)?"
    "|contributors?|about the authors?|à propos des aut(?:eu|o)re?s|author (?:information|details)"
    "|affiliations?"
    "|authors?|auteure?s|investigators|study team|équipe de recherche|funding|financement"
    "|(?:competing|conflicts? of|declaration of) interests?|conflits? d.intérêts?"
    "|disclosures?|déclarations?"
    "|(?:guideline |expert )?panel(?: members)?|membres du (?:comité|groupe)|working group|groupe de travail"
    "|(?:peer )?reviewers?|réviseurs|editorial board|comité de rédaction|biograph(?:y|ies)"
)
# From such a word to the next empty line.
_ABOUT_AUTHORS = re.compile(
    rf"^(?:[^\n]{{0,40}}\b(?:{_ASK})\b"
    rf"|[ \t#*]{{0,6}}(?:\d{{1,2}}\.?[ ])?(?:{_SECTION})"
    r"(?:[ \t*]{0,4}(?:[:.(—–-]|$)|[ ](?:we|nous|the|les?)\b))"  # noqa: RUF001 (headings end with it)
    r"[^\n]{0,1500}(?:\n(?![ \t]*\n)[^\n]{0,600}){0,12}",
    re.IGNORECASE | re.MULTILINE,
)
_HEAD_CHARS = 4000  # from the start of a text to its abstract
_ABSTRACT = re.compile(
    r"^[ \t#*]{0,6}(?:\d\.?[ ])?(?:abstract|résumé|summary|sommaire|introduction|background|contexte)\b",
    re.IGNORECASE | re.MULTILINE,
)
_NAME = (
    rf"(?:[{CAPITAL}][^\W\d_]*\.?(?:[-'’][{CAPITAL}]?[^\W\d_]+)?[ ]{{1,2}}){{1,3}}"  # noqa: RUF001 (names are written with it)
    rf"(?:(?:de|van|von|der|la|le|du)[ ]){{0,2}}[{CAPITAL}][^\W\d_]+(?:[-'’][{CAPITAL}]?[^\W\d_]+)*"  # noqa: RUF001
)
_DEGREES = r"(?:,?[ ](?:[A-Z][A-Za-z]{1,4}|[A-Z]\.(?:[A-Z]\.)+)){0,4}"
_FIGURE = r"(?:\d{1,2}|[*†‡§¶∗]|[a-f](?![^\W\d_]))"  # noqa: RUF001 (PDF has it for the asterisk)
# A line of names, the first with the figure of where its bearer works; or of names and nothing else.
_MARKED = re.compile(
    rf"^[ \t*]{{0,6}}(?:[Bb]y |[Pp]ar )?{_NAME}{_DEGREES}[ ]?{_FIGURE}(?=[,;.\s*†‡§]|$)[^\n]{{0,600}}",
    re.MULTILINE,
)
_PLAIN = re.compile(
    # Each name is read in one way only: of a line that is none there would be a million ways.
    rf"^[ \t*]{{0,6}}(?:(?:[Bb]y|[Pp]ar)[ ])?(?>{_NAME}{_DEGREES})"
    rf"(?:[ ]?[,;·•|][ ]?(?>{_NAME}{_DEGREES})){{0,12}}+"
    rf"(?:,?[ ](?:and|et|&)[ ](?>{_NAME}{_DEGREES}))?[ ]{{0,3}}$",
    re.MULTILINE,
)
_WORKPLACE_CHARS = 200  # after a line of names, in which it is said where they work
_WORKPLACE = re.compile(
    r"\b(?:department|division|faculty|school|university|hospital|institute|centre|center|college|clinic"
    r"|département|faculté|école|université|hôpital|institut|clinique|collège|service de|CHU|CISSS|CIUSSS)\b",
    re.IGNORECASE,
)


def _signs() -> re2.Set:
    signs = re2.Set.SearchSet(options(any_case=True))
    for sign in _SIGNS:
        signs.Add(sign.encode())
    signs.Compile()
    return signs


_FOUND = _signs()


def is_article(text: str) -> bool:
    """Tell whether a text is an article or made like one: it has four kinds of what only these have."""
    return len(_FOUND.Match(text.encode("utf-8", "surrogatepass")) or ()) >= MIN_SIGNS


def authors(text: str) -> Iterator[tuple[int, int]]:
    """Yield where an article names those who wrote it, helped, or answer for it; places may overlap."""
    if not is_article(text):
        return
    head = text[:_HEAD_CHARS]
    abstract = _ABSTRACT.search(head)
    head = head if abstract is None else head[: abstract.start()]
    yield from (match.span() for match in _MARKED.finditer(head))
    for match in _PLAIN.finditer(head):
        behind = head[match.end() : match.end() + _WORKPLACE_CHARS].lstrip().partition("\n")[0]
        if _WORKPLACE.search(behind):
            yield match.span()
    yield from (match.span() for match in _ABOUT_AUTHORS.finditer(text))
