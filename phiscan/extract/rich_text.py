"""RTF through striprtf, with the group that it leaves out: document information."""

from __future__ import annotations

import re

from phiscan.errors import ExtractError
from phiscan.extract.content import Content, Sink
from phiscan.model import FailReason

_INFO = re.compile(rb"\{\\(title|subject|author|manager|company|operator|keywords|doccomm)\s+([^{}]*)\}")


class RichTextExtractor:
    """Read RTF."""

    media_types = frozenset({"application/rtf"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the text, then the document information."""
        sink.add(rtf_text(content.data), content.locator)
        lines = []
        for label, value in _INFO.findall(content.data[:65536]):
            text = rtf_text(rb"{\rtf1 " + value + rb"}").strip()
            if text:
                lines.append(f"{label.decode('ascii')}: {text}")
        sink.add("\n".join(lines), content.place("properties"))


def rtf_text(data: bytes) -> str:
    """Return the text of an RTF document.

    Raises:
        ExtractError: corrupt.
    """
    from striprtf.striprtf import rtf_to_text  # noqa: PLC0415

    try:
        text = str(rtf_to_text(data.decode("latin-1"), encoding="cp1252", errors="replace"))
    except (ValueError, LookupError, IndexError, KeyError, UnicodeError) as error:
        raise ExtractError(FailReason.CORRUPT, type(error).__name__) from None
    return text.replace("\0", " ")
