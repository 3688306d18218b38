"""Plain text, source code, Markdown, logs."""

from __future__ import annotations

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink


class TextExtractor:
    """Read text in whatever encoding it has."""

    media_types = frozenset({"text/plain"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the whole text as one segment."""
        text, _ = decode(sink.bound(content.data, content.locator))
        sink.add(text, content.locator)
