"""Zip packages of office documents: parts read within the budget, XML parsed without expanding anything."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from lxml import etree

from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink
from phiscan.model import FailReason

# Characters and entities that the parser leaves out and reads on behind.
_HARMLESS = frozenset({"ERR_UNDECLARED_ENTITY", "ERR_INVALID_CHAR", "WAR_UNDECLARED_ENTITY"})
_PACKAGE_ERRORS = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    NotImplementedError,
    EOFError,
    KeyError,
    RuntimeError,
)


class Package:
    """The parts of one zipped document."""

    def __init__(self, content: Content, sink: Sink) -> None:
        self.content = content
        self.sink = sink
        try:
            self._archive = zipfile.ZipFile(io.BytesIO(content.data))
        except _PACKAGE_ERRORS as error:
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
        # Some writers use backslashes, or another case than they declare.
        self._infos = {info.filename.replace("\\", "/"): info for info in self._archive.infolist()}

    @property
    def names(self) -> tuple[str, ...]:
        """The parts in the order of the package, folders left out."""
        return tuple(name for name in self._infos if not name.endswith("/"))

    def read(self, name: str) -> bytes:
        """Return one part.

        Raises:
            ExtractError: encrypted, corrupt or too_large.
        """
        info = self._infos[name]
        if info.flag_bits & 1:
            raise ExtractError(FailReason.ENCRYPTED)
        try:
            with self._archive.open(info) as stream:
                return self.sink.unpack(stream, info.compress_size)
        except ExtractError:
            raise
        except Exception as error:  # noqa: BLE001 (zlib, struct and zipfile errors alike)
            raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None

    def parse(self, name: str) -> Any:
        """Return the root element of one XML part, or None after recording why it cannot be read."""
        try:
            root, damage = parse_damaged(self.read(name))
        except ExtractError as error:
            root, damage = None, error
        if damage is not None:
            self.sink.fail(self.content.place(name), FailReason(damage.reason), damage.detail)
        return root

    def media(self) -> Iterator[Content]:
        """Yield embedded files, for reading as documents of their own."""
        for name in self.names:
            folder = name.lower()
            if "/embeddings/" in folder or folder.endswith("/altchunk.xml") or "/afchunk" in folder:
                try:
                    yield self.content.member(name.rpartition("/")[2], self.read(name))
                except ExtractError as error:
                    self.sink.fail(self.content.place(name), FailReason(error.reason), error.detail)


def parse_xml(data: bytes) -> Any:
    """Return the root of ``data`` as far as it can be parsed, or None; see ``parse_damaged``."""
    return parse_damaged(data)[0]


def parse_damaged(data: bytes) -> tuple[Any, ExtractError | None]:
    """Return the root of ``data`` and what may be missing from it.

    No entity is expanded, nothing is fetched, and libxml2's limits on depth and size stay on.
    """
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        huge_tree=False,
        recover=True,
        remove_comments=True,
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None, ExtractError(FailReason.CORRUPT, "not XML")
    names = {entry.type_name for entry in parser.error_log if entry.level_name == "FATAL"} - _HARMLESS
    if "ERR_RESOURCE_LIMIT" in names:
        return root, ExtractError(FailReason.TOO_LARGE, "XML nested too deep, or with too long a text")
    return root, ExtractError(FailReason.CORRUPT, "damaged XML") if names else None


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


def properties_text(package: Package) -> str:
    """Return the document properties (author, title, company, custom ones) as ``name: value`` lines."""
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
                continue
            value = " ".join(" ".join(element.itertext()).split())
            if value:
                lines.append(f"{label}: {value}")
    return "\n".join(lines)
