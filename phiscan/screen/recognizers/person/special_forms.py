"""Names of a special form: with a nickname, with carets, of a baby, of who writes in a chat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, LAST_ONLY, UPPER, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding
from phiscan.screen.recognizers.person.file_names import filed_names
from phiscan.text.prefilter import Rare

_NAMES = Word.FIRST | Word.LAST
_TITLES = Word.TITLE | Word.TITLE_HEALTH
_BLOCK = Word.EPONYM | Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.CREDENTIAL
# Bounded: a line of "O'O'O'..." would be read again from each of its letters.
_CAP = rf"[{UPPER}][^\W\d_]{{0,24}}(?:[-'’][^\W\d_]{{1,24}}){{0,3}}"  # noqa: RUF001 (names are written with it)
_QUOTED = (
    r"(?:[\"“][^\W\d_]{2,12}[\"”]|«[ \u00a0]?[^\W\d_]{2,12}[ \u00a0]?»|‘[^\W\d_]{2,12}’"  # noqa: RUF001 (names are written with it)
    r"|(?<=[ ])'[^\W\d_]{2,12}'(?=[ ]))"
)
_QUOTE = r"[\"“«‘]| '[\p{L}\p{N}]{2,12}' "  # noqa: RUF001 (names are written with it)
# "Marcus "Duke" Washington-Bell", "Nickerson, Wade "Buster"", ""Buck" Charlie"
_INSIDE = Rare(
    re.compile(
        rf"(?<![\w'-])(?P<before>{_CAP}(?:,?[ ]{_CAP}\.?){{0,2}})[ ]{_QUOTED}"
        rf"(?:[ ](?P<after>{_CAP}(?:[ ]{_CAP})?))?"
    ),
    _QUOTE,
)
_AHEAD = Rare(
    re.compile(
        rf"(?:(?<=[|\t:])|(?<=[|:\t ][ ])|(?<=\n)"
        rf"|\A)(?P<before>){_QUOTED}[ ](?P<after>{_CAP}(?:[ ]{_CAP})?)(?=[ ]{{2}}|[\t|,;\n]|[ ]?$)"
    ),
    _QUOTE,
)
# "(dit « Ti-Rol »)", "under alias "SUMMER BAY"": whatever is quoted there is a name.
_CALLED = Rare(
    re.compile(
        r"(?<!\w)(?:dite?|alias|aka|a\.k\.a\.|(?:also[ ])?known[ ]as|goes[ ]by|prefers|pr[ée]f[èe]re"
        r"|surnomm[ée]e?|nicknamed?"
        r"|usuel|(?:auntie?|uncle|granny|grandma|grandpa|nana|papa|tante|oncle|mononcle"
        r"|matante)(?=[ ]))[ ]?:?[ ]{0,2}"
        r"(?:[\"“](?P<a>[^\W\d_][^\W\d_ '’.-]{1,15}(?:[ -][^\W\d_]{1,15}){0,2})[\"”]"  # noqa: RUF001 (texts are written with it)
        r"|«[ \u00a0]?(?P<b>[^\W\d_]{2,15}(?:[ '’-][^\W\d_]{1,15}){0,2})[ \u00a0]?»)",  # noqa: RUF001 (names are written with it)
        re.IGNORECASE,
    ),
    r"[\"“«]",
)
_KIN = (
    r"(?:(?:pt'?s|his|her|the|step|great-?|son|sa|le|la)[ -]?)?(?:wife|husband|spouse|partner|son|daughter"
    r"|mother|father|mom"
    r"|mum|dad|brother|sister|aunt|uncle|cousin|niece|nephew|grand(?:mother|father|son|daughter)|friend"
    r"|neighbou?r|roommate"
    r"|guardian|fianc[ée]e?|[ée]pouse|[ée]poux|conjointe?|mari|fils|fille|m[èe]re|p[èe]re|fr[èe]re|s(?:oe"
    r"|œ)ur|tante|oncle"
    r"|voisine?|amie?)"
)
# With the relation behind it: "Prince Abernathy (grandson)".
_RELATED = Rare(
    re.compile(
        rf"(?<![\w'’-])(?P<name>{_CAP}(?:[ ](?:{_CAP}|[{UPPER}]\.)){{1,2}})(?=[ ]?\((?i:{_KIN})[),/ ]"  # noqa: RUF001 (names are written with it)
        rf"|,[ ](?i:{_KIN})(?:[,;.)\n]|[ ][(\d]|$))"
    ),
    rf"[(,] ?(?i:{_KIN})",
)
# What is done on a ward, before a whole name in capitals or not: "MSW TERESA SOUND", "Crew 1 Naveed Qureshi".
_STAFF = Rare(
    re.compile(
        rf"(?<![\w-])(?:RN|LPN|RPN|NP|MSW|RRT|PSW|HCA|CNA|[Cc]rew[ ]?\d|[Nn]urse|NURSE|INF\."
        rf"|inf\.)[ ](?P<name>{_CAP}[ ]{_CAP})(?!\w)"
    ),
    r"(?:RN|LPN|RPN|NP|MSW|RRT|PSW|HCA|CNA|[Cc]rew ?\p{Nd}|[Nn]urse|NURSE|INF\.|inf\.) [\p{L}\p{N}]",
)
_NICKNAME = re.compile(r"[^\W\d_]{2,12}")
_WORD = re.compile(r"[^\W\d_]{2,}(?:[-'’][^\W\d_]+)*")  # noqa: RUF001 (names are written with it)
_PART = r"(?!F[SDOX]\b|X[AZ]\b)[^\W\d_]{1,24}(?:[ '’-][^\W\d_]{1,24}){0,3}"  # noqa: RUF001 (names are written with it)
# LAST^FIRST^MIDDLE outside of a message: the first two are enough.
_CARETS = re.compile(
    rf"(?<![\w^&])(?P<last>{_PART})\^(?P<first>{_PART})(?:\^+[\"'“]?{_PART}\.?[\"'”]?){{0,3}}(?![\w^&])"
)
_BABY = Rare(
    re.compile(
        rf"(?<!\w)(?:(?:Baby|BABY|Infant|INFANT|Newborn|Bébé|BÉBÉ|BEBE)[ ](?:Girl|Boy|GIRL|BOY|fille|garçon"
        rf"|FILLE|GARÇON|GARCON)"
        rf"(?:[ ][AB12])?[ ]{_CAP}|{_CAP},[ ](?:Baby|BABY|Bébé|BÉBÉ|BEBE)[ ](?:Girl|Boy|GIRL|BOY|[Ff]ille"
        rf"|[Gg]arçon)(?:[ ][AB12])?)"
    ),
    r"(?i:baby|infant|newborn|b[ée]b[ée]) (?i:girl|boy|fille|gar[çc]on)",
)
# "raj 07:02 — morning", "sunny (rt) 07:31 — bipap": who writes in a chat.
_WRITER = re.compile(
    r"^(?P<name>[^\W\d_]{2,15}(?:[ ][^\W\d_]{1,15})?)(?:[ ]\([^()\n]{1,12}\))?,?[ ]"
    r"\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[ap]m?)?[ ]?(?:[—–:-]|$)"  # noqa: RUF001 (texts are written with it)
    r"|^\[\d{1,2}:\d\d(?::\d\d)?(?:[ ]?[ap]m?)?\][ ](?P<name2>[^\W\d_]{2,15}(?:[ ][^\W\d_]{1,15})?):[ ]"
    r"|^\d{1,2}[:h]\d\d[ ](?P<name3>[^\W\d_]{2,15}(?:[ -][^\W\d_]{1,15}\.?)?)[ ]?:[ ]"
    r"|^(?P<name4>[^\W\d_]{3,15}(?:[ ][^\W\d_])?):[ ]",
    re.IGNORECASE | re.MULTILINE,
)
_MIN_LINES, _WITHOUT_TIME = 3, "name4"
# "user=rvaldivia": an initial and a surname, as an account is named.
_ACCOUNT = re.compile(
    r"(?<!\w)(?:user(?:name|_?id)?|login|operator|usager_?id"
    r"|utilisateur|author|sender|from)(?:=[\"']?|[\"']:[ ]?[\"'])"
    r"(?P<name>[a-z](?P<last>[a-z]{4,15}))(?![\w.@-])"
)


_BABY_WORDS = frozenset(
    {"baby", "infant", "newborn", "girl", "boy", "bébé", "bebe", "fille", "garçon", "garcon"}
)
_NO_NAME = frozenset(
    {"re", "patient", "patiente", "pt", "client", "objet", "name", "nom", "the", "dr", "dre"}
)


def special_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield names of a special form; spans are half-open, in code points."""
    for form in (_INSIDE, _AHEAD):
        for match in form.finditer(text):
            yield from _nicknamed(text, match, gazetteer)
    if "^" in text:
        yield from _carets(text, gazetteer)
    yield from _babies(text, gazetteer)
    yield from _told(text, gazetteer)
    yield from _writers(text, gazetteer)
    yield from filed_names(text, gazetteer)
    for match in _ACCOUNT.finditer(text) if "=" in text or '": ' in text or '":"' in text else ():
        if gazetteer.of(match["last"]) & (Word.LAST | Word.ORDINARY) == Word.LAST:
            yield name_finding(
                match.start("name"), match.end("name"), health=False, bits=LAST_ONLY, source="names.account",
                score=0.6, reason=("label", "name of an account"),
            )  # fmt: skip


def _told(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield names that a word beside them tells: what somebody is called, does, or is to another."""
    for match in _CALLED.finditer(text):
        start, end = match.span("a") if match["a"] else match.span("b")
        if not any(gazetteer.of(word) & _TITLES for word in text[start:end].split()):
            yield name_finding(
                start, end, health=False, bits=FIRST_ONLY, source="names.special", score=0.7,
                reason=("label", "what somebody is called"),
            )  # fmt: skip
    for match in _STAFF.finditer(text):
        first = match["name"].split()[0]
        if _is_given(first, gazetteer) and _is_name(match["name"].split(), gazetteer, alone=True):
            yield name_finding(
                match.start("name"), match.end("name"), health=True, bits=FULL_NAME, source="names.special",
                score=0.75, reason=("label", "label_health"),
            )  # fmt: skip
    for match in _RELATED.finditer(text):
        if _is_name(match["name"].replace(".", "").split(), gazetteer, alone=True):
            yield _finding(match.start("name"), match.end("name"), "of a relative", 0.75)


def _nicknamed(text: str, match: re.Match[str], gazetteer: Gazetteer) -> Iterator[Finding]:
    start = match.start()
    words = [(m.start(), m[0]) for m in _WORD.finditer(text, match.start(), match.end("before"))]
    while words and (words[0][1].lower() in _NO_NAME or gazetteer.of(words[0][1]) & _TITLES):
        words.pop(0)
        if not words:
            return
        start = words[0][0]
    before = [word for _, word in words]
    names = before + _WORD.findall(match["after"] or "")
    nickname = _NICKNAME.search(text, match.end("before"), match.end())
    if nickname is None or not _is_name(
        names, gazetteer, alone=match.re is _AHEAD.pattern or (bool(before) and match["after"] is not None)
    ):
        return
    is_word = gazetteer.of(nickname[0]) & (Word.ORDINARY | _BLOCK)
    if match["after"] is None and is_word and len(names) == 1:
        return
    yield _finding(start, match.end(), "a nickname in quotation marks", 0.8)


def _carets(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    for match in _CARETS.finditer(text):
        last, first = gazetteer.of(match["last"].split()[0]), gazetteer.of(match["first"].split()[0])
        if last & Word.LAST or first & Word.FIRST:
            yield _finding(match.start(), match.end(), "last^first", 0.8)


def _babies(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    for match in _BABY.finditer(text):
        words = [w for w in _WORD.findall(match[0]) if w.lower() not in _BABY_WORDS]
        flags = gazetteer.of(words[0]) if words else Word.NOT_PERSON
        if not flags & _BLOCK and (flags & _NAMES or not flags):
            yield _finding(match.start(), match.end(), "a baby", 0.75)


def _is_name(words: list[str], gazetteer: Gazetteer, *, alone: bool) -> bool:
    """Tell whether the words around a nickname are a name: one is known as such, none speaks against it.

    ``alone``: whether they fill a cell, or stand on both sides of it: then any word may be a name.
    """
    flags = [gazetteer.of(word) for word in words]
    if not flags or any(f & (_BLOCK | Word.ORDINARY) and not f & _NAMES for f in flags):
        return False
    if any(f & _NAMES and (alone or len(flags) > 1 or not f & Word.ORDINARY) for f in flags):
        return True
    return alone and len(flags) > 1


def _writers(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield who writes in a chat, by the lines that begin with a name and a time."""
    found = [(match.lastgroup or "", match[match.lastgroup or 0], match) for match in _WRITER.finditer(text)]
    counts = Counter(name for _, name, _ in found)
    lines = [
        match.span(group)
        for group, name, match in found
        if group != _WITHOUT_TIME or (counts[name] > 1 and _is_given(name.split()[0], gazetteer))
    ]
    if len(lines) < _MIN_LINES:
        return
    for start, end in lines:
        words = text[start:end].split()
        flags = [gazetteer.of(word) for word in words]
        if any(f & _BLOCK for f in flags) or not (
            flags[0] & Word.FIRST or (counts[text[start:end]] > 1 and flags[0] & Word.LAST)
        ):
            continue
        yield name_finding(
            start, end, health=False, bits=FIRST_ONLY if len(words) == 1 else FULL_NAME, source="names.chat",
            score=0.6, reason=("label", "writes in a chat"),
        )  # fmt: skip


def _is_given(word: str, gazetteer: Gazetteer) -> bool:
    return gazetteer.of(word) & (Word.FIRST | Word.ORDINARY) == Word.FIRST


def _finding(start: int, end: int, detail: str, score: float) -> Finding:
    return name_finding(
        start, end, health=False, bits=FULL_NAME, source="names.special", score=score,
        reason=("gazetteer", detail),
    )  # fmt: skip
