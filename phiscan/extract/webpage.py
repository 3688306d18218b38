"""HTML: the visible text, and the attributes in which people put names."""

from __future__ import annotations

import re

from phiscan.extract.charset import decode
from phiscan.extract.content import Content, Sink

_CHARSET = re.compile(rb"charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]+)", re.IGNORECASE)
_ATTRIBUTES = ("alt", "title", "value", "placeholder", "aria-label", "content")
_HIDDEN = frozenset({"script", "style", "template", "-comment", "noscript"})
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "button",
        "caption",
        "center",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "head",
        "header",
        "hr",
        "html",
        "body",
        "input",
        "legend",
        "li",
        "main",
        "nav",
        "ol",
        "option",
        "p",
        "pre",
        "section",
        "select",
        "summary",
        "table",
        "tbody",
        "textarea",
        "tfoot",
        "thead",
        "title",
        "tr",
        "ul",
    ]
)
_CELLS = frozenset({"td", "th"})
_META_LABELS = ("name", "property", "http-equiv")


class WebPageExtractor:
    """Read web pages."""

    media_types = frozenset({"text/html"})

    def extract(self, content: Content, sink: Sink) -> None:
        """Add the page as one segment."""
        sink.add(html_text(_decode(content.data)), content.locator)


def _decode(data: bytes) -> str:
    text, encoding = decode(data)
    if encoding in ("utf-8", "utf-8-sig") or encoding.startswith(("utf-16", "utf-32")):
        return text
    declared = _CHARSET.search(data[:4096])
    if declared:
        try:
            return data.decode(declared.group(1).decode("ascii"), "replace")
        except LookupError:
            return text
    return text


def html_text(html: str) -> str:
    r"""Return what a reader sees of a page, blocks on lines of their own, then the labelled attributes.

    >>> html_text('<p>Seen by <b>Dr. Roy</b></p><img alt="scan of J. Roy">')
    'Seen by Dr. Roy\nscan of J. Roy'
    """
    from selectolax.lexbor import LexborHTMLParser  # noqa: PLC0415

    root = LexborHTMLParser(html.replace("\0", " ")).root
    pieces: list[str] = []
    node = root
    while node is not None:
        tag = node.tag or ""
        descend = tag not in _HIDDEN
        if tag == "-text":
            pieces.append(node.text_content or "")
        elif descend:
            pieces.append("\n" if tag in _BLOCKS else "\t" if tag in _CELLS else "")
            if node.attributes:
                pieces.append(_attribute_text(tag, node.attributes))
        child = node.child if descend else None
        if child is not None:
            node = child
            continue
        while node is not None and node.next is None:
            node = node.parent
            if node is None or node.tag == "html":
                node = None
                break
            if node.tag in _BLOCKS:
                pieces.append("\n")
        if node is not None:
            node = node.next
    return _tidy("".join(pieces))


def _attribute_text(tag: str, attributes: dict[str, str | None]) -> str:
    texts = []
    for key in _ATTRIBUTES:
        value = attributes.get(key)
        if not value or (
            tag == "input" and attributes.get("type") in ("submit", "button", "checkbox", "radio")
        ):
            continue
        label = (
            next((attributes[name] for name in _META_LABELS if attributes.get(name)), "")
            if key in ("content", "value")
            else ""
        )
        texts.append(f"{label}: {value}" if label else value)
    href = attributes.get("href") or ""
    if href.startswith(("mailto:", "tel:")):
        texts.append(href.partition(":")[2])
    return " ".join(["", *texts, ""]) if texts else ""


def _tidy(text: str) -> str:
    lines = (" ".join(line.replace("\xa0", " ").split(" ")).strip() for line in text.split("\n"))
    return "\n".join(
        re.sub(r"[ \t\r\f]{2,}", lambda m: "\t" if "\t" in m.group() else " ", line) for line in lines if line
    )
