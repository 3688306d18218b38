"""Word documents: the whole package walked, so that nothing a reader sees is lost."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.core import magic_numbers as magic
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import Package, properties_text
from phiscan.extract.office.runs import paragraphs_text
from phiscan.model import FailReason

# Parts with text, in the order in which they are read; the body is found by exclusion of the others.
_PARTS = (
    "header",
    "document",
    "footnotes",
    "endnotes",
    "footer",
    "comments",
    "glossary",
    "diagrams/data",
    "charts/",
)
_NO_TEXT = (
    "styles",
    "settings",
    "fonttable",
    "theme",
    "websettings",
    "numbering",
    "people",
    "_rels",
    "stylesw",
)


class WordExtractor:
    """Read DOCX, DOCM, DOTX in both dialects."""

    media_types = frozenset({magic.DOCX})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the body, headers, notes, comments, text boxes, tracked changes, properties, embedded files."""
        package = Package(content, sink)
        parts = [name for name in package.names if _has_text(name)]
        if not parts:
            raise ExtractError(FailReason.CORRUPT, "no document part")
        for name in sorted(parts, key=_order):
            root = package.parse(name)
            if root is not None:
                place = name.rpartition("/")[2].removesuffix(".xml")
                sink.add(paragraphs_text(root), content.place("body" if place == "document" else place))
        sink.add(properties_text(package), content.place("properties"))
        for member in package.members():
            sink.read_member(member)


def _has_text(name: str) -> bool:
    lowered = name.lower()
    if not lowered.startswith("word/") or not lowered.endswith(".xml"):
        return False
    return not any(part in lowered for part in _NO_TEXT)


def _order(name: str) -> tuple[int, str]:
    lowered = name.lower()
    rank = next((index for index, part in enumerate(_PARTS) if f"/{part}" in lowered), 1)
    return rank, name
