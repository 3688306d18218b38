r"""Rows of SQL dumps to tables: column headers, tabs between cells, strings without their quotes.

The headers are the columns of INSERT, or of CREATE TABLE of the same name. Source: the dumps of
mysqldump, pg_dump (COPY ... FROM stdin, \N for nothing), sqlite3 .dump, SQL Server's scripts.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from itertools import zip_longest

from phiscan.text.automata import automaton
from phiscan.text.escapes import Edit

_NAME = r"[`\"\[]?[\w$]{1,64}[`\"\]]?"
_TABLE = rf"(?:{_NAME}\.){{0,2}}{_NAME}"
_INSERT = re.compile(
    rf"\b(?:INSERT(?:\s{{1,9}}(?:IGNORE|OR\s{{1,9}}\w{{3,9}}))?|REPLACE)\s{{1,9}}INTO\s{{1,9}}(?P<table>{_TABLE})\s{{0,40}}"
    r"(?:\((?P<heads>[^()']{1,6000})\)\s{0,40})?VALUES\s{0,40}(?=\()",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"(?P<open>\s{0,400}(?:[NEB]|_\w{3,8} ?)?')(?P<text>[^'\\]*(?:(?:\\.|'')[^'\\]*)*)(?P<close>'\s{0,400})"
    r"|(?P<bare>[^',()]{0,400}(?:\([^()]{0,400}\)[^',()]{0,40})?)",
    re.DOTALL,
)
_BETWEEN = re.compile(r"\)\s{0,40},\s{0,400}\(|,|\)")
_QUOTED = re.compile(r"''|\\['\"\\]|\\[nrt0]|[\t\r\n]+")
_CREATE = re.compile(
    rf"\bCREATE\s{{1,9}}TABLE\s{{1,9}}(?:IF\s{{1,9}}NOT\s{{1,9}}EXISTS\s{{1,9}})?(?P<table>{_TABLE})\s{{0,40}}\(",
    re.IGNORECASE,
)
_COLUMN = re.compile(
    r"(?:^|[,(])[ \t\r\n]{0,40}(?P<name>[`\"\[]?[A-Za-z_][\w$]{0,63}[`\"\]]?)[ \t]{1,9}[A-Za-z]{3}"
)
_NO_COLUMNS = frozenset({
    "primary", "unique", "key", "index", "constraint", "check", "foreign", "fulltext", "exclude",
})  # fmt: skip
_MAX_CREATE = 12_000
# Limit of added headers, relative to the text: a dump may have one statement per row, each with headers.
_MAX_GROWTH = 4
_COPY = re.compile(
    rf"^COPY {_TABLE} \((?P<heads>[^()]{{1,6000}})\) FROM stdin[^\n;]{{0,80}};\r?\n",
    re.MULTILINE | re.IGNORECASE,
)
_COPY_END = re.compile(r"^\\\.", re.MULTILINE)
_NOTHING = re.compile(r"(?:^|(?<=\t))\\N(?=[\t\r\n])", re.MULTILINE)
_STATEMENT = automaton(r"(?i)(?:insert|ignore|replace|abort|fail|rollback)\s+into\s|from stdin")
_QUOTES = '`"[]'


def holds_rows(text: str) -> bool:
    """Return whether a text may contain statements that insert rows."""
    if _STATEMENT.search(text.encode("utf-8", "surrogatepass")) is None:
        return False
    return _INSERT.search(text) is not None or _COPY.search(text) is not None


def sql_rows(text: str) -> Iterator[Edit]:
    """Yield the edits that replace the syntax between the cells of dumps, in text order."""
    tables = list(_CREATE.finditer(text))
    created = {
        _bare(match["table"]): "\t".join(_columns(text[match.end() : min(stop, match.end() + _MAX_CREATE)]))
        for match, stop in zip(tables, [*(one.start() for one in tables[1:]), len(text)], strict=False)
    }
    done, room = 0, _MAX_GROWTH * len(text)
    for match in _INSERT.finditer(text):
        if match.start() >= done:
            heads = created.get(_bare(match["table"]), "")
            room -= len(heads)
            done = yield from _of_insert(text, match, heads if room >= 0 else "")
    copies = list(_COPY.finditer(text))
    for match, following in zip_longest(copies, copies[1:]):
        yield from _of_copy(text, match, len(text) if following is None else following.start())


def _of_insert(text: str, match: re.Match[str], heads: str) -> Generator[Edit, None, int]:
    """Yield the edits of one statement; return its end."""
    if match["heads"]:
        yield match.start(), match.start("heads"), "\n"
        yield from _heads(text, *match.span("heads"))
        yield match.end("heads"), match.end() + 1, "\n"
    else:
        yield match.start(), match.end() + 1, f"\n{heads}\n"
    place = match.end() + 1
    while value := _VALUE.match(text, place):
        if value["text"] is None:
            bare = value["bare"].strip()
            if not bare or bare.upper() == "NULL":
                yield value.start(), value.end(), ""
            place = value.end()
        else:
            yield value.start("open"), value.end("open"), ""
            for sign in _QUOTED.finditer(text, *value.span("text")):
                yield sign.start(), sign.end(), _unescaped(sign[0])
            yield value.start("close"), value.end("close"), ""
            place = value.end()
        between = _BETWEEN.match(text, place)
        if between is None:
            break  # truncated, or not a statement
        yield between.start(), between.end(), "\t" if between[0] == "," else "\n"
        place = between.end()
        if between[0] == ")":
            break
    return place


def _of_copy(text: str, match: re.Match[str], stop: int) -> Iterator[Edit]:
    yield match.start(), match.start("heads"), "\n"
    yield from _heads(text, *match.span("heads"))
    yield match.end("heads"), match.end(), "\n"
    end = _COPY_END.search(text, match.end(), stop)
    for cell in _NOTHING.finditer(text, match.end(), stop if end is None else end.start()):
        yield cell.start(), cell.end(), ""


def _heads(text: str, start: int, end: int) -> Iterator[Edit]:
    for sign in re.finditer(r"\s*,\s*|[`\"\[\]]|\s+", text[start:end]):
        meant = "\t" if "," in sign[0] else ""
        yield start + sign.start(), start + sign.end(), meant


def _columns(definition: str) -> Iterator[str]:
    """Yield the column names of a CREATE TABLE definition."""
    depth, start = 0, 0
    for place, sign in enumerate(definition):
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or (depth == 0 and sign == ","):
            column = _COLUMN.match("," + definition[start:place])
            if column and column["name"].strip(_QUOTES).casefold() not in _NO_COLUMNS:
                yield column["name"].strip(_QUOTES)
            start = place + 1
        if depth < 0:
            return


def _unescaped(sign: str) -> str:
    return sign[1] if sign[1:2] in {"'", '"', "\\"} else " "


def _bare(table: str) -> str:
    return table.rpartition(".")[2].strip(_QUOTES).casefold()
