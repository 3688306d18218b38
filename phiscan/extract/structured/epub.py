"""EPUB books: the chapters as web pages, and the metadata."""

from __future__ import annotations

from phiscan.errors import ExtractError
from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.office.package import Package
from phiscan.extract.structured.html import html_text, read_inline_files
from phiscan.model import FailReason

_PAGES = (".xhtml", ".html", ".htm", ".xml")


class EpubExtractor:
    """Read EPUB."""

    media_types = frozenset({"application/epub+zip"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add one segment per page, in the order of the package."""
        package = Package(content, sink)
        for name in package.names:
            lowered = name.lower()
            if not lowered.endswith((*_PAGES, ".opf", ".ncx")) or lowered.startswith("meta-inf/"):
                continue
            try:
                data = package.read(name)
            except ExtractError as error:
                sink.fail(content.place(name), FailReason(error.reason), error.detail)
                continue
            if lowered.endswith((".opf", ".ncx")):
                sink.add(_metadata(data), content.place("properties"))
            else:
                html = decode(data)[0]
                sink.add(html_text(html), content.place(name.rpartition("/")[2]))
                read_inline_files(html, content, sink)
        for member in package.members():
            sink.read_member(member)


def _metadata(data: bytes) -> str:
    """Return the Dublin Core fields and the titles of the table of contents."""
    from phiscan.extract.office.package import local_name, parse_damaged  # noqa: PLC0415

    root, damage = parse_damaged(data)
    if root is None:
        return ""
    lines = [
        f"{local_name(element)}: {' '.join(element.text.split())}"
        for element in root.iter()
        if isinstance(element.tag, str) and element.text and element.text.strip()
    ]
    if damage is not None:
        lines.append(decode(data)[0])
    return "\n".join(lines)
