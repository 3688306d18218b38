"""Runs of text in the bytes of binary files that are neither compressed nor pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from phiscan.extract.residue.byte_runs import byte_runs
from phiscan.extract.residue.prose import words_of

_BINARY = frozenset(
    {
        *("application/ms-tnef", "application/x-edf", "application/vnd.sqlite3", "application/x-dbf"),
        *("application/onenote", "application/vnd.lotus-1-2-3", "application/vnd.wordperfect"),
        *("application/x-outlook-express", "application/msword", "application/vnd.ms-excel"),
        *("application/vnd.ms-powerpoint", "application/vnd.ms-outlook", "application/x-quattro-pro"),
        *("application/dicom", "application/pkcs7-mime", "application/pgp-encrypted"),
        *("application/x-ole-storage",),
    }
)
# Definitions of tables, whose columns head the rows that were given, and markup that programs write.
_DEFINITION = re.compile(
    r"CREATE (?:TABLE|(?:UNIQUE )?INDEX|VIEW|TRIGGER|VIRTUAL TABLE)\b|<[\w:]+ [\w:]+=\"|<x:xmpmeta"
)


SIGNED = "application/pkcs7-mime"  # or a signature alone
_LITERAL = re.compile(r"'((?:[^']|'')+)'")
_PROGRAM = re.compile(
    r"Program Files|\.(?:DLL|OLB|EXE|TLB)\b|Microsoft (?:Office|Word|Excel)"
    r"|currentpoint|mergeformat|Click to edit|xmlns|<[?/]?\w+:\w|/Filter|endstream|endobj|/Type\s?/",
    re.IGNORECASE,
)
_MIN_WORDS = 5  # fewer are a font, a style, a path or a class
_PROSE_SHARE = 0.75
_LETTERS = b" " + bytes(code for code in range(256) if chr(code).isalpha() and code not in range(0x80, 0xC0))


_WITH_REST = frozenset(
    {
        *("application/msword", "application/vnd.ms-excel", "application/vnd.ms-powerpoint"),
        *("application/vnd.ms-outlook", "application/x-ole-storage"),
    }
)


def has_rest(media_type: str) -> bool:
    """Tell a binary document beside whose structures texts may lie: earlier authors and paths, scripts."""
    return media_type in _WITH_REST


def is_binary(media_type: str) -> bool:
    """Tell a type of binary files whose text lies in their bytes as it is."""
    return media_type in _BINARY


def binary_values(data: bytes, media_type: str) -> Iterator[tuple[str, str]]:
    """Yield place and text of the runs of printable characters; of definitions of tables the literals."""
    for at, text in byte_runs(data):
        if (has_rest(media_type) or media_type == SIGNED) and (not _is_prose(text) or _PROGRAM.search(text)):
            continue
        if _DEFINITION.search(text, 0, 200):
            text = " ".join(_LITERAL.findall(text))  # noqa: PLW2901 (what of it a person may have typed)
        yield f"bytes {at}", unquote(text) if "%20" in text else text


def _is_prose(text: str) -> bool:
    """Tell words from code, markup, paths and names of styles."""
    head = text[:2000]
    if head.count(" ") < _MIN_WORDS - 1:
        return False
    n_others = len(head.encode("cp1252", "replace").translate(None, _LETTERS))
    return n_others <= (1 - _PROSE_SHARE) * len(head) and len(words_of(head)) >= _MIN_WORDS
