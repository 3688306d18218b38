"""Names before an age and a sex, as censuses and boards have them: "SMITH, JOHN 78M", "okafor n 33f"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, LAST_ONLY, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import Finding
from phiscan.text.prefilter import Rare

_SCORE = 0.75
_MAX_AGE = 115
_REACH = 60
_MAX_WORDS = 4
_AGE_SEX = Rare(
    re.compile(
        r"(?<=[^\W\d_]|\.),?[ \t]{1,4}(?P<age>\d{1,3})[ -]?"
        r"(?:(?:y/?o|y\.o\.|yrs?|ans|a)[ -]?)?(?:[MF]|[mf]|H)\b"
        r"(?![^\W\d_'/]|['\N{RIGHT SINGLE QUOTATION MARK}%]|/[A-Z])"
    ),
    r"\p{Nd}[ -]?(?:(?:y/?o|y\.o\.|yrs?|ans|a)[ -]?)?[MFmfH]\b",
)
_WORD = re.compile(
    r"(?<![^\W_])(?P<word>[^\W\d_]+(?:['\N{RIGHT SINGLE QUOTATION MARK}-][^\W\d_]+)*\.?)(?P<gap>,?[ ]{0,2})\Z"
)
_NAMES = Word.FIRST | Word.LAST
_BLOCK = Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.CREDENTIAL | Word.TITLE | Word.TITLE_HEALTH

_CAP = r"[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]{1,15}(?:['\N{RIGHT SINGLE QUOTATION MARK}-][^\W\d_]{1,15})?"


# "rm 18 rose 90f": in a row of a board what stands before the age is a name, even where it is a word, too.
_ROW = Rare(
    re.compile(
        r"^[ \t]{0,4}(?:[-*•][ ]|(?:rm|room|bed|ch\.?|lit|ch)[ ]?[\w-]{1,5}[ :,-]{1,3}"
        r"|\d{1,4}[a-z]?[.):]?[ ]{1,3})"
        r"(?P<name>[a-zà-ÿ'\N{RIGHT SINGLE QUOTATION MARK}-]{2,20}(?:[ ][a-zà-ÿ'-]{2,20}){0,2}),?[ ]{1,2}"
        r"(?P<age>\d{1,3})[ ]?(?:yo[ ]?|y/o[ ]?)?[mfh]\b",
        re.MULTILINE,
    ),
    r"\p{L},? {1,2}\p{Nd}{1,3} ?(?:yo ?|y/o ?)?[mfh]",
)

# "702-1  STASIUK 101M": in capitals, too, unless the bed is empty.
_ROW_IN_CAPITALS = Rare(
    re.compile(
        r"^[ \t]{0,4}(?:(?:RM|ROOM|BED|CH\.?|LIT)[ ]?)?\d{1,4}(?:-\d{1,2}|[A-Z])?[ :.)-]{1,4}"
        r"(?P<name>[A-Z][A-Z'\N{RIGHT SINGLE QUOTATION MARK}-]{1,19}(?:,?[ ][A-Z][A-Z'-]{0,19}\.?){0,2})"
        r"[ ,]{1,4}(?P<age>[1-9]\d{0,2})[ ]?(?:Y/?O?[ ]?)?[MFH]\b",
        re.MULTILINE,
    ),
    r"\p{Nd}[A-Z]?[ :.)-]{1,4}\p{Lu}[^\n]*\p{Nd} ?(?:Y/?O? ?)?[MFH]",
)
# What stands in the place of a name where nobody is.
NO_PERSON = frozenset(
    "empty vacant blocked closed clean dirty male female iso isolation hold held ready pending open new adm"  # noqa: SIM905 (a list of words)
    " vide libre fermé ferme bloqué homme femme pt patient unknown unk admit transfer".split()
)

# "Do, Van 71M", "An, So Young F 44": before an age or a birth even words that begin a row are a name.
_TURNED = Rare(
    re.compile(
        r"^[ \t]{0,4}(?:[-*•][ ]|\d{1,4}[A-Za-z]?(?:-\d)?[.):]?[ \t]{1,3})?"
        r"(?!(?:Patiente?|Pt|Cliente?|Re|Name|Nom|Usag[èe]re?|R[eé]sidente?|Member|Attn|To|From|Cc)\b)"
        rf"(?P<name>(?P<last>{_CAP}(?:[ -]{_CAP})?),[ ]"
        rf"(?P<first>{_CAP}(?:[ ](?:{_CAP}|[A-Z]\.?(?=[ \t|]))){{0,2}}))"
        r"[ \t|,]{1,4}(?:\(?\d{1,3}[ ]?(?:y/?o?[ ]?)?[MFH]\b|[MFH][ /|,]{0,2}\d{1,3}\b"
        r"|(?:DOB|DDN|D\.O\.B|MRN)\b"
        r"|(?P<day>\(?\d{1,2}[/-]\d{1,2}[/-]\d{2,4}|\(?(?:19|20)\d\d-\d\d-\d\d))",
        re.MULTILINE,
    ),
    r"\p{L}, \p{Lu}",
)


def aged_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield the name before each age with a sex; spans are half-open, in code points."""
    found = [*_row_names(text, gazetteer), *_aged(text, gazetteer)]
    yield from found
    spans = {finding.span for finding in found}
    rows = (*_turned_names(text, gazetteer), *_capital_rows(text, gazetteer))
    yield from (finding for finding in rows if finding.span not in spans)


def _aged(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield the name right before each age with a sex."""
    for match in _AGE_SEX.finditer(text):
        if int(match["age"]) > _MAX_AGE:
            continue
        words = _words_before(text, match.start(), gazetteer)
        flags = [gazetteer.of(text[start:end].rstrip(".")) for start, end in words]
        sure = [flag for flag in flags if flag & _NAMES and not flag & Word.ORDINARY]
        if not sure:
            continue
        alone = LAST_ONLY if flags[0] & Word.LAST else FIRST_ONLY
        yield name_finding(
            words[0][0], words[-1][1], health=False, bits=FULL_NAME if len(words) > 1 else alone,
            source="names.age", score=_SCORE, reason=("label", "an age and a sex"),
        )  # fmt: skip


def _row_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield names in small letters between the room and the age of a row."""
    for match in _ROW.finditer(text):
        flags = [gazetteer.of(word) for word in match["name"].split()]
        named = all(flag & (_NAMES | Word.PARTICLE) and not flag & Word.MONTH_OR_DAY for flag in flags)
        if named and int(match["age"]) <= _MAX_AGE:
            yield name_finding(
                match.start("name"), match.end("name"), health=False,
                bits=FULL_NAME if len(flags) > 1 else LAST_ONLY, source="names.age", score=_SCORE,
                reason=("label", "an age and a sex"),
            )  # fmt: skip


def _capital_rows(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield what stands in capitals between the bed and the age of a row."""
    for match in _ROW_IN_CAPITALS.finditer(text):
        words = re.findall(r"[^\W\d_]+", match["name"])
        blocked = any(gazetteer.of(word) & _BLOCK or word.lower() in NO_PERSON for word in words)
        plain = any(not gazetteer.of(word) & Word.ORDINARY or gazetteer.of(word) & _NAMES for word in words)
        if plain and not blocked and int(match["age"]) <= _MAX_AGE:
            yield name_finding(
                *match.span("name"), health=False, bits=FULL_NAME if len(words) > 1 else LAST_ONLY,
                source="names.age", score=_SCORE, reason=("label", "an age and a sex"),
            )  # fmt: skip


def _turned_names(text: str, gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield "Last, First" at the start of a row, of which one word at least may be a name."""
    for match in _TURNED.finditer(text):
        flags = [gazetteer.of(word.rstrip(".")) for word in re.split(r", |[ -]", match["name"])]
        blocked = Word.NOT_PERSON | Word.MONTH_OR_DAY | Word.TITLE_HEALTH
        is_town = (
            gazetteer.is_place(match["last"]) and not gazetteer.of(match["first"].split()[0]) & Word.FIRST
        )
        known = any(flag & _NAMES and not (match["day"] and flag & Word.ORDINARY) for flag in flags)
        if known and not any(flag & blocked for flag in flags) and not is_town:
            head = re.match(r"[^ -]+ ", match["last"])
            is_led = (
                head is not None
                and not flags[0] & _NAMES
                and flags[1] & (_NAMES | Word.ORDINARY) == Word.LAST
            )
            start = match.start("name") + (head.end() if head is not None and is_led else 0)
            yield name_finding(
                start, match.end("name"), health=False, bits=FULL_NAME, source="names.age", score=_SCORE,
                reason=("label", "an age, a sex or a birth"),
            )  # fmt: skip


def _words_before(text: str, end: int, gazetteer: Gazetteer) -> list[tuple[int, int]]:
    """Return the words of a name that ends at ``end``, in text order: names, initials, unknown words."""
    low = max(text.rfind("\n", max(0, end - _REACH), end) + 1, end - _REACH, 0)
    in_capitals: bool | None = None
    words: list[tuple[int, int]] = []
    position, n_commas = end, 0
    while len(words) < _MAX_WORDS and (match := _WORD.search(text, low, position)) is not None:
        word = match["word"].rstrip(".")
        n_commas += bool(words) and match["gap"].startswith(",")
        if n_commas > 1 or (words and not match["gap"]):
            break
        if len(word) > 1:
            if not _is_part(word, gazetteer.of(word)) or in_capitals not in {None, word.isupper()}:
                break
            in_capitals = word.isupper()
        words.insert(0, match.span("word"))
        position = match.start()
    if len(words) == 1 or (words and not text[words[0][0]].isupper()):
        while (
            words and words[0][1] - words[0][0] == 1
        ):  # a letter alone, or one before a name in small letters
            del words[0]
    return words


def _is_part(word: str, flags: int) -> bool:
    """Tell whether a word may be a part of a name: a name, or with a capital one that no list has."""
    if flags & _BLOCK:
        return False
    if word[0].isupper():
        return bool(flags & _NAMES) or not flags
    return flags & (_NAMES | Word.ORDINARY) in {Word.FIRST, Word.LAST, _NAMES}
