"""Zip packages of office documents: parts read within the budget, XML parsed without expanding anything."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from html.entities import html5
from typing import Any

from lxml import etree

from phiscan.errors import ExtractError
from phiscan.extract.archives.zip_files import salvage
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import ZIP_DAMAGE, Content, Sink, mishap
from phiscan.extract.core.prose import words_of
from phiscan.extract.office.runs import fallback_lines
from phiscan.model import FailReason

# Characters that the parser leaves out and reads on after.
_HARMLESS = frozenset({"ERR_INVALID_CHAR"})
_UNDECLARED = frozenset({"ERR_UNDECLARED_ENTITY", "WAR_UNDECLARED_ENTITY"})
# An internal subset declares entities and default attributes, none of which is expanded.
_INTERNAL_SUBSET = re.compile(rb"<!DOCTYPE[^\[>]{0,4096}\[")
_PROLOGUE_BYTES = 64 * 1024
DAMAGED = "damaged XML"
_HEAD_BYTES = 64
_DECLARATION = re.compile(r"\s*<\?xml[^>]{0,400}>")  # which names the encoding
# References to halves of a character beyond the first 65,536, in pairs as programs of UTF-16 write them, and
# to NUL.
_INVALID_REFERENCES = re.compile(
    rb"(?:&#(?:[xX]0{0,4}(?:[dD][89a-fA-F][0-9a-fA-F]{2}|0)"
    rb"|0{0,4}(?:5529[6-9]|55[3-9]\d\d|5[67]\d{3}|0));)+"
)
_REFERENCE = re.compile(rb"&#([xX]?)([0-9a-fA-F]+);")
_NAMED_CHARACTER = re.compile(rb"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_NAMES = frozenset({b"amp", b"lt", b"gt", b"quot", b"apos"})
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
        from phiscan.extract.office.part_values import is_swept, part_values  # noqa: PLC0415 (works on packages)

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
        from phiscan.extract.office.part_values import sweep  # noqa: PLC0415 (works on packages)

        sweep(self)
        for name in sorted(self.names, key=lambda name: (_is_medium(name), name)):
            if self.is_machine(name):
                continue
            shown = name.rpartition("/")[2] if _is_medium(name) or _is_embedded(name) else name
            with self.sink.part(self.content.place(name)):
                self.sink.take_member()
                data = self.read(name)
                if _BIBLIOGRAPHY in data[:_PROLOGUE_BYTES]:
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


def parse_damaged(data: bytes) -> tuple[Any, ExtractError | None]:
    """Return the root of ``data`` and what may be missing from it.

    No entity is expanded, nothing is fetched, and libxml2's limits on depth and size stay on.
    Characters that HTML names are put in, for the many writers that forget to declare them.
    """
    if b"\0" in data[:_HEAD_BYTES]:  # UTF-16 or UTF-32: references and names are looked for in bytes
        data = _DECLARATION.sub("", decode(data)[0].lstrip("\ufeff"), count=1).encode("utf-8", "replace")
    data = _INVALID_REFERENCES.sub(_valid, data) if b"&#" in data else data
    try:
        root, names = _parse(data)
        if names & _UNDECLARED:
            root, names = _parse(_NAMED_CHARACTER.sub(_numbered, data))
    except (etree.XMLSyntaxError, ValueError):
        return None, ExtractError(FailReason.CORRUPT, "not XML")
    return root, _damage(data, root, names - _HARMLESS)


def _parse(data: bytes) -> tuple[Any, set[str]]:
    """Return the root and the names of what the parser complained about."""
    if data.endswith(b"\0\0"):  # add-ins keep their XML with a terminator
        stripped = data.rstrip(b"\0")
        data = stripped + b"\0" * (len(stripped) % 2 if b"\0" in stripped[:8] else 0)
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
        remove_comments=True,
    )
    root = etree.fromstring(data, parser)
    return root, {
        entry.type_name
        for entry in parser.error_log
        if entry.level_name == "FATAL" or entry.type_name in _UNDECLARED
    }


def _valid(match: re.Match[bytes]) -> bytes:
    """Write references to halves of a character as the character, and to what is none as U+FFFD.

    >>> _valid(_INVALID_REFERENCES.match(b"&#55357;&#xDE0A;")), _valid(_INVALID_REFERENCES.match(b"&#xD800;"))
    (b'&#128522;', b'&#65533;')
    """
    numbers = [int(digits, 16 if is_hex else 10) for is_hex, digits in _REFERENCE.findall(match[0])]
    units = b"".join(number.to_bytes(2, "little") for number in numbers)
    return b"".join(
        b"&#%d;" % ord(char) for char in units.decode("utf-16-le", "replace").replace("\0", "\ufffd")
    )


def _numbered(match: re.Match[bytes]) -> bytes:
    """Write a character that HTML names by its number."""
    characters = "" if match[1] in _XML_NAMES else html5.get(f"{match[1].decode('ascii')};", "")
    return b"".join(b"&#%d;" % ord(char) for char in characters) or match[0]


def _damage(data: bytes, root: Any, names: set[str]) -> ExtractError | None:
    if "ERR_RESOURCE_LIMIT" in names:
        return ExtractError(FailReason.TOO_LARGE, "XML nested too deep, or with too long a text")
    if names - _UNDECLARED:
        return ExtractError(FailReason.CORRUPT, DAMAGED)
    if names:
        return ExtractError(FailReason.CORRUPT, "XML entity that is not declared")
    prologue = data[:_PROLOGUE_BYTES].replace(b"\0", b"")  # as ASCII, also where it is UTF-16
    is_declared = b"<!DOCTYPE" in prologue  # else there are no other entities than those above
    if is_declared and (_INTERNAL_SUBSET.search(prologue) or next(root.iter(etree.Entity), None) is not None):
        return ExtractError(FailReason.UNSUPPORTED, "XML declarations and entities are not expanded")
    return None


def local_name(element: Any) -> str:
    """Return an element's name without its namespace: the Strict and the Transitional dialect are one."""
    tag = element.tag
    return _local(tag) if isinstance(tag, str) else ""


@lru_cache(maxsize=4096)
def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def local_attributes(element: Any) -> dict[str, str]:
    """Return an element's attributes by name without namespace."""
    return {key.rpartition("}")[2]: value for key, value in element.attrib.items()}


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
