"""Zip packages of office documents: parts read within the budget, XML parsed without expanding anything."""

from __future__ import annotations

import html
import re
import struct
import zipfile
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from typing import Any

import re2

from phiscan.errors import ExtractError
from phiscan.extract.archives.zip_files import salvage
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import ZIP_DAMAGE, Content, Sink, mishap
from phiscan.extract.core.prose import words_of
from phiscan.extract.office.part_values import is_said, is_swept, part_values, targets
from phiscan.extract.office.runs import fallback_lines, paragraphs_text
from phiscan.extract.office.storage import unshown
from phiscan.extract.structured.xml_parsing import PROLOGUE_BYTES, local_name, parse_damaged
from phiscan.formats.sensitivity_labels import LABEL_LIST, label_properties
from phiscan.model import FailReason

# Parts that say how a document is drawn or kept together. Cells of workbooks are read by calamine.
_MACHINE_PART = re.compile(
    r"(?:^|/)_rels/|\.rels$|^\[content_types\]\.xml$|^mimetype$|^meta-inf/|thumbnail"
    r"|^objectreplacements/|^basic/|^layout-cache$|^manifest\.rdf$|(?:^|/)settings\.xml$|^docmetadata/|/ink/"
    r"|(?:^|/)configurations2/|^object [^/]*/(?:styles|meta)\.xml$|^_xmlsignatures/|ctrlprops|xmlmaps\.xml$"
    r"|(?:^|/)diagrams/(?:layout|quickstyle|colors|drawing)"
    r"|^word/(?:styles\w*|settings|websettings|fonttable|numbering|people|commentsids|commentsextended"
    r"|commentsextensible)\.xml$|^xl/(?:styles|calcchain|metadata|workbook|sharedstrings)\.(?:xml|bin)$"
    r"|^xl/(?:worksheets|chartsheets|tables|persons|binaryindex)/|^ppt/(?:presprops|viewprops|tablestyles)\.xml$"
    r"|^ppt/(?:presentation|changesinfos/.*|revisioninfo)\.xml$|/theme/|(?:^|/)fonts/|printersettings"
    r"|vbaprojectsignature|vbadata|(?:style|colors)\d*\.xml$|vmldrawing|/drs/|itemprops\d*\.xml$"
    r"|\.(?:odttf|fntdata|ttf|otf|woff2?|css|js|sigs|psmdcp|svm)$|^__macosx/|\.ds_store$",
    re.IGNORECASE,
)
# Word's own list of sources is in every file made from its templates; how it cites is nobody's name.
_TECHNICAL = re.compile(
    r"true|false|\d+(?:\.\d+)*"
)  # a value of docProps/app.xml that is no evidence about anybody
_BIBLIOGRAPHY = b"/officeDocument/2006/bibliography"
_CITED_HOW = re.compile(rb"\s(?:SelectedStyle|StyleName|Version|URI)\s*=\s*(?:\"[^\"<]*\"|'[^'<]*')")
_TITLE_WORDS = 4
_LONG_NUMBER = re.compile(r"\d{6,}")
_MOST_KEPT_BYTES = 16 * 1024**2  # of unpacked parts; one beyond is unpacked again
_DRAWN = re.compile(r"(?:^|/)diagrams/drawing", re.IGNORECASE)
_THUMBNAIL = re.compile(r"thumbnail[^/]*\.[ew]mf$", re.IGNORECASE)
_MOST_BYTES = 32 * 1024**2  # of one part
_MOST_VALUES = 100_000
_MOST_COMPARED = 20_000_000  # characters of values times characters of text
_READING = re2.compile(rb"<(?:\w+:)?rPh [^>]*>\s*<(?:\w+:)?t(?: [^>]*)?>([^<]+)<")


class Package:
    """The parts of one zipped document."""

    def __init__(self, content: Content, sink: Sink) -> None:
        self.content = content
        self.sink = sink
        self._as_it_stands: set[str] = set()  # parts added as raw text too
        self._read: set[str] = set()  # parts that were asked for
        self._parsed: set[str] = set()
        self._n_segments = sink.n_segments  # of text, before this package
        self.values: list[str] = []  # of parsed parts, that their readers leave out
        self._infos: dict[str, zipfile.ZipInfo] = {}
        self._found: dict[str, bytes] = {}  # the parts of a package without a directory
        self._kept: dict[str, bytes] = {}  # parts that were unpacked
        self._n_left = _MOST_KEPT_BYTES
        try:
            self._archive = zipfile.ZipFile(content.open())
        except ZIP_DAMAGE as error:
            self._salvage(mishap(error))
            return
        # Some writers use backslashes, or another case than they declare.
        self._infos = {info.filename.replace("\\", "/"): info for info in self._archive.infolist()}

    def _salvage(self, damage: str) -> None:
        """Take the parts that are found by their own headers."""
        content, sink = self.content, self.sink
        for found in salvage(content.data, sink) if content.stream is None else ():
            sink.take_member()
            self._found[found.name.replace("\\", "/")] = found.data
            if found.damage:
                sink.fail(content.place(found.name), FailReason.CORRUPT, found.damage)
        if not self._found:
            raise ExtractError(FailReason.CORRUPT, damage)
        sink.fail(content.locator, FailReason.CORRUPT, f"{damage}, read part by part")

    @property
    def names(self) -> tuple[str, ...]:
        """The parts in the order of the package, folders left out."""
        return tuple(name for name in (*self._infos, *self._found) if not name.endswith("/"))

    def n_bytes(self, name: str) -> int:
        """Return the size of one part, unpacked, as the package says."""
        return len(self._found[name]) if name in self._found else self._infos[name].file_size

    def read(self, name: str) -> bytes:
        """Return one part.

        Raises:
            ExtractError: encrypted, corrupt or too_large.
        """
        self._read.add(name)
        if name in self._found:
            return self._found[name]
        info = self._infos[name]
        kept = self._kept.get(info.filename)
        if kept is not None:
            return kept
        if info.flag_bits & 1:
            raise ExtractError(FailReason.ENCRYPTED)
        try:
            with self._archive.open(info) as stream:
                data = self.sink.unpack(stream, info.compress_size)
        except ExtractError:
            raise
        except Exception as error:  # noqa: BLE001 (zlib, struct and zipfile errors alike)
            raise ExtractError(FailReason.CORRUPT, mishap(error)) from None
        if len(data) <= self._n_left:
            self._n_left -= len(data)
            self._kept[info.filename] = data
        return data

    def parse(self, name: str) -> Any:
        """Return the root element of one XML part, or None after recording why it cannot be read.

        A damaged part is added as it is too, so that nothing of it is lost.
        """
        place = self.content.place(name)
        try:
            data = self.read(name)
        except ExtractError as error:
            self.sink.fail(place, FailReason(error.reason), error.detail)
            return None
        root, damage = parse_damaged(data)
        if root is not None and name not in self._parsed:
            self._parsed.add(name)
            if is_swept(name):
                self.values += part_values(root, data)
            if b"Fallback" in data:
                self.values += fallback_lines(root)
        if damage is not None:
            self.sink.fail(place, FailReason(damage.reason), damage.detail)
            if name not in self._as_it_stands:
                self._as_it_stands.add(name)
                self.sink.add(decode(self.sink.bound(data, place))[0], place)
        return root

    def look(self, name: str) -> bytes:
        """Return one part without counting it as read."""
        was_read = name in self._read
        data = self.read(name)
        if not was_read:
            self._read.discard(name)
        return data

    def was_parsed(self, name: str) -> bool:
        """Tell a part that was parsed before."""
        return name in self._parsed

    def is_machine(self, name: str) -> bool:
        """Tell a part that is not read as a member, because it says how a document is drawn or kept."""
        return name in self._read or _is_machine_part(name)

    def text(self) -> str:
        """Return the text that was added since the package was opened."""
        return self.sink.text_since(self._n_segments)

    def members(self) -> Iterator[Content]:
        """Yield what nobody has read as a part, for reading as documents of their own; pictures come last.

        Embedded files, pictures, and files that somebody put into the package: an office program does not
        show these, whoever unpacks it does. The values that no reader gave are added first.
        """
        sweep(self)
        for name in sorted(self.names, key=lambda name: (_is_medium(name), name)):
            if self.is_machine(name):
                continue
            shown = name.rpartition("/")[2] if _is_medium(name) or _is_embedded(name) else name
            with self.sink.part(self.content.place(name)):
                self.sink.take_member()
                data = self.read(name)
                if _BIBLIOGRAPHY in data[:PROLOGUE_BYTES]:
                    data = _CITED_HOW.sub(b"", data, count=4)
                yield self.content.member(shown, data)


@lru_cache(maxsize=4096)
def _is_machine_part(name: str) -> bool:
    return _MACHINE_PART.search(name) is not None


def _is_medium(name: str) -> bool:
    return "media/" in name.lower() or name.startswith("Pictures/")


def _is_embedded(name: str) -> bool:
    folder = name.lower()
    return "/embeddings/" in folder or folder.endswith("/altchunk.xml") or "/afchunk" in folder


def _longer_titles(element: Any) -> list[str]:
    """Return what is more than the name of a font, a theme or a sheet, and addresses with coded words."""
    texts = (" ".join(text.split()) for text in element.itertext())
    return [text for text in texts if _is_title(text) or text.count("%20") > 1]


def _is_title(text: str) -> bool:
    """Tell a title from the name of a font or a theme: many words, or some and a long number."""
    return len(words_of(text)) >= _TITLE_WORDS or (" " in text and _LONG_NUMBER.search(text) is not None)


def properties_text(package: Package) -> str:
    """Return the document properties (author, title, company, custom ones) as ``name: value`` lines.

    Left out is what the program counted and switched: the number of words, whether links are up to date.
    """
    lines = []
    for name in package.names:
        if name.lower() == LABEL_LIST and not package.content.locator:
            with package.sink.part(package.content.place(name)):
                package.sink.label_properties += label_properties(package.look(name))
        if not name.startswith(("docProps/", "docprops/")) or not name.endswith(".xml"):
            continue
        root = package.parse(name)
        if root is None:
            continue
        for element in root:
            label = element.get("name") or local_name(element)
            if label in ("TitlesOfParts", "HeadingPairs", "HLinks"):
                package.values += _longer_titles(element)
                continue
            value = " ".join(" ".join(element.itertext()).split())
            is_technical = name.lower().endswith("/app.xml") and _TECHNICAL.fullmatch(value)
            if value and not is_technical:
                lines.append(f"{label}: {value}")
    return "\n".join(lines)


def sweep(package: Package) -> None:
    """Add the values that no reader of the package gave, ``#values``."""
    values: list[str] = [*package.values]
    for name in package.names:
        if _THUMBNAIL.search(name) and package.n_bytes(name) <= _MOST_BYTES:
            values += _thumbnail(package, name)
        if not is_swept(name) or package.was_parsed(name):
            if name.endswith("sharedStrings.xml") and package.n_bytes(name) <= _MOST_BYTES:
                with suppress(ExtractError):  # recorded where the part is read
                    readings = _READING.findall(package.look(name))  # of Japanese names
                    values += [html.unescape(raw.decode("utf-8", "replace")) for raw in readings]
            continue
        if package.n_bytes(name) > _MOST_BYTES:
            place = package.content.place(name)
            package.sink.fail(place, FailReason.TOO_LARGE, f"more than {_MOST_BYTES} bytes of fields")
            continue
        values += _values_of(package, name)
        if len(values) > _MOST_VALUES:
            said = f"more than {_MOST_VALUES} values: those of further parts are not read"
            package.sink.fail(package.content.place("values"), FailReason.TOO_LARGE, said)
            break
    package.values.clear()
    shown_text = package.text()
    fresh = _not_shown(list(dict.fromkeys(values)), shown_text)
    package.sink.add("\n".join(fresh), package.content.place("values"))


def _thumbnail(package: Package, name: str) -> list[str]:
    """Return the lines in the drawing of the first page, which may be older than the text."""
    from phiscan.extract.ocr.images import metafile_text  # noqa: PLC0415 (rarely needed)

    try:
        lines = metafile_text(package.look(name)).split("\n")
    except (ExtractError, ValueError, struct.error):
        return []  # what cannot be read is no text, and the page itself is
    return unshown((line for line in lines if is_said(line)), package.text())


def _values_of(package: Package, name: str) -> list[str]:
    try:
        data = package.look(name)
    except ExtractError:
        return []  # recorded where the part is read
    if name.endswith(".rels") and b"External" not in data and b"\0" not in data[:8]:
        return []  # nothing leads outside
    root, _ = parse_damaged(data)
    if root is None:
        return []
    if name.endswith(".rels"):
        return targets(root)
    if _DRAWN.search(name):  # as a diagram was drawn last, which may be older than its data
        return paragraphs_text(root).split("\n")
    return part_values(root, data) if package.is_machine(name) else []


def _not_shown(values: list[str], text: str) -> list[str]:
    """Return the values that a text does not hold; of many values, those with a word that it lacks."""
    if sum(map(len, values)) * len(text) <= _MOST_COMPARED:
        return [value for value in values if value not in text]
    words = set(text.split())
    return [value for value in values if not words.issuperset(value.split())]
