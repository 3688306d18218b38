"""Plain text, source code, Markdown, logs."""

from __future__ import annotations

import re

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.structured.folded_text import unfolded
from phiscan.extract.transport.lifting import lift_encoded, read_lifted

_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08")  # colours of a terminal, letters struck over


class TextExtractor:
    """Read text in whatever encoding it has."""

    media_types = frozenset({"text/plain"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the whole text as one segment."""
        text, encoding = decode(sink.bound(content.data, content.locator))
        data = text.encode() if encoding.startswith("utf-") else content.data
        lifted, members = lift_encoded(data, content, sink)
        if lifted is not data:
            text = lifted.decode("utf-8", "replace") if encoding.startswith("utf-") else decode(lifted)[0]
        text = unfolded(text)
        sink.add(_TERMINAL.sub("", text) if "\x1b[" in text or "\b" in text else text, content.locator)
        read_lifted(members, sink)
