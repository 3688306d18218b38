r"""Names from a share, made safe to show: control and bidi characters visible, no formula in a CSV cell.

A file name is chosen by whoever could write to the share: it may hold terminal commands, turn its own
reading direction round (``gpj.exe``), or begin like a formula.
"""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

# Control, format (bidi marks, zero width), surrogate, private use, unassigned; line and paragraph ends.
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_NOT_ASCII = re.compile(r"[^ -~\n]")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def visible(text: str) -> str:
    r"""Return the text with every character that cannot be seen as an escape.

    >>> print(visible("a\x1b[31m\u202egpj.exe"))
    a\x1b[31m\u202egpj.exe
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(char) if unicodedata.category(char) in _INVISIBLE else _plain(char) for char in text
    )


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Return a value as JSON: every character that cannot be seen is an escape, letters stay letters.

    JSON's own rules escape what is below a space, and no C1 or bidi character: a terminal obeys those.

    >>> json_text("b\x9b2J\u202egpj.exe") == '"b\\u009b2J\\u202egpj.exe"'
    True

    Raises:
        ValueError: a number is NaN or infinite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _NOT_ASCII.sub(_json_escape, text)


def safe_cell(text: str) -> str:
    """Return the text for a CSV cell: a spreadsheet will not run it; a negative number stays one.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell(" =1+1"), safe_cell("-1.5"), safe_cell("a.txt")
    ("'=HYPERLINK(1)", "' =1+1", '-1.5', 'a.txt')
    """
    # A leading space hides the formula from us but not from every spreadsheet.
    if not text.lstrip(" ").startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text


def _json_escape(found: re.Match[str]) -> str:
    char = found[0]
    return json.dumps(char)[1:-1] if unicodedata.category(char) in _INVISIBLE else char


def _plain(char: str) -> str:
    """Show the wider spaces as what they are; they let two names look the same."""
    return _escape(char) if char != " " and unicodedata.category(char) == "Zs" else char


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 (what two digits hold)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (what four digits hold)
