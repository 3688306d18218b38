"""Plain text, source code, Markdown, logs."""

from __future__ import annotations

import re

from phiscan.extract.core.charset import decode
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.text_codes.lifting import lift_encoded, read_lifted

_TERMINAL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|.\x08")  # colours of a terminal, letters struck over


def read_plain_text(content: Content, sink: Sink) -> None:
    """Add the whole text as one segment."""
    text, encoding = decode(sink.bound(content.data, content.locator))
    data = text.encode() if encoding.startswith("utf-") else content.data
    lifted, members = lift_encoded(data, content, sink)
    if lifted is not data:
        text = lifted.decode("utf-8", "replace") if encoding.startswith("utf-") else decode(lifted)[0]
    text = unfolded(text)
    sink.add(_TERMINAL.sub("", text) if "\x1b[" in text or "\b" in text else text, content.locator)
    read_lifted(members, sink)


_LDIF = re.compile(r"(?:version: ?\d+\s+|#[^\n]*\n)*dn::? ", re.IGNORECASE)
_FOLD = re.compile(r"\r?\n (?=\S)")
_GEDCOM = re.compile(r"\ufeff?0 HEAD\r?\n")
_CONTINUED = re.compile(r"\r?\n *\d{1,2} CON([CT])(?: ([^\r\n]*))?")
_SURNAME = re.compile(r"^( *\d{1,2} NAME [^/\r\n]*)/([^/\r\n]*)/", re.MULTILINE)


def unfolded(text: str) -> str:
    r"""Return the text of a directory or a pedigree with its values whole; any other text as it is.

    >>> unfolded("dn: cn=Roy\ndescription: dia\n betes")
    'dn: cn=Roy\ndescription: diabetes'
    >>> unfolded("0 HEAD\n1 NAME Ann /Roy/\n1 NOTE heart\n2 CONC  failure")
    '0 HEAD\n1 NAME Ann Roy\n1 NOTE heart failure'
    """
    if _LDIF.match(text):
        return _FOLD.sub("", text)
    if _GEDCOM.match(text):
        text = _CONTINUED.sub(lambda line: ("" if line[1] == "C" else "\n") + (line[2] or ""), text)
        return _SURNAME.sub(r"\1\2", text)
    return text
