"""Texts whose values go on over several lines: LDIF and GEDCOM, with each value on a line."""

from __future__ import annotations

import re

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
