"""HTML: the visible text, the attributes in which people put names, and what a browser does not show."""

from __future__ import annotations

import base64
import re
from typing import Any
from urllib.parse import unquote_to_bytes

from phiscan.extract.core.charset import decode, decode_declared
from phiscan.extract.core.content import Content, Sink
from phiscan.extract.core.file_type import sniff
from phiscan.extract.core.labels import is_label
from phiscan.extract.core.prose import MIN_WORDS, words_of
from phiscan.extract.spreadsheets.rows import has_header, lay_out
from phiscan.extract.text_codes.escapes import form_runs, percent_runs, readable
from phiscan.model import FailReason

_DECLARATION_BYTES = 32 * 1024
_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\r\f]{2,}")
_ATTRIBUTES = ("alt", "title", "value", "placeholder", "aria-label", "content", "label", "summary")
_DATA_ATTRIBUTE = "data-"  # what a page's own scripts keep with an element
_ADDRESSES = frozenset(
    {"href", "src", "action", "formaction", "cite", "poster", "background", "srcset", "xlink:href"}
)
_SHOWN_OR_STYLE = frozenset(
    {*_ATTRIBUTES, "style", "class", "srcdoc", "rel", "sizes", "media", "d", "points", "font", "face"}
)
_INSTRUCTION = "-instruction"  # of a program that writes pages
_HIDDEN = frozenset({"script", "style", "template", "-comment", _INSTRUCTION})
_MAX_WITHIN = 3  # templates and comments within each other; below that their source is taken
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)")
_FEW_TAGS = 2000
# Elements without an end tag, or that end without one.
_OPEN_ENDED_TEXT = """
area base br col embed hr img input link meta param source track wbr p li dt dd option optgroup tr td th
tbody thead tfoot colgroup caption html head body
"""
_OPEN_ENDED = frozenset(_OPEN_ENDED_TEXT.split())
_FORMATS = frozenset(
    ["a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt", "u"]
)
# A parser looks through the open elements at each tag (20,000 within each other: one second), and opens
# the open formats again in each block.
_MAX_LOOKS = 400_000_000
_MAX_REOPENED = 2_000_000
_BLOCKS_TEXT = """
address article aside blockquote br button caption center dd details dialog div dl dt fieldset
figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html body input legend li main nav ol
option p pre section select summary table tbody textarea tfoot thead title tr ul
"""
_BLOCKS = frozenset(_BLOCKS_TEXT.split())
_MARKS = {"table": "\n\x01", "tr": "\n\x03", "td": "\t\x04", "th": "\t\x04"}
_STYLE_TEXT = re.compile(r"/\*(.*?)\*/|\bcontent\s*:\s*(?:\"([^\"]+)\"|'([^']+)')", re.DOTALL)
_MARKUP_IN_STYLE = re.compile(r"<(?:body|p|div|table|td|span|pre|h[1-6]|ul|br)\b", re.IGNORECASE)
_MIN_PICTURE_BYTES = 100  # fewer show nothing: a single pixel
_DATA_URI = re.compile(r"data:([a-z]+/[\w.+-]+)((?:;[\w=.\"-]+)*),([^\"'\s)<>]+)", re.IGNORECASE)
_META_LABELS = ("name", "property", "http-equiv")


def read_web_page(content: Content, sink: Sink) -> None:
    """Add the page as one segment, then what a browser does not show, ``#hidden``."""
    html = _decode(sink.bound(content.data, content.locator))
    if is_degenerate(html):
        sink.fail(content.locator, FailReason.NESTED_TOO_DEEP, "HTML read as plain text")
        sink.add(html, content.locator)
    else:
        shown, hidden = _page_texts(html)
        sink.add(shown, content.locator)
        sink.add(hidden, content.place("hidden"))
    read_inline_files(html, content, sink)


def read_inline_files(html: str, content: Content, sink: Sink) -> None:
    """Read what a page holds within itself, ``<img src="data:image/png;base64,...">``, as members."""
    for number, match in enumerate(_DATA_URI.finditer(html), 1):
        data = unquote_to_bytes(match[3])
        if ";base64" in match[2].lower():
            try:
                data = base64.b64decode(data + b"=" * (-len(data) % 4))
            except ValueError:
                sink.fail(content.member(f"inline{number}", b"").locator, FailReason.CORRUPT, "not base64")
                continue
        if len(data) < _MIN_PICTURE_BYTES and sniff(data).startswith("image/"):
            continue  # a single pixel, or a placeholder
        if not match[1].lower().startswith(("font/", "application/font", "application/x-font", "text/css")):
            sink.add_member(content, f"inline{number}", data)


def _decode(data: bytes) -> str:
    text, encoding = decode(data)
    if encoding in ("utf-8", "utf-8-sig") or encoding.startswith(("utf-16", "utf-32")):
        return text
    declared = _CHARSET.search(data, 0, _DECLARATION_BYTES)
    return decode_declared(data, declared.group(1).decode("ascii")) if declared else text


def html_text(html: str) -> str:
    r"""Return what a reader sees of a page, blocks on lines of their own, then what a browser does not show.

    >>> html_text('<p>Seen by <b>Dr. Roy</b></p><img alt="scan of J. Roy"><!-- chart 12 -->')
    'Seen by Dr. Roy\nscan of J. Roy\nchart 12'
    """
    if is_degenerate(html):
        return html
    return "\n".join(text for text in _page_texts(html) if text)


def is_degenerate(html: str) -> bool:
    """Tell a page whose elements are nested so deep that parsing it takes quadratic time."""
    n_tags = html.count("<")
    if n_tags <= _FEW_TAGS:
        return False
    opened: dict[str, int] = {}
    depth = deepest = formats = most_formats = 0
    for match in _TAG.finditer(html):
        name = match[2].lower()
        if name in _OPEN_ENDED:
            continue
        step = -1 if match[1] else 1
        if step < 0 and not opened.get(name):
            continue
        opened[name] = opened.get(name, 0) + step
        depth += step
        deepest = max(deepest, depth)
        if name in _FORMATS:
            formats += step
            most_formats = max(most_formats, formats)
    return deepest * n_tags > _MAX_LOOKS or most_formats * n_tags > _MAX_REOPENED


def _page_texts(html: str, within: int = 0) -> tuple[str, str]:
    """Return the text that a reader sees, and the text of comments, templates, scripts and data."""
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415

    root = LexborHTMLParser(html.replace("\0", " ")).root
    pieces: list[str] = []
    hidden: list[str] = []
    document = root.parent if root is not None else None
    node = document.child if document is not None else None  # comments stand around the root too
    while node is not None:
        tag = node.tag or _INSTRUCTION
        descend = tag not in _HIDDEN
        if tag == "-text":
            pieces.append(node.text_content or "")
        elif descend:
            pieces.append(_MARKS.get(tag) or ("\n" if tag in _BLOCKS else ""))
            attributes = node.attributes
            if attributes:
                pieces.append(_attribute_text(tag, attributes))
                hidden += _unshown_values(attributes)
        else:
            hidden.append(_hidden_text(node, tag, within))
        child = node.child if descend else None
        if child is not None:
            node = child
            continue
        while node is not None and node.next is None:
            node = node.parent
            if node is None or node.tag == "-document":
                node = None
                break
            if node.tag in _BLOCKS:
                pieces.append("\x02\n" if node.tag == "table" else "\n")
        if node is not None:
            node = node.next
    return _tidy(with_records("".join(pieces))), _tidy("\n".join(hidden))


def _hidden_text(node: Any, tag: str, within: int) -> str:
    """Return the text of a comment, a template or a script; of a style sheet its comments and contents."""
    if tag == "style":
        source = node.child.text_content or "" if node.child is not None else ""
        begins = _MARKUP_IN_STYLE.search(source)  # a style sheet without an end holds the page
        rest = source[begins.start() :] if begins else ""
        page = (
            "" if not rest or within >= _MAX_WITHIN or is_degenerate(rest) else _page_texts(rest, within + 1)
        )
        return "\n".join([style_text(source), *page])
    if tag == _INSTRUCTION:
        return (node.html or "").strip("<>?")
    if tag == "script":
        return node.child.text_content or "" if node.child is not None else ""
    source = node.html or ""
    if tag == "-comment":
        source = source.removeprefix("<!--").removesuffix("-->")
    else:
        source = source.partition(">")[2].removesuffix("</template>")
    if within >= _MAX_WITHIN or is_degenerate(source):
        return str(source)
    return "\n".join(_page_texts(source, within + 1))


def style_text(source: str) -> str:
    r"""Return the comments and the shown contents in a style sheet.

    >>> style_text("p::after { content: 'Ann Roy' } /*ward 3*/")
    'Ann Roy\nward 3'
    """
    return "\n".join("".join(found) for found in _STYLE_TEXT.findall(source))


def _unshown_values(attributes: dict[str, str | None]) -> list[str]:
    """Return what no browser shows: data of scripts, addresses with coded words, values of several words."""
    found: list[str] = []
    for key, value in attributes.items():
        if not value or key in _SHOWN_OR_STYLE:
            continue
        if key.startswith(_DATA_ATTRIBUTE):
            found.append(value)
        elif key in _ADDRESSES:
            if "%" in value and not value.startswith(("data:", "mailto:", "tel:")):
                found += [
                    run.data.decode("utf-8", "replace")
                    for run in (*percent_runs(value.encode()), *form_runs(value.encode()))
                    if readable(run.data)
                ]
        elif value.count(" ") > 1 and len(words_of(value)) >= MIN_WORDS:
            found.append(value)
    return found


def _attribute_text(tag: str, attributes: dict[str, str | None]) -> str:
    texts = []
    for key in _ATTRIBUTES:
        value = attributes.get(key)
        if not value or (value == "on" and tag == "input"):  # a check box that was given no value
            continue
        label = (
            next((attributes[name] for name in _META_LABELS if attributes.get(name)), "")
            if key in ("content", "value")
            else ""
        )
        texts.append(f"{label}: {value}" if label else value)
    texts.append(attributes.get("srcdoc") or "")  # a page within an attribute, as it is
    href = attributes.get("href") or ""
    if href.startswith(("mailto:", "tel:")):
        texts.append(href.partition(":")[2])
    return " ".join(["", *texts, ""]) if any(texts) else ""


def _tidy(text: str) -> str:
    lines = map(str.strip, text.replace("\xa0", " ").split("\n"))
    return _BLANKS.sub(_one_blank, "\n".join(filter(None, lines)))


def _one_blank(blanks: re.Match[str]) -> str:
    return "\t" if "\t" in blanks[0] else " "


_TABLE = re.compile("\x01([^\x01\x02]*)\x02")
_CODES = re.compile("[\x01-\x04]")
_MIN_ROWS = 2


def with_records(text: str) -> str:
    r"""Return the text of a page with its marked tables laid out, and without the marks.

    >>> print(with_records("\x01\x03\x04Patient\x04Card\x03\x04Roy\x041234\x03\x04Lee\x045678\x02").strip())
    Patient | Card
    Patient: Roy | Card: 1234
    Patient: Lee | Card: 5678
    """
    if "\x01" not in text:
        return _CODES.sub("", text)
    return _CODES.sub("", _TABLE.sub(lambda match: _laid_out(match[1]), text))


def _laid_out(table: str) -> str:
    caption, *marked = table.split("\x03")
    rows = [
        (number, [" ".join(cell.split()) for cell in row.split("\x04")[1:]])
        for number, row in enumerate(marked, 1)
    ]
    widest = max((len(cells) for _, cells in rows), default=0)
    if len(rows) < _MIN_ROWS or widest < 2 or not has_header(rows):  # noqa: PLR2004 (a column alone)
        return table
    if len(rows) == _MIN_ROWS and not all(map(is_label, rows[0][1])):
        return table
    lines = "\n".join(line for _, line in lay_out(rows))
    return f"{caption.strip()}\n{lines}\n"
