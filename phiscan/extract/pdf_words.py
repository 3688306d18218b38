"""The words of a PDF page: what pdfium calls its text, put together where it breaks or joins words."""

from __future__ import annotations

from typing import Any


def page_words(textpage: Any) -> str:
    """Return the text of one page; lines end with a line feed."""
    return _tidy(str(textpage.get_text_range()))


def _tidy(text: str) -> str:
    """Join words that pdfium marks as hyphenated at a line end; one kind of line end."""
    return text.replace("\ufffe\r\n", "").replace("\ufffe", "").replace("\r\n", "\n").replace("\0", " ")
