"""A storage within a compound file as a compound file of its own, for the reader of its application.

Source: [MS-CFB] 2.2 (header), 2.3 (sectors), 2.6 (directory entries).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import re2

from phiscan.errors import ExtractError
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.prose import MIN_WORDS, ShownWords, words_of
from phiscan.extract.spreadsheets.rows import SEPARATOR
from phiscan.model import FailReason

_SECTOR, _MINI_SECTOR, _CUTOFF = 512, 64, 4096
_END, _FREE, _TABLE, _NONE = -2, -1, -3, -1
_MAGIC = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_HEADER_TABLES = 109  # sectors of the table that the header itself can name
_MOST_ENTRIES, _MOST_DEPTH = 2_000, 16
_MOST_BYTES = (_HEADER_TABLES - 1) * _SECTOR // 4 * _SECTOR  # that the table in the header reaches
_STORAGE, _STREAM, _ROOT = 1, 2, 5
_Path = tuple[str, ...]
_Children = dict[_Path, list[_Path]]
_POOLS = re.compile(r"(?:ObjectPool/[^/]+|MBD[0-9A-F]{8})", re.IGNORECASE)
_READ_APART = frozenset({"Package", "CONTENTS"})  # by the reader of the file around the object


@dataclass(slots=True)
class _Entry:
    """One directory entry."""

    name: str
    kind: int
    data: bytes = field(default=b"", repr=False)
    child: int = _NONE
    left: int = _NONE
    right: int = _NONE
    start: int = _END


def embedded_storages(ole: Any, content: Content, sink: Sink) -> Iterator[Content]:
    """Yield the objects that other applications put into an opened DOC or XLS, as compound files."""
    number = 0
    below = _children(ole)
    for path, entries in below.items():
        names = [entry[-1] for entry in entries]
        if not _POOLS.fullmatch("/".join(path)) or _READ_APART.intersection(names):
            continue
        number += 1
        name = f"embedded{number}"
        with sink.part(
            content.place(name), OSError, ValueError, said="damaged object of another application"
        ):
            sink.take_member()
            data = storage_file(ole, path, below)
            sink.spend(len(data))
            yield content.member(name, data)


def _children(ole: Any) -> _Children:
    """Return what each storage of an opened file holds."""
    below: _Children = {}
    for entry in ole.listdir(streams=True, storages=True):
        below.setdefault(tuple(entry[:-1]), []).append(tuple(entry))
    return below


def storage_file(ole: Any, path: _Path, below: _Children | None = None) -> bytes:
    """Return the storage at ``path`` as a compound file, by copying its streams.

    ``below`` lists what each storage holds.

    Raises:
        ExtractError: too_large, or nested_too_deep.
    """
    entries = [_Entry("Root Entry", _ROOT)]
    _gather(ole, _children(ole) if below is None else below, path, entries, 0)
    if sum(len(entry.data) for entry in entries) > _MOST_BYTES:
        raise ExtractError(FailReason.TOO_LARGE, f"an embedded object of more than {_MOST_BYTES} bytes")
    return _written(entries)


def _gather(ole: Any, below: _Children, path: _Path, entries: list[_Entry], parent: int) -> None:
    """Append the entries below a storage, and link them as a balanced tree."""
    if len(path) > _MOST_DEPTH:
        raise ExtractError(FailReason.NESTED_TOO_DEEP, "storages within storages")
    children = []
    for entry in below.get(path, ()):
        if len(entries) > _MOST_ENTRIES:
            raise ExtractError(FailReason.TOO_LARGE, f"more than {_MOST_ENTRIES} streams")
        is_storage = ole.get_type(list(entry)) == _STORAGE
        children.append(len(entries))
        entries.append(_Entry(entry[-1], _STORAGE if is_storage else _STREAM))
        if is_storage:
            _gather(ole, below, entry, entries, children[-1])
        else:
            entries[children[-1]].data = bytes(ole.openstream(list(entry)).read())
    children.sort(key=lambda index: (len(entries[index].name), entries[index].name.upper()))
    entries[parent].child = _tree(entries, children)


def _tree(entries: list[_Entry], children: list[int]) -> int:
    if not children:
        return _NONE
    middle = len(children) // 2
    root = children[middle]
    entries[root].left = _tree(entries, children[:middle])
    entries[root].right = _tree(entries, children[middle + 1 :])
    return root


class _Sectors:
    """Sectors of one size with their table of successors."""

    def __init__(self, n_bytes: int) -> None:
        self.n_bytes = n_bytes
        self.pieces: list[bytes] = []
        self.table: list[int] = []

    def put(self, data: bytes) -> int:
        """Append a stream; return its first sector."""
        if not data:
            return _END
        start = len(self.table)
        n_sectors = -(-len(data) // self.n_bytes)
        self.pieces.append(data.ljust(n_sectors * self.n_bytes, b"\0"))
        self.table += [*range(start + 1, start + n_sectors), _END]
        return start


def _numbers(values: list[int]) -> bytes:
    data = struct.pack(f"<{len(values)}i", *values)
    return data + b"\xff" * (-len(data) % _SECTOR)


def _written(entries: list[_Entry]) -> bytes:
    sectors, minis = _Sectors(_SECTOR), _Sectors(_MINI_SECTOR)
    for entry in entries[1:]:
        if entry.kind == _STREAM:
            entry.start = (sectors if len(entry.data) >= _CUTOFF else minis).put(entry.data)
    entries[0].data = b"".join(minis.pieces)
    entries[0].start = sectors.put(entries[0].data)
    mini_table = _numbers(minis.table)
    mini_start = sectors.put(mini_table)
    directory_start = sectors.put(_directory(entries))
    n_tables = 1
    while len(sectors.table) + n_tables > n_tables * (_SECTOR // 4):
        n_tables += 1
    first = len(sectors.table)
    table = _numbers([*sectors.table, *[_TABLE] * n_tables])
    places = [*range(first, first + n_tables), *[_FREE] * (_HEADER_TABLES - n_tables)]
    header = _MAGIC + bytes(16) + struct.pack("<5H6x", 0x3E, 3, 0xFFFE, 9, 6)
    header += struct.pack(
        "<II2iIiIiI",
        0,
        n_tables,
        directory_start,
        0,
        _CUTOFF,
        mini_start,
        len(mini_table) // _SECTOR,
        _END,
        0,
    )
    return b"".join([header, struct.pack(f"<{_HEADER_TABLES}i", *places), *sectors.pieces, table])


def _directory(entries: list[_Entry]) -> bytes:
    packed = []
    for entry in entries:
        name = entry.name.encode("utf-16-le", "replace")[:62] + b"\0\0"
        links = struct.pack("<64sHBB3i", name, len(name), entry.kind, 1, entry.left, entry.right, entry.child)
        packed.append(links + bytes(36) + struct.pack("<iQ", entry.start, len(entry.data)))
    free = struct.pack("<64xHBB3i48x", 0, 0, 0, _NONE, _NONE, _NONE)
    return b"".join([*packed, *[free] * (-len(packed) % 4)])


# Runs of text in the binary records of old office files, and which of them the extracted text lacks.

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


def narrow_runs(data: bytes, *, long: bool = False) -> Iterator[tuple[int, str]]:
    """Yield place and text of the runs of one byte for each character; those ``long`` enough for prose."""
    for match in (_NARROW_PROSE if long else _NARROW).finditer(data):
        yield match.start(), match.group().decode("cp1252", "replace")


def prose(data: bytes, shown: ShownWords | None = None) -> Iterator[str]:
    """Yield the runs that are prose, of two bytes for each character first, and not in the ``shown`` text."""
    for runs in (wide_runs(data) if b" \0" in data else (), narrow_runs(data, long=True)):
        for _, text in runs:
            is_long = len(text) >= FEW_CHARS and " " in text
            if is_long and not (shown is not None and shown.holds(text)) and is_prose(text):
                yield text


def typed_runs(data: bytes) -> Iterator[str]:
    """Yield the runs that a person may have typed, of one byte for each character first."""
    for runs in (narrow_runs(data), wide_runs(data)):
        yield from (shown for _, text in runs if is_typed(shown := text.strip()))


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


_WORDS = """
absatz abstract accent address affiliation and animation annotation appendix arial arrow aucune author
authorities background bad balloon banded bearbeiten bibliography bibliography1 black block blue body
bold book bottom bottom-of-form box boxes built-in bullet bulletlist calculation calibri cambria caption
car cell char char1 characters chart check citation classic click closing colorful cols column columns
comma comment connector cont contemporary contents contents1 continue contributors corps courier cover
currency current dark dark1 dashed date default defaultplaceholder definition design document drawing
défaut e-mail edit effects elegant email embedded emphasis emphasized end endnote entry envelope
equations event example excel explanatory fifth figurecaption figures fill filled first followed font
footer footer1 footnote for foreground form fourth frame freeform fußzeile gallery general georgia good
gothic gray green grey grid grid1 grille group header header1 heading heading1 helvetica horizontal html
hyperlink hyperlink1 illustration in indent index inline input intense internet invisible italic keywords
klicken kopfzeile last left level light line lines link linked list list1 list2 liste macro main map
marker master medium mention message microsoft mincho monotype named narrow neutral new no normal normal1
note notes num number numbering obj object of office ole on orange outline outline1 outlined output oval
page pages pagestyle papertitle par paragraph parts percent picture placeholder plain police policy
preformatted professional purple quick quotations quote ranges recipient rectangle red reference
references report return revision right roman root row rows rule salutation sans second sender serif
servers shading shape sheet signature simple slide smart sorts spacing standard standardschriftart start
straight strikethrough strong style styles subject subtitle subtle symbol symbols table tablecolhead
tablehead tahoma teletype term text the theme third tight times title title1 titre to toa toc top
top-of-form total unicode unknown unresolved user verdana vertical visited warning watermarks web web1
white wide wingdings with word worksheet yellow zchn zeichen überschrift
"""
STYLING_WORDS = frozenset(_WORDS.split())
