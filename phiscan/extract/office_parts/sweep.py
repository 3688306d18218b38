"""The sweep over an office package: values of all its XML parts that the text does not hold yet."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from functools import lru_cache
from typing import Any

from phiscan.errors import ExtractError
from phiscan.extract.compound_parts.text_runs import unshown
from phiscan.extract.office.package import Package, local_name, parse_damaged
from phiscan.extract.office.runs import paragraphs_text
from phiscan.extract.office_parts.values import is_said, part_values, style_names, styling_texts
from phiscan.model import FailReason

# Parts that only say how a document is drawn.
_DRAWING_ONLY = re.compile(
    r"(?:^|/)(?:theme|fonts|diagrams/(?:layout|quickstyle|colors))|styles\w*\.xml$|stylesWithEffects|fontTable"
    r"|numbering\.xml$|webSettings|tableStyles|calcChain|presProps|viewProps|^META-INF/|^\[Content_Types\]"
    r"|sharedStrings|revisionInfo|changesInfos|commentsIds|commentsExtensible|printerSettings|/ink/"
    r"|^_xmlsignatures|metadata\.xml$|configurations2|(?:colors|style)\d*\.xml$|^(?:settings|meta)\.xml$|^docProps/"
    r"|xl/worksheets/sheet[^/]*\.xml$|^manifest\.rdf$|layout-cache|docMetadata",
    re.IGNORECASE,
)
_STYLE_PARTS = re.compile(
    r"styles\w*\.xml$|stylesWithEffects|numbering\.xml$|tableStyles|metadata\.xml$",
    re.IGNORECASE,
)
# Of these, parts in which something may have been typed all the same.
_STYLING_TEXTS = re.compile(r"numbering\.xml$|sharedStrings\.xml$|/ink/", re.IGNORECASE)
_DRAWN = re.compile(r"(?:^|/)diagrams/drawing", re.IGNORECASE)
_THUMBNAIL = re.compile(r"thumbnail[^/]*\.[ew]mf$", re.IGNORECASE)
_XML = (".xml", ".rels", ".vml")
_MOST_BYTES = 32 * 1024**2  # of one part
_MOST_VALUES = 100_000
_MOST_COMPARED = 20_000_000  # characters of values times characters of text
_INTERNAL_TARGET = re.compile(r"https?://(?:schemas|www\.w3)\.|\.\./|file:///[^\\/]*$|NULL$", re.IGNORECASE)


def sweep(package: Package) -> None:
    """Add the values that no reader of the package gave, ``#values``."""
    values: list[str] = [*package.values]
    for name in package.names:
        if _THUMBNAIL.search(name) and package.n_bytes(name) <= _MOST_BYTES:
            values += _thumbnail(package, name)
        if not is_swept(name) or package.was_parsed(name):
            if _STYLE_PARTS.search(name) and package.n_bytes(name) <= _MOST_BYTES:
                values += _found(style_names, package, name)
            if _has_styling_texts(name) and package.n_bytes(name) <= _MOST_BYTES:
                values += _found(styling_texts, package, name)
            continue
        if package.n_bytes(name) > _MOST_BYTES:
            place = package.content.place(name)
            package.sink.fail(place, FailReason.TOO_LARGE, f"more than {_MOST_BYTES} bytes of fields")
            continue
        values += _part(package, name)
        if len(values) > _MOST_VALUES:
            said = f"more than {_MOST_VALUES} values: those of the parts from {name} on are not read"
            package.sink.fail(package.content.place("values"), FailReason.TOO_LARGE, said)
            break
    package.values.clear()
    fresh = _not_shown(list(dict.fromkeys(values)), package.text())
    package.sink.add("\n".join(fresh), package.content.place("values"))


@lru_cache(maxsize=4096)
def _has_styling_texts(name: str) -> bool:
    return _STYLING_TEXTS.search(name) is not None


@lru_cache(maxsize=4096)
def is_swept(name: str) -> bool:
    """Tell a part that may hold values: XML that does not only say how a document is drawn."""
    return name.lower().endswith(_XML) and not _DRAWING_ONLY.search(name)


def _found(find: Callable[[bytes], list[str]], package: Package, name: str) -> list[str]:
    try:
        return find(package.look(name))
    except ExtractError:
        return []  # recorded where the part is read


def _thumbnail(package: Package, name: str) -> list[str]:
    """Return the lines in the drawing of the first page, which may be older than the text."""
    from phiscan.extract.ocr.metafiles import metafile_text  # noqa: PLC0415 (rarely needed)

    try:
        lines = metafile_text(package.look(name)).split("\n")
    except (ExtractError, ValueError, struct.error):
        return []  # what cannot be read is no text, and the page itself is
    return unshown((line for line in lines if is_said(line)), package.text())


def _part(package: Package, name: str) -> list[str]:
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


def targets(root: Any) -> list[str]:
    """Return where the hyperlinks and links of a part lead outside the package."""
    found = []
    for element in root:
        target = element.get("Target", "")
        if local_name(element) == "Relationship" and element.get("TargetMode") == "External":
            shown = target.removeprefix("mailto:").removeprefix("tel:").replace("%20", " ")
            if not _INTERNAL_TARGET.match(shown) and is_said(shown):
                found.append(shown)
    return found


def _not_shown(values: list[str], text: str) -> list[str]:
    """Return the values that a text does not hold; of many values, those with a word that it lacks."""
    if sum(map(len, values)) * len(text) <= _MOST_COMPARED:
        return [value for value in values if value not in text]
    words = set(text.split())
    return [value for value in values if not words.issuperset(value.split())]
