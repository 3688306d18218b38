r"""Escape names from a share for output: visible control and bidi characters, no formulas in CSV cells.

File names are chosen by users of the share: they may hold terminal commands, reverse the reading direction
(``gpj.exe``), or begin like a formula.
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
    r"""Return the text with every invisible character escaped.

    >>> print(visible("a\x1b[31m\u202egpj.exe"))
    a\x1b[31m\u202egpj.exe
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        _escape(char) if unicodedata.category(char) in _INVISIBLE else _plain(char) for char in text
    )


def json_text(value: Any, *, indent: int | None = None) -> str:
    r"""Return a value as JSON with every invisible character escaped and other characters unchanged.

    JSON itself escapes only C0 characters, but terminals also interpret C1 and bidi characters.

    >>> json_text("b\x9b2J\u202egpj.exe") == '"b\\u009b2J\\u202egpj.exe"'
    True

    Raises:
        ValueError: a number is NaN or infinite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    return _NOT_ASCII.sub(_json_escape, text)


def safe_cell(text: str) -> str:
    """Return the text for a CSV cell, quoted if a spreadsheet would run it as a formula, except numbers.

    >>> safe_cell("=HYPERLINK(1)"), safe_cell(" =1+1"), safe_cell("-1.5"), safe_cell("a.txt")
    ("'=HYPERLINK(1)", "' =1+1", '-1.5', 'a.txt')
    """
    # Some spreadsheets ignore leading spaces before a formula.
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
    """Return an escape for special spaces, which make different names look the same."""
    return _escape(char) if char != " " and unicodedata.category(char) == "Zs" else char


def _escape(char: str) -> str:
    code = ord(char)
    if code <= 0xFF:  # noqa: PLR2004 (what two digits hold)
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 (what four digits hold)
