"""XML to its root element and what may be missing of it; nothing is expanded or fetched."""

from __future__ import annotations

import re
from functools import lru_cache
from html.entities import html5
from typing import Any

from lxml import etree

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.model import FailReason

# Characters that the parser leaves out and reads on after.
_HARMLESS = frozenset({"ERR_INVALID_CHAR"})
_UNDECLARED = frozenset({"ERR_UNDECLARED_ENTITY", "WAR_UNDECLARED_ENTITY"})
# An internal subset declares entities and default attributes, none of which is expanded.
_INTERNAL_SUBSET = re.compile(rb"<!DOCTYPE[^\[>]{0,4096}\[")
PROLOGUE_BYTES = 64 * 1024
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
    prologue = data[:PROLOGUE_BYTES].replace(b"\0", b"")  # as ASCII, also where it is UTF-16
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
