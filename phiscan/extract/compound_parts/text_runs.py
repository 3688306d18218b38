"""Runs of text in the binary records of old office files, and which of them the extracted text lacks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import re2

from phiscan.extract.compound_parts.styling_words import STYLING_WORDS
from phiscan.extract.residue.prose import MIN_WORDS, ShownWords, words_of
from phiscan.extract.spreadsheets.rows import SEPARATOR

_BYTES = re2.Options()
_BYTES.encoding = re2.Options.Encoding.LATIN1  # else a byte above 127 is looked for as UTF-8
FEW_CHARS = 12  # fewer are no prose
_NARROW = re.compile(rb"[\x20-\x7e\xa0-\xff\t]{5,}")
_NARROW_PROSE = re.compile(rb"[\x20-\x7e\xa0-\xff\t]{%d,}" % FEW_CHARS)
# Latin, Cyrillic, Greek, Hebrew, Arabic.
_WIDE = re2.compile(
    rb"(?:[\x20-\x7e\xa0-\xff]\x00){4,}"
    rb"|(?:[\x10-\x4f\x51]\x04|[ ,.0-9-]\x00){5,}|(?:[\x86-\xce]\x03|[ ,.0-9-]\x00){5,}"
    rb"|(?:[\xd0-\xea]\x05|[ ,.0-9-]\x00){5,}|(?:[\x20-\x52]\x06|[ ,.0-9-]\x00){5,}",
    _BYTES,
)
# What each of these runs has in it.
_MAY_BE_WIDE = re.compile(rb"(?:[\x10-\x7e\x86-\xff][\x00\x03-\x06]){4}")
_FEW_BYTES = 1024
_LETTERS = re.compile(r"[^\W\d_]{3,}")
_NUMBER = re.compile(r"\d{6,}|\d{4}-\d\d-\d\d")
_CONTROLS = re.compile(r"[\x00-\x1f]+")
_MARK = re.compile(
    r"_?(?:WW8Num|Toc|Ref|Hlt|Hlk|OLE_LINK)\d+|DefaultPlaceholder[ _]?-?\d+|[0-9A-F]{16,}|[0-9a-f-]{32,}"
)
_ACCENTED = re.compile("[\u00a1-\u00ff]")
_MOST_ACCENTED = 0.4  # of the characters of a text in Latin letters; more are bytes of something else
_LONGEST_NAME = 1000
_TWO_LETTERS = re.compile(r"[^\W\d_]{2,}")
# The last word of the name of a style that belongs to another one.
_LINKED = frozenset(["char", "char1", "car", "zchn", "zeichen", "знак", "znak", "carattere", "tegn", "字符"])
_ALIAS = re.compile(r",\S")
_MOST_ALIASES = 2
# Names that programs give, of objects, ranges, files and properties.
_AUTOMATIC = re.compile(
    r"_?(?:GoBack|xlnm|_?FilterDatabase|Print_)[\w.=]*|_?PID_\w+|___PPT\w*"
    r"|[A-Za-z]{2,30}\d{1,3}|(?:[^\W\d_]{1,20} ){1,3}\d{1,2}|\{[0-9A-Fa-f-]{20,}\}?|\d+ ?% ?- .*"
    r"|\[?Content_Types\]?.*|_rels/.*|.*\.(?:xml|rels|dll|olb|tlb|ocx)|.*PK\x03\x04.*|drs/.*"
    r"|.*Normal\.do[tc]m?|Microsoft .*|mailto:|https?://|.*#\w+-\w+-\w+.*|\*\\[A-Z]\{.*"
    r"|\s*(?:EMBED|SEQ|TOC|PAGEREF|REF|STYLEREF|LINK|INDEX|INCLUDEPICTURE) .*"
    r"|[A-Za-z]{1,12}\.[A-Za-z]{1,20}(?:\.\d{1,2})?",
    re.DOTALL,
)
_MOST_RUNS, _MOST_CHARS = 100_000, 1_000_000
_MOST_COMPARED = 200_000_000  # characters of text, times strings looked for in it


def narrow_runs(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield place and text of the runs of one byte for each character."""
    for match in _NARROW.finditer(data):
        yield match.start(), match.group().decode("cp1252", "replace")


def long_narrow_runs(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield place and text of the runs of one byte for each character that are long enough for prose."""
    for match in _NARROW_PROSE.finditer(data):
        yield match.start(), match.group().decode("cp1252", "replace")


def narrow_prose(data: bytes, shown: ShownWords | None = None) -> Iterator[str]:
    """Yield the runs of one byte for each character that are prose and not held by the ``shown`` text."""
    yield from (text for _, text in long_narrow_runs(data) if _is_new_prose(text, shown))


def wide_prose(data: bytes, shown: ShownWords | None = None) -> Iterator[str]:
    """Yield the runs of two bytes for each character that are prose and not held by the ``shown`` text."""
    if b" \0" in data:
        yield from (text for _, text in wide_runs(data) if _is_new_prose(text, shown))


def _is_new_prose(text: str, shown: ShownWords | None) -> bool:
    if len(text) < FEW_CHARS or " " not in text:
        return False
    return not (shown is not None and shown.holds(text)) and is_prose(text)


def wide_runs(data: bytes) -> Iterator[tuple[int, str]]:
    """Yield place and text of the runs of two bytes for each character."""
    if len(data) < _FEW_BYTES and not _MAY_BE_WIDE.search(data):
        return  # a call of the other engine takes longer than a search of a record
    for match in _WIDE.finditer(data):
        yield match.start(), match.group().decode("utf-16-le", "replace")


def table_texts(data: bytes) -> Iterator[str]:
    """Yield the texts of two bytes for each character in tables of strings, each after its length."""
    for start, run in wide_runs(data):
        before = int.from_bytes(data[start - 2 : start], "little") if start > 1 else 0
        yield from _split(run, before)


def _split(run: str, length: int) -> list[str]:
    """Return the strings in a run in which a length of 32 and more looks like a letter; else the run."""
    texts, at = [], 0
    if not 0 < length <= len(run):
        length, at = ord(run[0]), 1
    while at + length <= len(run):
        texts.append(run[at : at + length])
        at += length
        if at == len(run):
            return texts
        length, at = ord(run[at]), at + 1
    return [run]


def is_typed(text: str) -> bool:
    """Tell a short text that a person may have typed from names of styles, fonts and objects.

    >>> is_typed("Lena Okafor"), is_typed("heading 1"), is_typed("Text Box 3"), is_typed("40718823")
    (True, False, False, True)
    """
    if len(text) > _LONGEST_NAME:  # no name; its beginning says whether it holds words
        return any(word not in STYLING_WORDS for word in _LETTERS.findall(text[:_LONGEST_NAME].casefold()))
    if _MARK.fullmatch(text) or text.startswith(("<", "Excel_BuiltIn")):
        return False
    if len(text) > FEW_CHARS and len(_ACCENTED.findall(text)) > _MOST_ACCENTED * len(text):
        return False
    if _AUTOMATIC.fullmatch(text):
        return bool(_NUMBER.search(text))
    words = _LETTERS.findall(text.casefold())
    return any(word not in STYLING_WORDS for word in words) or _NUMBER.fullmatch(text) is not None


def is_person_named(text: str) -> bool:
    """Tell a name with two words that no program uses, or a long number, from that of a built-in style."""
    words = [word for word in _TWO_LETTERS.findall(text.casefold()) if word not in STYLING_WORDS]
    is_linked = text.casefold().rpartition(" ")[2] in _LINKED or len(_ALIAS.findall(text)) > _MOST_ALIASES
    if " " not in text.strip() and not _NUMBER.search(text):
        return False
    return (len(words) > 1 or _NUMBER.search(text) is not None) and is_typed(text) and not is_linked


def is_prose(text: str) -> bool:
    """Tell a run that holds several words from bytes that look like letters."""
    if len(text) < FEW_CHARS or " " not in text:
        return False
    words = words_of(text)
    return len(words) >= MIN_WORDS and 2 * sum(map(len, words)) >= len(text.strip()) and is_typed(text)


def unshown(texts: Iterable[str], shown: str, cells: frozenset[str] | None = None) -> list[str]:
    """Return the texts that an extracted text lacks, each once, within a bound.

    ``cells`` are those of the text, where they are known.
    """
    comparison = ShownWords(shown)
    squeezed = " ".join(shown.split())
    cells = cells_of(shown) if cells is None else cells
    words: frozenset[str] = frozenset()
    left = _MOST_COMPARED
    seen: set[str] = set()
    found: list[str] = []
    n_chars = 0
    for raw in texts:
        if raw in cells:  # the usual case
            continue
        text = " ".join(_CONTROLS.sub(" ", raw).split())
        if not text or text in seen or text in cells:
            continue
        seen.add(text)
        if len(seen) > _MOST_RUNS or n_chars > _MOST_CHARS:
            break
        left -= len(squeezed)
        if left < 0:  # of very many texts, those with a word that the shown text lacks
            words = words or frozenset(squeezed.split())
            is_lost = not words.issuperset(text.split())
        elif len(words_of(text)) >= MIN_WORDS:
            is_lost = comparison.lacks(text)
        else:
            is_lost = text not in squeezed
        if is_lost:
            found.append(text)
            n_chars += len(text)
    return found


def cells_of(shown: str) -> frozenset[str]:
    """Return the lines of a text, the cells of its rows, and their values after their heads."""
    parts = [part.strip() for line in shown.split("\n") for part in line.split(SEPARATOR)]
    return frozenset([*parts, *(part.partition(": ")[2] for part in parts)])
