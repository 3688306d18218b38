r"""Signs that stand for others, where a format was left as it was: entities, escapes of JSON and URLs.

Extractors read them in files of these formats; in logs, traces, dumps and notes they stand raw. Source: HTML
(character references), RFC 8259 (JSON strings), RFC 3986 (percent encoding).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

from phiscan.text.automata import automaton

Edit = tuple[int, int, str]  # what is at [start, end) and what it stands for
_ENTITY = re.compile(r"&(?:#\d{2,7}|#[xX][0-9A-Fa-f]{2,6}|[A-Za-z]{2,8}\d{0,2});")
_UNICODE = re.compile(
    r"\\{1,2}u[dD][89abAB][0-9A-Fa-f]{2}\\{1,2}u[dD][c-fC-F][0-9A-Fa-f]{2}|\\{1,2}u[0-9A-Fa-f]{4}"
)
_IN_STRING = re.compile(r'(?<!\\)(?:\\{1,3}"|(?<!:)\\[nrt])')
_JSON = re.compile(r'[{,\[]\s{0,9}\\{0,3}"[\w@.$ -]{1,60}\\{0,3}"\s{0,9}:')
_QUERY = re.compile(r"[?&][\w.\[\]-]{1,40}=[^&\s\"'<>]{1,2000}")
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+|\+")
_URL_CHARS, _URL_END = 2000, re.compile(r"[\s\"'<>]")
_BETWEEN = re.compile(r"(?<=\w)(?:%20|%C3%[89ABab][0-9A-Fa-f]|%2C%20)(?=[\w%(])")
_IN_QUERY = automaton(r"[?&][\w.\[\]-]+=[^\s&\"'<>]*(?:%[0-9A-Fa-f]{2}|\+)|\w%(?:20|C3|2C)")
_SIGNS = ('\\"', "\\n", "\\r", "\\t")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\xa0]")


def escapes(text: str) -> Iterator[Edit]:
    r"""Yield what stands for other signs; kinds one after the other, each in text order.

    >>> list(escapes("Ren&eacute; L\\u00e9a"))
    [(3, 11, 'é'), (13, 19, 'é')]
    """
    if "&" in text:
        for match in _ENTITY.finditer(text):
            meant = unescape(match[0])
            if meant != match[0]:
                yield match.start(), match.end(), _plain(meant)
    if "\\" in text:
        yield from _of_strings(text)
    if _IN_QUERY.search(text.encode("utf-8", "surrogatepass")) is not None:
        yield from _of_queries(text)


def _of_strings(text: str) -> Iterator[Edit]:
    for match in _UNICODE.finditer(text) if "\\u" in text else ():
        units = [int(unit[:4], 16) for unit in match[0].split("u")[1:]]
        raw = b"".join(unit.to_bytes(2, "big") for unit in units)
        yield match.start(), match.end(), _plain(raw.decode("utf-16-be", "replace"))
    if any(sign in text for sign in _SIGNS) and _JSON.search(text):
        for match in _IN_STRING.finditer(text):
            sign = match[0][-1]
            yield match.start(), match.end(), '"' if sign == '"' else " " if sign == "t" else "\n"


def _of_queries(text: str) -> Iterator[Edit]:
    """Yield the escapes in queries and between words; an address that says where it leads stays whole."""
    for match in _QUERY.finditer(text) if "=" in text else ():
        if not _is_in_url(text, match.start()):
            for part in _PERCENT.finditer(text, match.start(), match.end()):
                yield part.start(), part.end(), " " if part[0] == "+" else _of_codes(part[0])
    for match in _BETWEEN.finditer(text) if "%" in text else ():
        if not _is_in_url(text, match.start()):
            yield match.start(), match.end(), _of_codes(match[0])


def _is_in_url(text: str, place: int) -> bool:
    scheme = text.rfind("://", max(0, place - _URL_CHARS), place)
    return scheme >= 0 and not _URL_END.search(text, scheme, place)


def _of_codes(codes: str) -> str:
    """Return what codes of bytes stand for, each after a percent sign."""
    raw = bytes.fromhex(codes.replace("%", ""))
    try:
        return _plain(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return _plain(raw.decode("cp1252", "replace"))


def _plain(text: str) -> str:
    return _CONTROL.sub(" ", text)
