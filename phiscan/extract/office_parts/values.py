"""Values of an XML part that its reader leaves out: attributes and texts not known to be styling.

The search is by XPath, in the parser's own code. The lists name what is styling, not what is text: an
attribute of several words is text unless its name says otherwise. An attribute of one word is text
where its element is known to hold what a person typed.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import lru_cache
from operator import itemgetter
from typing import Any

import re2
from lxml import etree

from phiscan.extract.compound_parts.text_runs import is_person_named, is_typed
from phiscan.extract.office.package import local_name
from phiscan.extract.office_parts.attribute_lists import (
    FONT_ELEMENTS,
    GENERATED_NAMES,
    MACHINE_TEXTS,
    NAME_ELEMENTS,
    STYLING,
    TYPED_ATTRIBUTES,
    TYPED_ELEMENTS,
    UNDERSCORED_ELEMENTS,
)
from phiscan.extract.residue.prose import words_of

_AUTOMATIC_NAME = re.compile(r"[^\W\d_][^\d]{0,60}\s\d{1,6}")  # Title 1, Picture 3, Рисунок 1
# Which of these a part holds is found by one pass of a linear engine.
_TYPED_NAME = re2.compile(
    rb"<(?:\w+:)?(%s)[\s/>]|[\s:](%s)\s?="
    % tuple(
        b"|".join(sorted(name.encode() for name in names)) for names in (TYPED_ELEMENTS, TYPED_ATTRIBUTES)
    )
)
# A text that is in no element of runs, in any namespace; most parts have none.
_OTHER_TEXT = re2.compile(rb">[^<]*[^<\s][^<]*<(?:[^/]|/(?:[^wa]|[wa](?:[^:]|:(?:[^t]|t[^>]))))|<!\[CDATA\[")
_TYPED_VALUES = frozenset({"val", "value", "name", "v", "comment", "user", "displayName", "text", "n", "c"})
_AUTOMATIC_RANGE = re.compile(
    r"_*(?:(?:Toc|Ref|Hlt|Hlk)_*\d|RefHeading_|GoBack|OLE_LINK|heading=|xlnm|xlfn|xleta|xlpm|_?FilterDatabase|Print_)"
)
_STYLING_TEXTS = tuple(
    (re2.compile(pattern), n_least)
    for pattern, n_least in (
        (rb"<(?:\w+:)?lvlText [^>]*val=\"([^\"]{12,})\"", 3),
        (rb"<(?:\w+:)?annotation [^>]*>([^<]{12,})<", 3),
    )
)
# Names of styles, lists and themes: each pattern with the bytes without which it is not searched.
_STYLE_NAMES = (
    (b':val="', re.compile(rb"<\w+:(?:name|aliases|styleLink) \w+:val=\"([^\"]{5,1200})\"")),
    (b"style:display-name=", re.compile(rb"style:display-name=\"([^\"]{5,1200})\"")),
    (b's v="', re.compile(rb"<(?:\w+:)?s v=\"([^\"]{5,1200})\"")),
)
_NUMBER_FORMAT = re.compile(rb"formatCode=\"([^\"]*)\"")
_CELL_STYLE = re.compile(rb"<(?:\w+:)?(?:cell|table)Style ")
_CELL_STYLE_NAME = re.compile(rb"name=\"([^\"]{5,1200})\"")
_STYLE_NAME_CHARS = range(5, 301)
_BEFORE_ATTRIBUTE = frozenset([b" ", b"\t", b"\n", b"\r", b"\f", b"\v", b":"])
_INK = re2.compile(rb"<(?:\w+:)?literal>([^<]{3,300})<")
_LITERAL = re.compile(r'"([^"]{3,300})"')
_LONG_NAME = re.compile(r"\d{6,}|(?:[^\W\d_]+\W+){5}")  # of a layout, which most programs name in a few words
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_READING = re2.compile(rb"<(?:\w+:)?rPh [^>]*>\s*<(?:\w+:)?t(?: [^>]*)?>([^<]+)<")
_CODED_ADDRESS = re2.compile(rb"[\s:](?:href|Target|instr|url)=\"([^\"]*%20[^\"]*%20[^\"]*)\"")
_FORMULA_ATTRIBUTE = re2.compile(rb"[\s:](?:formula|condition|expression)=\"([^\"]*&quot;[^\"]*)\"")
_NO_PERSON = frozenset(
    {"_GoBack", "Normal", "true", "false", "none", "auto", "General", "Author", "Default", "Center"}
)
# Elements whose text their readers give, and those of figures and references.
_FORMULAS = frozenset(["f", "formula", "formula1", "formula2", "definedName", "oldFormula"])
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_SHEET = re.compile(r"'([^'!]{3,120})'!")  # to which a formula refers
_GLYPHS = re.compile(r"[^\W\d_]{2,}")
_LONG_NUMBER = re.compile(r"\d[\d -]{5,}\d")
_WORDS = re.compile(r"[^\W_][\w'.,:;-]*\s+\S*[^\W_]")
_TECHNICAL = re.compile(
    r"\{?[0-9A-Fa-f]{8}-|\.{1,2}/|ppaction:|\[\d+\]!|https?://(?:schemas|www\.w3|purl)\.|urn:|[\w-]+\s*:\s*[^;:]+;|#REF!"
    r"|[\d\s.,:%-]+$|(?:val|sum|prod|if|mid|pin|\+-|\*/)\s"
)
_WORDY = etree.XPath("//@*[contains(., ' ')]")
_QUOTED_WORDS = re.compile(rb'="([^"<> ]*+ [^"<>]*+)"')
_APOSTROPHES = re.compile(rb"='([^'<> ]*+ [^'<>]*+)'")
_ELEMENT_NAME = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")
_LONGEST_NAME, _LONGEST_TAG = 64, 4096
_NAMESPACES = {
    "w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "a": "http://schemas.openxmlformats.org/drawingml/2006/main",
    "x": "http://purl.oclc.org/ooxml/wordprocessingml/main",
    "y": "http://purl.oclc.org/ooxml/drawingml/main",
}
_ALL_TEXTS = etree.XPath(
    "//text()[not(parent::w:t) and not(parent::a:t) and not(parent::x:t) and not(parent::y:t)"
    " and normalize-space()]",
    namespaces=_NAMESPACES,
)


def part_values(root: Any, data: bytes) -> list[str]:
    """Return the values of one part that neither its reader nor a page shows, in document order."""
    found: list[str] = []
    is_wide = b"\0" in data[:8]
    if is_wide or _OTHER_TEXT.search(data):
        for value in _ALL_TEXTS(root):
            found += _text_values(value)
    names = _TYPED_NAME.findall(data.replace(b"\0", b"") if is_wide else data)
    if is_wide:
        found += [shown for value in _WORDY(root) if (shown := _parsed_attribute(value))]
    if names:
        typed = sorted({(one or other).decode("ascii") for one, other in names})
        found += _of_elements(root, [name for name in typed if name in TYPED_ELEMENTS])
        found += _of_attributes(root, [name for name in typed if name in TYPED_ATTRIBUTES])
    if not is_wide:
        found += _quoted_words(data, _QUOTED_WORDS)
        if b"%" in data and b"%20" in data:  # one sign is looked for in no time
            found += [html.unescape(raw.decode("utf-8", "replace")) for raw in _CODED_ADDRESS.findall(data)]
        if b"&" in data and b"&quot;" in data:
            found += [text for raw in _FORMULA_ATTRIBUTE.findall(data) for text in _literals(raw)]
        if b"'" in data and b"='" in data:
            found += _quoted_words(data, _APOSTROPHES)
    return list(dict.fromkeys(found))


def _of_elements(root: Any, names: list[str]) -> list[str]:
    """Return the attributes of elements by their local names, name after name, in one pass over the tree."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for element in root.iter(*(f"{{*}}{name}" for name in names)) if names else ():
        name = local_name(element)
        for key, value in element.attrib.items():
            if shown := _attribute_value(name, key.rpartition("}")[2], value):
                found[name].append(shown)
    return [shown for name in names for shown in found[name]]


def _of_attributes(root: Any, names: list[str]) -> list[str]:
    """Return the attributes by their local names, name after name, in one pass over the tree."""
    found: dict[str, list[str]] = {name: [] for name in names}
    for value in _named_attributes(tuple(names))(root) if names else ():
        if shown := _parsed_attribute(value):
            found[value.attrname.rpartition("}")[2]].append(shown)
    return [shown for name in names for shown in found[name]]


@lru_cache(maxsize=256)
def _named_attributes(names: tuple[str, ...]) -> Any:
    return etree.XPath(f"//@*[{' or '.join(f'local-name() = {name!r}' for name in names)}]")


def _text_values(value: Any) -> list[str]:
    element = value.getparent()
    if element is None or value.is_tail:
        return []
    name = local_name(element)
    if name in MACHINE_TEXTS:
        return []
    text = " ".join(value.split())
    if name in _FORMULAS:
        return [
            part.strip() for literal in _QUOTED.findall(text) for part in literal.split(",") if is_said(part)
        ] + [sheet for sheet in _SHEET.findall(text) if is_person_named(sheet)]
    return [text] if is_said(text) else []


def _literals(raw: bytes) -> list[str]:
    """Return the texts in a formula of OpenDocument."""
    literals = _QUOTED.findall(html.unescape(raw.decode("utf-8", "replace")))
    return [literal.strip() for literal in literals if is_said(literal)]


def styling_texts(data: bytes) -> list[str]:
    """Return what was typed into parts that say how a document is drawn.

    Words before the numbers of a list, readings of Japanese names, notes on ink.
    """
    found = []
    for pattern, n_least in _STYLING_TEXTS:
        for raw in pattern.findall(data):
            text = " ".join(html.unescape(raw.decode("utf-8", "replace")).replace('"', " ").split())
            if len(words_of(text)) >= n_least:
                found.append(text)
    found += [html.unescape(raw.decode("utf-8", "replace")) for raw in _INK.findall(data)]
    readings = [html.unescape(raw.decode("utf-8", "replace")) for raw in _READING.findall(data)]
    return list(dict.fromkeys([*found, *readings]))


def style_names(data: bytes) -> list[str]:
    """Return the names in a part of styles that no program gave, and the texts within number formats."""
    found = [
        (match.start(), match[1])
        for mark, pattern in _STYLE_NAMES
        if mark in data
        for match in pattern.finditer(data)
    ]
    if b"Style " in data:
        for match in _CELL_STYLE.finditer(data):
            most = match.end() + _LONGEST_TAG
            end = data.find(b">", match.end(), most)
            end = most if end < 0 else end
            found += [(match.start(), raw) for raw in _CELL_STYLE_NAME.findall(data, match.end(), end)[-1:]]
    texts = [
        (at, text)
        for at, raw in found
        if (b" " in raw or b"&" in raw or not raw.isalpha())  # else one word without a number
        and len(value := raw.decode("utf-8", "replace")) in _STYLE_NAME_CHARS
        and is_person_named(text := html.unescape(value))
    ]
    if b"&quot;" in data:
        for match in _NUMBER_FORMAT.finditer(data):
            if b"&quot;" in match[1] and data[match.start() - 1 : match.start()] in _BEFORE_ATTRIBUTE:
                literals = _LITERAL.findall(html.unescape(match[1].decode("utf-8", "replace")))
                texts += [(match.start(), text) for text in literals if is_person_named(text)]
    return list(dict.fromkeys(text for _, text in sorted(texts, key=itemgetter(0))))


def _quoted_words(data: bytes, pattern: re.Pattern[bytes]) -> Iterator[str]:
    """Yield the attributes of several words from the bytes of a part; each value once."""
    seen: set[bytes] = set()
    for match in pattern.finditer(data):
        raw, at = match[1], match.start()
        if raw in seen:
            continue
        seen.add(raw)
        if b" " not in raw.strip():
            continue
        before = data[max(at - _LONGEST_NAME, 0) : at].rsplit(None, 1)
        key = before[-1].rpartition(b":")[2].decode("utf-8", "replace") if before else ""
        if key in STYLING:
            continue
        tag = _ELEMENT_NAME.match(data, max(data.rfind(b"<", max(at - _LONGEST_TAG, 0), at), 0))
        value = html.unescape(raw.decode("utf-8", "replace"))
        shown = _attribute_value(tag[1].decode("utf-8", "replace") if tag else "", key, value)
        if shown:
            yield shown


def _parsed_attribute(value: Any) -> str:
    return _attribute_value(local_name(value.getparent()), value.attrname.rpartition("}")[2], str(value))


def _attribute_value(name: str, key: str, value: str) -> str:
    """Return the value of the attribute ``key`` of the element ``name`` where it is text, else nothing."""
    is_known = key in TYPED_ATTRIBUTES or (name in TYPED_ELEMENTS and key in _TYPED_VALUES)
    is_styling = key in STYLING or (not is_known and (name in FONT_ELEMENTS or " " not in value.strip()))
    if is_styling or (key == "name" and name in NAME_ELEMENTS and _AUTOMATIC_NAME.fullmatch(value)):
        return ""
    if key in ("fullDate", "userId"):
        return _date_or_address(key, value)
    if name in UNDERSCORED_ELEMENTS or name in GENERATED_NAMES:
        value = "" if _AUTOMATIC_RANGE.match(value) else value.replace("_", " ").strip()
    if name in GENERATED_NAMES and not (is_typed(value) if name != "cSld" else _LONG_NAME.search(value)):
        return ""
    text = " ".join(value.replace("_x000d_", " ").replace("_x000a_", " ").split())
    if text in _NO_PERSON or not is_said(text):
        return ""
    return text if is_known or _WORDS.search(text) else ""


def _date_or_address(key: str, value: str) -> str:
    """Return the date of a date control, or the mail address in the identity of a commentator."""
    if key == "fullDate":
        return value[:10] if _DATE.match(value) else ""
    return next((part for part in value.split("::") if "@" in part), "")


def is_said(text: str) -> bool:
    """Tell a value that could say something of somebody: words or a long number, and nothing technical.

    >>> is_said("Okafor"), is_said("40718823"), is_said("12"), is_said("position:absolute;left:0")
    (True, True, False, False)
    """
    text = text.strip()
    if _GLYPHS.search(text):
        return not _TECHNICAL.match(text)
    return _LONG_NUMBER.fullmatch(text) is not None
