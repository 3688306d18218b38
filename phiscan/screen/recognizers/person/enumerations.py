"""Names by the names beside them: further rows of a list of names, further members of an enumeration.

A list in which most rows begin with a name is a list of names; a word there that may be a name is one,
whatever else it is: "Prince - sickle trait" among "Lupita - type 1". So is "Obi" in "Zara and Obi".
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from phiscan.lexicon.capitalized_words import FIRST_ONLY, FULL_NAME, WORD, name_finding
from phiscan.lexicon.gazetteer import Gazetteer, Word
from phiscan.model import EntityType, Finding
from phiscan.screen.resolution import is_taken

_SCORE = 0.55
_PEOPLE = frozenset({EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL})
_NAMES = Word.FIRST | Word.LAST
_BLOCK = Word.MONTH_OR_DAY | Word.CREDENTIAL | Word.TITLE_HEALTH | Word.EPONYM | Word.NOT_PERSON
_MIN_ROWS, _MIN_SHARE, _MIN_LETTERS = 4, 0.5, 3
# What stands before the name in a row: a mark, a number, a time, a bed.
_ROW = re.compile(
    r"^[ \t]{0,8}(?:[-*•–>][ \t]{0,3}|\[[ xX]?\][ ]{0,2}|\d{1,4}[.):]?[ \t]{1,4}|\d{1,2}[:hH]\d\d[ \t]{1,4}"  # noqa: RUF001 (texts are written with it)
    r"|(?:rm|room|ch\.|bed|lit)[ ]?\w{1,5}[ \t:]{1,4}|\d?[A-Z]{1,2}\d{1,3}[ \t]{1,4}){0,2}"
    rf"[\"“]?(?P<name>{WORD}\.?(?:,?[ ]{WORD}\.?){{0,2}})",
    re.MULTILINE,
)
_ENDS = re.compile(r"[\"”]?(?:[ ]{0,2}[\t,:;(|/]|[ ][-–—][ ]|[ ]{2}|[ ]?\r?$)", re.MULTILINE)  # noqa: RUF001 (texts are written with it)
_JOINS = re.compile(r"(?:, (?:and |et |or |ou )?| and | et | or | ou | & | / |/)")
_SURE_JOINS = frozenset({" and ", " et ", " or ", " ou ", " & ", ", and ", ", et "})
_ITEM = re.compile(rf"{WORD}(?:[ ]{WORD})?")
_ITEM_BEFORE = re.compile(rf"(?:^|[\s(:,])(?P<item>{WORD})$")
_CLOSED = re.compile(r"[ ]?[,.;:)(/!?\n]|[ ]?$|[ ](?:and|et|or|ou|&)[ ]")
_WORD = re.compile(WORD)
_REACH = 40


def listed_names(text: str, found: Sequence[Finding], gazetteer: Gazetteer) -> Iterator[Finding]:
    """Yield names that stand in lists of the names in ``found``; spans are half-open, in code points."""
    people = sorted((f.span.start, f.span.end) for f in found if f.entity_type in _PEOPLE and f.bits)
    if not people:
        return
    taken = sorted((f.span.start, f.span.end) for f in found if not f.is_doubtful)
    yield from _rows(text, people, taken, gazetteer)
    yield from _members(text, people, taken, gazetteer)


def _rows(
    text: str, people: Sequence[tuple[int, int]], taken: Sequence[tuple[int, int]], gazetteer: Gazetteer
) -> Iterator[Finding]:
    """Yield the names that begin rows among rows that begin with names."""
    starts = [start for start, _ in people]
    block: list[tuple[re.Match[str], bool]] = []
    last = -1
    for match in _ROW.finditer(text):
        begin = match.start("name")
        n_lines = text.count("\n", last, match.start()) if last >= 0 else 0
        if n_lines > 1:
            yield from _of_block(text, block, taken, gazetteer)
            block = []
        index = bisect_left(starts, begin)
        is_named = index < len(starts) and starts[index] < match.end("name")
        block.append((match, is_named))
        last = match.start()
    yield from _of_block(text, block, taken, gazetteer)


def _of_block(
    text: str,
    block: Sequence[tuple[re.Match[str], bool]],
    taken: Sequence[tuple[int, int]],
    gazetteer: Gazetteer,
) -> Iterator[Finding]:
    n_named = sum(is_named for _, is_named in block)
    if n_named < _MIN_ROWS - 1 or len(block) < _MIN_ROWS or n_named < _MIN_SHARE * len(block):
        return
    is_small = sum(match["name"][0].islower() for match, is_named in block if is_named) > n_named / 2
    for match, is_named in block:
        start, end = match.span("name")
        if is_named or not _ENDS.match(text, end) or is_taken(start, end, taken):
            continue
        words = _WORD.findall(match["name"])
        if _may_name(words, gazetteer, is_small=is_small):
            yield _named(start, end, words)


def _members(
    text: str, people: Sequence[tuple[int, int]], taken: Sequence[tuple[int, int]], gazetteer: Gazetteer
) -> Iterator[Finding]:
    """Yield what stands beside a name in an enumeration: behind it, or before it and a conjunction."""
    starts = {start for start, _ in people}
    for start, end in people:
        is_small = text[start].islower()
        join = _JOINS.match(text, end)
        if join is not None:
            item = _ITEM.match(text, join.end())
            if item is not None:
                item = _shortened(text, item, is_small=is_small)
            if item is not None and not is_taken(*item.span(), taken):
                after = _JOINS.match(text, item.end())
                between = after is not None and after.end() in starts
                sure = join[0] in _SURE_JOINS and _CLOSED.match(text, item.end()) is not None
                if (between or sure) and _may_name(_WORD.findall(item[0]), gazetteer, is_small=is_small):
                    yield _named(*item.span(), _WORD.findall(item[0]))
        before = text[max(0, start - _REACH) : start]
        joined = next((j for j in (" and ", " et ", " ou ", " or ", " & ") if before.endswith(j)), None)
        if joined is not None:
            left = _ITEM_BEFORE.search(before[: -len(joined)])
            if left is None:
                continue
            low = start - len(before) + left.start("item")
            high = low + len(left["item"])
            flags = gazetteer.of(left["item"])
            plain = not (is_small and flags & Word.ORDINARY)
            if flags & Word.FIRST and plain and not is_taken(low, high, taken):
                words = [left["item"]]
                if _may_name(words, gazetteer, is_small=is_small) and text[low].isupper() != is_small:
                    yield _named(low, high, words)


def _shortened(text: str, item: re.Match[str], *, is_small: bool) -> re.Match[str] | None:
    """Return an item of one or two words; of one where the second is of other letters."""
    words = item[0].split(" ")
    if words[0][0].islower() != is_small:
        return None
    if len(words) > 1 and (is_small or words[1][0].islower()):
        return _WORD.match(text, item.start())
    return item


def _may_name(words: Sequence[str], gazetteer: Gazetteer, *, is_small: bool) -> bool:
    """Tell whether words may be a name: each is one or on no list; not all are places.

    In small letters, or in capitals, each must be a name; one of three letters, too.
    """
    flags = [gazetteer.of(word) for word in words]
    if (
        any(flag & (_BLOCK if flag & Word.FIRST else _BLOCK | Word.TITLE) for flag in flags)
        or sum(map(len, words)) < _MIN_LETTERS
    ):
        return False
    known = list(zip(words, flags, strict=True))
    if all(gazetteer.is_place(word) and not flag & Word.FIRST for word, flag in known):
        return False
    if is_small:
        return all(word.islower() and flag & (_NAMES | Word.PARTICLE) for word, flag in known)
    if any(word.islower() and not flag & Word.PARTICLE for word, flag in known):
        return False
    if all(word.isupper() for word in words):
        return all(flag & _NAMES for flag in flags)
    return all(flag & (_NAMES | Word.PARTICLE) or not flag for flag in flags)


def _named(start: int, end: int, words: Sequence[str]) -> Finding:
    return name_finding(
        start, end, health=False, bits=FULL_NAME if len(words) > 1 else FIRST_ONLY, source="names.list",
        score=_SCORE, reason=("context", "among names"),
    )  # fmt: skip
