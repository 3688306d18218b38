"""Documents written into a text by programs: RTF in a field of a record, strings that PostScript shows."""

from __future__ import annotations

import re
from collections.abc import Iterator

from phiscan.extract.text_codes.coded_run import Code, CodedRun

_RTF = re.compile(rb"\{\\rtf[1-9]?\b")
_MOST_RTF = 1024**2
_CONTROL_WORD = re.compile(rb"\\[a-z]+")
_MOST_OPEN = 8  # groups without an end that are followed to the end of the text
_MENTION_BYTES, _CUT_DOCUMENT_WORDS = 2000, 8
_POSTSCRIPT = b"%!PS"
_STRING = re.compile(rb"\(((?:[^()\\]|\\.){1,4000})\)|<([0-9A-Fa-f\s]{4,4000})>", re.DOTALL)
_ESCAPE = re.compile(rb"\\([0-7]{1,3}|\r?\n|.)", re.DOTALL)


def rtf_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield documents in RTF that stand in a longer text, from their first brace to its partner.

    One without an end is a document that was cut only if it has many control words; else a mention.
    """
    at = n_open = 0
    while text.find(b"{\\rtf", at) >= 0 and (match := _RTF.search(text, at)):
        end = _partner(text, match.start(), _MOST_RTF if n_open < _MOST_OPEN else _MENTION_BYTES)
        n_open += not end
        run = text[match.start() : end or match.start() + _MOST_RTF]
        if end or len(_CONTROL_WORD.findall(run, 0, _MENTION_BYTES)) >= _CUT_DOCUMENT_WORDS:
            yield CodedRun(match.start(), match.start() + len(run), "RTF", run)
            at = match.start() + len(run)
        else:
            at = match.end()


def _partner(text: bytes, start: int, most: int) -> int:
    """Return where the group that begins at ``start`` ends; 0 where it does not within ``most`` bytes."""
    depth = 0
    for found in re.finditer(rb"\\.|[{}]", text[start : start + most], re.DOTALL):
        depth += {b"{": 1, b"}": -1}.get(found.group(), 0)
        if depth == 0:
            return start + found.end()
    return 0


def postscript_runs(text: bytes) -> Iterator[CodedRun]:
    """Yield the strings of a PostScript program as one text, pieces of a line joined."""
    if not text.startswith(_POSTSCRIPT):
        return
    pieces = [
        _ESCAPE.sub(_unescaped, literal) if literal else _from_hex(digits)
        for literal, digits in _STRING.findall(text)
    ]
    yield CodedRun(0, len(text), "PostScript strings", b"".join(pieces))


def _unescaped(match: re.Match[bytes]) -> bytes:
    code = match[1]
    if code[:1] in b"01234567":
        return bytes([int(code, 8) & 0xFF])
    return {b"n": b"\n", b"r": b"\n", b"t": b"\t"}.get(code, b"" if code.endswith(b"\n") else code)


def _from_hex(digits: bytes) -> bytes:
    solid = b"".join(digits.split())
    return bytes.fromhex(solid[: len(solid) // 2 * 2].decode("ascii"))


CODES = (Code(rtf_runs, rb"\{\\rtf"), Code(postscript_runs, rb"%!PS"))
