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
from typing import Any

import re2
from lxml import etree

from phiscan.extract.office.storage import is_typed
from phiscan.extract.structured.xml_parsing import local_name

# Names of attributes that say how something is drawn, found or computed.
_STYLING_TEXT = """
ascii hAnsi eastAsia cs typeface latin ea style path eqn fmla formulas axis ptType st cnt step
hideLastTrans Ignorable Requires ProcessContent mods fillcolor strokecolor color color2 colors viewBox
enhanced-path points text-position text-areas glue-points handle-position formula clip sqref full-path
styleName style-name display-name hotPoints rotatedBoundingBox path-stretchpoint-x path-stretchpoint-y
border border-left border-right border-top border-bottom font-family font-name font-name-asian
font-name-complex dash stroke-dasharray spans ref activeCell numFmt formatCode format-code coordsize
coordorigin adj limo textboxrect connectlocs connectangles o:connectlocs d transform schemaLocation
class font formatString ProgID progId contentType ContentType media-type uri xmlns type Type encoding
algorithmName hashValue saltValue position wrapcoords gradientshapeok arrowok cp wne:acdName mathFont
condition base-cell-address cell-range-address table-background shadow text-line-through-style padding
margin value-list panose1 sig version appVersion generator origin rotate svg:d
"""
STYLING = frozenset(_STYLING_TEXT.split())
FONT_ELEMENTS = frozenset(
    ["font-face", "font-decl", "font", "mathFont", "embedRegular", "lsdException", "tblStyle"]
)
_NAME_ELEMENTS_TEXT = """
cNvPr docPr frame custom-shape page-thumbnail shape line image oleObj control object g rect
"""
NAME_ELEMENTS = frozenset(_NAME_ELEMENTS_TEXT.split())
# What a person typed, whether or not it is one word; the pattern tells cheaply whether a part holds any.
_TYPED_ATTRIBUTES_TEXT = """
displayText author displayName tooltip display prompt promptTitle error errorTitle string user descr
title string-value string-value-if-true string-value-if-false current-value help-text label
totalsRowLabel connection command sourceFile initials fullDate userId
"""
TYPED_ATTRIBUTES = frozenset(_TYPED_ATTRIBUTES_TEXT.split())
_TYPED_ELEMENTS_TEXT = """
listItem listEntry default alias tag docVar statusText helpText filter customFilter inputCells scenario
query attr person cmAuthor section custShow customWorkbookView customSheetView sheetName bmk show page
table connectString name protectedRange mailSubject addressFieldName dbPr webPr connection udl odso
table-source user-field-decl database-range named-range filter-condition filter-set-item label
bookmarkStart bookmark bookmark-start definedName item i
"""
TYPED_ELEMENTS = frozenset(_TYPED_ELEMENTS_TEXT.split())
# Whose names are words with underscores between them.
# Whose names are mostly those that a program gave.
GENERATED_NAMES = frozenset(["page", "table", "name", "bmk", "show", "cSld"])
_UNDERSCORED_ELEMENTS_TEXT = """
bookmarkStart bookmark bookmark-start definedName protectedRange named-range
"""
UNDERSCORED_ELEMENTS = frozenset(_UNDERSCORED_ELEMENTS_TEXT.split())
_MACHINE_TEXTS_TEXT = """
t p span h delText instrText delInstrText posOffset align sizeRelH sizeRelV pctWidth pctHeight attrName
formatCode tableStyleId Anchor row col rowOff colOff config-item index-entry-span pctPosHOffset
oddHeader evenFooter oddFooter evenHeader firstHeader firstFooter sz ext idx order pos from to cNvSpPr
SizeWithCells MoveWithCells AutoFill AutoLine PrintObject ClientData Row Column Visible mi mn mo script
base64Binary a s tab c
"""
MACHINE_TEXTS = frozenset(_MACHINE_TEXTS_TEXT.split())
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

_LONG_NAME = re.compile(r"\d{6,}|(?:[^\W\d_]+\W+){5}")  # of a layout, which most programs name in a few words
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_CODED_ADDRESS = re2.compile(rb"[\s:](?:href|Target|instr|url)=\"([^\"]*%20[^\"]*%20[^\"]*)\"")
_FORMULA_ATTRIBUTE = re2.compile(rb"[\s:](?:formula|condition|expression)=\"([^\"]*&quot;[^\"]*)\"")
_NO_PERSON = frozenset(
    {"_GoBack", "Normal", "true", "false", "none", "auto", "General", "Author", "Default", "Center"}
)
# Elements whose text their readers give, and those of figures and references.
_FORMULAS = frozenset(["f", "formula", "formula1", "formula2", "definedName", "oldFormula"])
_QUOTED = re.compile(r'"((?:[^"]|"")+)"')
_GLYPHS = re.compile(r"[^\W\d_]{2,}")
_LONG_NUMBER = re.compile(r"\d[\d -]{5,}\d")
_WORDS = re.compile(r"[^\W_][\w'.,:;-]*\s+\S*[^\W_]")
_TECHNICAL = re.compile(
    r"\{?[0-9A-Fa-f]{8}-|\.{1,2}/|ppaction:|\[\d+\]!|https?://(?:schemas|www\.w3|purl)\.|urn:|[\w-]+\s*:\s*[^;:]+;|#REF!"
    r"|[\d\s.,:%-]+$|(?:val|sum|prod|if|mid|pin|\+-|\*/)\s"
)
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
    if b"\0" in data[:8]:  # UTF-16
        data = etree.tostring(root, encoding="utf-8")
    if _OTHER_TEXT.search(data):
        for value in _ALL_TEXTS(root):
            found += _text_values(value)
    if names := _TYPED_NAME.findall(data):
        typed = sorted({(one or other).decode("ascii") for one, other in names})
        found += _of_elements(root, [name for name in typed if name in TYPED_ELEMENTS])
        found += _of_attributes(root, [name for name in typed if name in TYPED_ATTRIBUTES])
    found += _quoted_words(data, _QUOTED_WORDS)
    if b"%" in data and b"%20" in data:  # one sign is looked for in no time
        found += [html.unescape(raw.decode("utf-8", "replace")) for raw in _CODED_ADDRESS.findall(data)]
    if b"&" in data and b"&quot;" in data:
        formulas = (raw.decode("utf-8", "replace") for raw in _FORMULA_ATTRIBUTE.findall(data))
        literals = (literal for one in formulas for literal in _QUOTED.findall(html.unescape(one)))
        found += [literal.strip() for literal in literals if is_said(literal)]
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
        ]
    return [text] if is_said(text) else []


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


# Parts that only say how a document is drawn.
_DRAWING_ONLY = re.compile(
    r"(?:^|/)(?:theme|fonts|diagrams/(?:layout|quickstyle|colors))|styles\w*\.xml$|stylesWithEffects|fontTable"
    r"|numbering\.xml$|webSettings|tableStyles|calcChain|presProps|viewProps|^META-INF/|^\[Content_Types\]"
    r"|sharedStrings|revisionInfo|changesInfos|commentsIds|commentsExtensible|printerSettings|/ink/"
    r"|^_xmlsignatures|metadata\.xml$|configurations2|(?:colors|style)\d*\.xml$|^(?:settings|meta)\.xml$|^docProps/"
    r"|xl/worksheets/sheet[^/]*\.xml$|^manifest\.rdf$|layout-cache|docMetadata",
    re.IGNORECASE,
)

_XML = (".xml", ".rels", ".vml")
_INTERNAL_TARGET = re.compile(r"https?://(?:schemas|www\.w3)\.|\.\./|file:///[^\\/]*$|NULL$", re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_swept(name: str) -> bool:
    """Tell a part that may hold values: XML that does not only say how a document is drawn."""
    return name.lower().endswith(_XML) and not _DRAWING_ONLY.search(name)


def targets(root: Any) -> list[str]:
    """Return where the hyperlinks and links of a part lead outside the package."""
    found = []
    for element in root:
        target = element.get("Target", "")
        if local_name(element) == "Relationship" and element.get("TargetMode") == "External":
            shown = target.removeprefix("mailto:").removeprefix("tel:").replace("%20", " ")
            if not _INTERNAL_TARGET.match(shown) and is_said(shown):
                found.append(shown)
    return found
