"""Values of markup, found in its bytes alone: attributes of several words, and the text between tags."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote

import re2

from phiscan.extract.residue.byte_runs import BYTES
from phiscan.extract.residue.prose import ShownWords
from phiscan.text.automata import spans

# An attribute of three words or more: with blanks, or coded as an address or an identifier has them.
_ATTRIBUTE = re.compile(rb'="([^"<> ]*+ [^"<> ]*+ [^"<>]*+)"')
_QUOTED = re.compile(rb"='([^'<> _%]*+[ _%][^'<> _%]*+[ _%][^'<>]*+)'")
_UNDERSCORED = re.compile(rb'="([^"<>_]*+_[^"<>_]*+_[^"<>]*+)"')
_CODED_ATTRIBUTE = re.compile(rb'="([^"<>%]*+(?:%(?!20)[^"<>%]*+)*+%20[^"<>]*+)"')
_CELL_VALUE = re.compile(rb'\sv="([^"<>]{2,}+)"')  # of a record of a table, one word each
_LONG_TEXT = re.compile(rb">([^<>]{12,}+)<")
_CDATA = re2.compile(rb"<!\[CDATA\[([^\]]*)\]\]")
# Two words with capitals, as a value of their own: a person's name.
_NAME = re2.compile(
    rb"(?:=[\"']|>)((?:[A-Z]|\xc3[\x80-\x9e])(?:[a-z'-]|\xc3[\x9f-\xbf]){2}(?:[a-z'-]|\xc3[\x9f-\xbf])*,?"
    rb" (?:[A-Z]|\xc3[\x80-\x9e])(?:[a-z'-]|\xc3[\x9f-\xbf]){2}(?:[a-z'-]|\xc3[\x9f-\xbf])*)[\"'<]",
    BYTES,
)
_ATTRIBUTE_NAME = re.compile(
    rb"=[\"']((?:[A-Z]|\xc3[\x80-\x9e])(?:[a-z'-]|\xc3[\x9f-\xbf]){2}(?:[a-z'-]|\xc3[\x9f-\xbf])*+,?"
    rb" (?:[A-Z]|\xc3[\x80-\x9e])(?:[a-z'-]|\xc3[\x9f-\xbf]){2}(?:[a-z'-]|\xc3[\x9f-\xbf])*)[\"'<]"
)
_ANY_TEXT = re.compile(rb">([^<>]+)<")
_WORDY = re.compile(rb"[^\W\d_].*[^\W\d_].*[^\W\d_]", re.DOTALL)
_CODED = re.compile(r"%[0-9A-Fa-f]{2}")
_HEADER_FONT = re.compile(r'&"[^"]*"|&\d+|&[A-Z]')
_FORMULA = re.compile(r"[A-Z]{2,}\(|^of:|&")
_LITERAL = re.compile(r'"((?:[^"]|"")+)"')
_STYLE = re.compile(
    r"[A-Z]{2,}\((?!\")|"
    r"[^\W\d_][^\d]{0,60}\s\d{1,6}$|[\w-]+\s*:\s*[^;:]+;|"
    r"(?:val|sum|prod|if|mid|pin|abs|cos|sin|at2)\s|[Mm]\s?-?\d|Microsoft |Embedded OLE Servers|\S+://\S*\Z|_?xl[fn]"
)
_FONT_OR_STYLE = re.compile(
    rb"[\s:](?:typeface|style:name|[\w-]*(?:style|page|layout|font|master)[\w-]*-name(?:-\w+)?|ascii|hAnsi|cs|eastAsia|font-family"
    rb"|style|class|eqn|styleName|Ignorable|axis|ptType|mods|fmla|xmlns\S*|schemaLocation|id|ID|uid|path|d|points|viewBox"
    rb"|transform|srcset|sizes|media|lang|guid|uri|Requires|ContentType|Type|PartName|type|sqref|spans|rel|[\w-]*display-name)$|[Ff]ont\s+(?:\w+:)?(?:name|val)$"
)
_ADDRESS = re.compile(rb"[/.?&#]")
_STYLE_SHEET = re2.compile(rb"(?is)<style\b[^>]*>.*?</style>")
_LOOK_BACK, _NAME_BYTES = 40, 12
_LONG_BYTES = 12
_MOST_VALUES = 50_000
_MIN_BLANKS = 2
_SHORT_WORDS = 3
_MOST_PIECES = 64
_LONGEST_WORD = 48
# References to cells, switches, names of formats.
_TECHNICAL_PIECE = re.compile(
    r"\s*(?:\S*!\S*|(?:NUM)?PAGES?|true|false|#\S+|General|Standard|[\d\W]*|\[\w+\]\S*)\s*", re.IGNORECASE
)
_LONGEST_WORD = 48
# References to cells, switches, names of formats.
_TECHNICAL_PIECE = re.compile(
    r"\s*(?:\S*!\S*|(?:NUM)?PAGES?|true|false|#\S+|General|Standard|\W*|[\d\W]*|\[\w+\]\S*)\s*", re.IGNORECASE
)


@dataclass(slots=True)
class Values:
    """The values of one markup: texts of several words, names, and all texts between tags."""

    texts: list[str] = field(default_factory=list, repr=False)
    names: list[tuple[str]] = field(default_factory=list, repr=False)  # each of two words
    shorts: list[bytes] = field(default_factory=list, repr=False)  # all texts between tags, for ``pieces``


def markup_values(
    data: bytes, shown: ShownWords, *, has_pieces: bool = True, has_texts: bool = True
) -> Values:
    """Return what looks like text in the bytes of a markup, each value once.

    Texts between tags are left out where all their words are shown.
    """
    found = Values()
    if b"tyle>" in data or b"STYLE>" in data:
        data = _STYLE_SHEET.sub(b" ", data)
    for raw in _attributes(data):
        _take(raw, found)
    between = _ANY_TEXT.findall(data) if has_pieces else []
    are_shown = bool(between) and shown.has_words(joined(between, b" "))
    texts = _long_texts(data, between, are_shown=are_shown, has_pieces=has_pieces) if has_texts else {}
    for raw in list(texts)[:_MOST_VALUES]:
        if raw.count(b" ") >= _MIN_BLANKS:
            _take(raw, found)
        elif b"%20" in raw:
            _take(_without_codes(raw), found)
    if has_pieces:
        found.names = [(raw.decode(),) for raw in dict.fromkeys(_names(data, in_texts=not are_shown))]
        cells = _CELL_VALUE.findall(data) if b' v="' in data else []
        found.shorts = cells if are_shown and not cells else between + cells
    return found


def _long_texts(data: bytes, between: list[bytes], *, are_shown: bool, has_pieces: bool) -> dict[bytes, None]:
    """Return the texts between tags that may have several words that are not shown, each once."""
    if not has_pieces:
        texts = dict.fromkeys(_LONG_TEXT.findall(data))
    else:
        texts = dict.fromkeys(raw for raw in between if len(raw) >= _LONG_BYTES)
    if has_pieces and are_shown:  # but for words that are written in codes
        texts = dict.fromkeys(raw for raw in texts if b"%" in raw or b"&" in raw)
    if b"<![CDATA[" in data:
        texts.update(dict.fromkeys(_CDATA.findall(data)))
    return texts


def joined(shorts: list[bytes], glue: bytes) -> str:
    """Return all texts between tags as one."""
    return html.unescape(glue.join(shorts).decode("utf-8", "replace"))


def _take(raw: bytes, found: Values) -> None:
    value = html.unescape(raw.decode("utf-8", "replace"))
    if value.startswith("&"):
        value = _HEADER_FONT.sub(" ", value)
    elif '"' in value and _FORMULA.search(value):
        value = " ".join(_LITERAL.findall(value))
    if not _STYLE.match(value):
        found.texts.append(value)


def _attributes(data: bytes) -> Iterator[bytes]:
    """Yield the values of attributes of three words or more; the same one is looked at once."""
    seen: set[bytes] = set()
    styling: dict[bytes, bool] = {}
    searches = [_ATTRIBUTE]
    searches += [_QUOTED] if b"='" in data else []
    searches += [_UNDERSCORED] if b"_" in data else []
    searches += [_CODED_ATTRIBUTE] if b"%20" in data else []
    for match in (match for search in searches for match in search.finditer(data)):
        start, end = match.span()
        whole = data[max(start - _NAME_BYTES, 0) : end]
        if whole in seen:
            continue
        seen.add(whole)
        if len(seen) > _MOST_VALUES:
            return
        raw = match[1]
        if not _WORDY.search(raw) or _is_styling(data[max(start - _LOOK_BACK, 0) : start], styling):
            continue
        if b"%" in raw:
            raw = _without_codes(raw)
        if b" " not in raw.strip():
            if _ADDRESS.search(raw):
                continue
            raw = raw.replace(b"_", b" ")
        yield raw


def _is_styling(before: bytes, known: dict[bytes, bool]) -> bool:
    """Tell an attribute about styles by the bytes before its value; its name is looked at once.

    Of two names the element counts, too.
    """
    parts = before.rsplit(None, 1)
    key = parts[-1] if len(parts) > 1 else b""
    if not key or key.endswith((b"name", b"val")) or not before.endswith(key):
        return _FONT_OR_STYLE.search(before) is not None
    if key not in known:
        known[key] = _FONT_OR_STYLE.search(b" " + key) is not None
    return known[key]


def _names(data: bytes, *, in_texts: bool) -> Iterator[bytes]:
    """Yield the values that are a name of two words: of attributes, and of texts between tags."""
    found = spans(_NAME, data) if in_texts else (match.span() for match in _ATTRIBUTE_NAME.finditer(data))
    for start, end in found:
        if not _FONT_OR_STYLE.search(data, max(start - _LOOK_BACK, 0), start):
            yield data[start:end].strip(b"=\"'<>")


def _without_codes(raw: bytes) -> bytes:
    """Return an address with its coded characters decoded, without what is before its query."""
    text = raw.decode("utf-8", "replace")
    plain = unquote(text) if _CODED.search(text) else text
    return plain.rpartition("?")[2].replace("&", " ").replace("=", " ").encode()


def missing_pieces(shorts: list[bytes], shown: ShownWords) -> Iterator[list[str]]:
    """Yield the runs of short texts, where not all words of the texts are shown."""
    if shorts and not any(shown.has_words(joined(shorts, glue)) for glue in (b" ", b"")):
        yield from pieces(shorts)


def pieces(shorts: list[bytes]) -> Iterator[list[str]]:
    """Yield runs of texts between tags of fewer words than a value has: words may be split over tags."""
    run: list[str] = []
    for raw in shorts:
        if raw.count(b" ") >= _SHORT_WORDS or len(run) >= _MOST_PIECES:
            if len(run) > 1:
                yield run
            run = []
        if raw.count(b" ") < _SHORT_WORDS:
            value = html.unescape(raw.decode("utf-8", "replace"))
            is_coded = len(value) > _LONGEST_WORD and " " not in value
            if value == " " or not (is_coded or _TECHNICAL_PIECE.fullmatch(value)):
                run.append(value)
    if len(run) > 1:
        yield run
