"""The report as PDF: the same HTML page, parsed as XML and laid out on paper.

It is tagged: headings, lists, tables with their header cells, pictures with alternative text. The fonts are
those of matplotlib (DejaVu).
"""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Self
from xml.sax.saxutils import escape

from lxml import etree
from reportlab.graphics.shapes import Circle, Drawing, Line, Rect, String
from reportlab.lib.colors import Color, HexColor
from reportlab.lib.enums import TA_RIGHT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import mm
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFPage, PDFString
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    CondPageBreak,
    PageBreak,
    Paragraph,
    SimpleDocTemplate,
    Spacer,
    Table,
    TableStyle,
)

from phiscan.errors import ConfigError
from phiscan.language import lazy_gettext as _


@dataclass(eq=False, slots=True)
class Node:
    """One element of the tree: its role, its children, and the marks of its own content."""

    role: str
    alternative: str = ""  # alternative text of a picture
    scope: str = ""  # of a header cell: Column or Row
    children: list[Node] = field(default_factory=list)
    content: list[tuple[int, int]] = field(default_factory=list)  # page from 1, number of the mark

    def add(self, role: str, *, alternative: str = "", scope: str = "") -> Node:
        """Add a child element, and return it."""
        made = Node(role, alternative, scope)
        self.children.append(made)
        return made


class TaggedCanvas(Canvas):  # type: ignore[misc]
    """A canvas that numbers the marks of each page and writes the tree when it is saved."""

    def __init__(self, *arguments: Any, root: Node, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._root = root
        self._marked: dict[int, list[Node]] = defaultdict(list)

    @contextmanager
    def marked(self, node: Node | None) -> Iterator[None]:
        """Enclose drawing operations in marks; None = decoration, ignored by screen readers."""
        if node is None:
            self._code.append("/Artifact BMC")
        else:
            page = self.getPageNumber()
            number = len(self._marked[page])
            self._marked[page].append(node)
            node.content.append((page, number))
            self._code.append(f"/{node.role} <</MCID {number}>> BDC")
        yield
        self._code.append("EMC")

    def save(self) -> None:
        """Write the tree, then the document."""
        document = self._doc
        pages = document.Pages.pages
        tree = PDFDictionary({"Type": PDFName("StructTreeRoot")})
        tree_reference = document.Reference(tree)
        references: dict[int, Any] = {}
        tree.dict["K"] = PDFArray([self._element(self._root, tree_reference, pages, references)])
        numbers: list[Any] = []
        for at, page in enumerate(pages):
            numbers += [at, PDFArray([references[id(node)] for node in self._marked[at + 1]])]
            page.__NoDefault__ = [*PDFPage.__NoDefault__, "StructParents", "Tabs"]
            page.StructParents, page.Tabs = at, PDFName("S")
        parents = document.Reference(PDFDictionary({"Nums": PDFArray(numbers)}))
        tree.dict |= {"ParentTree": parents, "ParentTreeNextKey": len(pages)}
        document.Catalog.StructTreeRoot = tree_reference
        document.Catalog.MarkInfo = PDFDictionary({"Marked": "true"})
        self.setViewerPreference("DisplayDocTitle", "true")
        super().save()

    def _element(self, node: Node, parent: Any, pages: Any, references: dict[int, Any]) -> Any:
        values: dict[str, Any] = {"Type": PDFName("StructElem"), "S": PDFName(node.role), "P": parent}
        if node.alternative:
            values["Alt"] = PDFString(node.alternative)
        if node.scope:
            values["A"] = PDFDictionary({"O": PDFName("Table"), "Scope": PDFName(node.scope)})
        made = PDFDictionary(values)
        reference = references[id(node)] = self._doc.Reference(made)
        inside: list[Any] = [
            PDFDictionary(
                {"Type": PDFName("MCR"), "Pg": self._doc.Reference(pages[page - 1]), "MCID": number}
            )
            for page, number in node.content
        ]
        inside += [self._element(child, reference, pages, references) for child in node.children]
        made.dict["K"] = PDFArray(inside)
        return reference


class Tagged:
    """What belongs to an element of the tree, on one or several pages.

    ``_once``: repeated as the head of a table on its next page, it is decoration.
    """

    _node: Node | None = None
    _once = False

    def tagged(self, node: Node | None, *, once: bool = False) -> Self:
        """Make it part of an element, and return it."""
        self._node, self._once = node, once
        return self

    def drawOn(self, canvas: Any, x: float, y: float, _sW: float = 0) -> None:  # noqa: N802, N803 (reportlab's)
        """Draw it between its marks."""
        again = self._once and self._node is not None and bool(self._node.content)
        with canvas.marked(None if again else self._node):
            super().drawOn(canvas, x, y, _sW)  # type: ignore[misc]


class TaggedParagraph(Tagged, Paragraph):  # type: ignore[misc]
    """A paragraph whose text belongs to an element of the tree."""

    def split(self, width: float, height: float) -> list[Any]:
        """Split it; each part belongs to the same element."""
        return [part.tagged(self._node, once=self._once) for part in super().split(width, height)]


class TaggedPicture(Tagged, Drawing):  # type: ignore[misc]
    """A drawing that is one picture of the tree."""


class TaggedTable(Table):  # type: ignore[misc]
    """A table whose lines are decoration; its cells are tagged paragraphs."""

    def _drawLines(self) -> None:  # noqa: N802 (reportlab's)
        with self.canv.marked(None):
            super()._drawLines()


BODY, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"

_BAR_HEIGHT = 10.0
COLOURS = {
    "c-screened": "#0b6e6e",
    "c-unchanged": "#82b5b2",
    "c-skipped": "#c3c9d0",
    "c-failed": "#b4540a",
    "c-phi": "#a1252b",
    "c-unread": "#5b6b7d",
    "tdp": "#a1252b",
    "frp": "#5b6b7d",
    "axis": "#c4c9cf",
    "muted": "#4a525b",
    "open": "#a1252b47",  # pale
    "openf": "#5b6b7d47",
    "": "#14181c",
}


def drawing(svg: Any, width: float) -> TaggedPicture:
    """Return an SVG picture of ``phiscan.report.rendering.charts`` as a drawing ``width`` points wide."""
    _, _, box_width, box_height = (float(number) for number in svg.get("viewBox").split())
    x_scale = width / box_width
    stretched = svg.get("preserveAspectRatio") == "none"
    y_scale = _BAR_HEIGHT / box_height if stretched else x_scale
    height = box_height * y_scale
    picture = TaggedPicture(width, height + 6)
    for element in svg.iter():
        shape = _shape(element, x_scale, y_scale, height)
        if shape is not None:
            picture.add(shape)
    return picture


def _shape(element: Any, x_scale: float, y_scale: float, height: float) -> Any:
    if element.tag not in {"rect", "line", "circle", "text"}:
        return None

    def x(name: str) -> float:
        return float(element.get(name, 0)) * x_scale

    def y(name: str) -> float:
        return height - float(element.get(name, 0)) * y_scale

    colour = HexColor(COLOURS[element.get("class", "")], hasAlpha=element.get("class", "").startswith("open"))
    if element.tag == "rect":
        tall = float(element.get("height")) * y_scale
        return Rect(x("x"), y("y") - tall, x("width"), tall, fillColor=colour, strokeColor=None)
    if element.tag == "line":
        thick = float(element.get("stroke-width", 0.8)) * x_scale
        return Line(x("x1"), y("y1"), x("x2"), y("y2"), strokeColor=colour, strokeWidth=thick)
    if element.tag == "circle":
        return Circle(x("cx"), y("cy"), x("r"), fillColor=colour, strokeColor=None)
    anchor = element.get("text-anchor", "start")
    size = 12 * x_scale
    return String(
        x("x"), y("y"), element.text, fontName=BODY, fontSize=size, fillColor=colour, textAnchor=anchor
    )


_ENTITIES = {"&ndash;": "&#8211;"}
_MARGIN = 14 * mm
_WIDTH = A4[0] - 2 * _MARGIN
_INK, _SOFT, _LINE = HexColor("#14181c"), HexColor("#4a525b"), HexColor("#c4c9cf")
_WARN = HexColor("#7a4206")
# Points that must remain below a heading or caption, to keep it with the first rows after it.
_ROOM_BELOW = {"h1": 200, "h2": 150, "h3": 110, "caption": 75}
_UNSPLIT = {"figure", "svg"}
_BLOCKS = {"p", "li", "dt", "dd", "figcaption"}
_KEYS = {"key tdp": "#a1252b", "key frp": "#5b6b7d"}
_ROLES = {"figcaption": "Caption"}
_INLINE = {"b": "b", "strong": "b", "i": "i", "sup": "super", "sub": "sub"}
_WIDEST_COLUMN = 0.34  # of the available width; longer cells wrap
_TALLEST = 300.0  # points of continuous text; twice that, with unfavourable line breaks, still fits a page
_CELL_PADDING = 5
_CELL_ROOM = 8  # padding and rounding
_SWATCH = "\N{BLACK SQUARE}"
_UNDATED = b"D:20000101000000+00'00'"  # the date that reportlab writes in its reproducible mode
_LEFT_OUT = " [\N{HORIZONTAL ELLIPSIS}] "
_GRIDS = {
    "heads": 4,
    "answers": 3,
    "pictures": 2,
    "formulas": 3,
    "t1s": 4,
    "facts": 3,
    "result": 4,
}  # parts that are placed side by side


def render_pdf(page: str) -> bytes:
    """Return the PDF of a page that ``html.render`` made; deterministic.

    Raises:
        ConfigError: the fonts are not installed.
    """
    _register_fonts()
    for entity, reference in _ENTITIES.items():
        page = page.replace(entity, reference)
    parser = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)
    root: Any = etree.fromstring(page.partition("<!DOCTYPE html>")[2].strip().encode(), parser)
    stream = io.BytesIO()
    document = SimpleDocTemplate(
        stream,
        pagesize=A4,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=16 * mm,
        title=root.findtext("head/title"),
        author="phiscan",
        lang="en",
        invariant=1,
    )
    body = root.find("body")
    tree = Node("Document")
    flow = [*_flow(body.find("header"), tree), *_flow(body.find("div/main"), tree)]
    canvas = partial(TaggedCanvas, root=tree)
    document.build(flow, onFirstPage=_footer, onLaterPages=_footer, canvasmaker=canvas)
    made = [time.get("datetime") for time in body.find("header").iter("time")]  # the last one is its own
    if not made:
        return stream.getvalue()
    # In UTC and of constant length, because a PDF contains byte offsets.
    date = f"D:{datetime.fromisoformat(made[-1]).astimezone(UTC):%Y%m%d%H%M%S}+00'00'"
    return stream.getvalue().replace(_UNDATED, date.encode())


@cache
def _register_fonts() -> None:
    spec = find_spec("matplotlib")
    folder = Path(spec.origin).parent / "mpl-data" / "fonts" / "ttf" if spec and spec.origin else Path()
    for name in (BODY, BOLD, MONO):
        path = folder / f"{name}.ttf"
        if not path.is_file():
            raise ConfigError(path, "the font is missing; the installation of matplotlib is incomplete")
        pdfmetrics.registerFont(TTFont(name, str(path)))
    pdfmetrics.registerFontFamily(BODY, normal=BODY, bold=BOLD, italic=BODY, boldItalic=BOLD)


def _style(name: str, size: float, **more: Any) -> ParagraphStyle:
    settings = {"fontName": BODY, "textColor": _INK, "spaceAfter": size * 0.35, **more}
    return ParagraphStyle(name, fontSize=size, leading=size * 1.35, **settings)


_STYLES = {
    "h1": _style("h1", 17, fontName=BOLD),
    "name": _style("name", 7.6, fontName=BOLD, textColor=_SOFT, spaceAfter=0),
    "h2": _style("h2", 12, fontName=BOLD, spaceBefore=12, keepWithNext=1),
    "h3": _style("h3", 9.5, fontName=BOLD, spaceBefore=7, keepWithNext=1),
    "p": _style("p", 8.2),
    "li": _style("li", 8.2, leftIndent=10, bulletIndent=2),
    "dt": _style("dt", 7.2, textColor=_SOFT, keepWithNext=1, spaceAfter=0),
    "dd": _style("dd", 9.5, fontName=BOLD),
    "figcaption": _style("figcaption", 7.2, textColor=_SOFT),
    "caption": _style("caption", 8.2, fontName=BOLD, spaceBefore=5),
    "cell": _style("cell", 6.3, spaceAfter=0),
    "big": _style("big", 17, fontName=BOLD, spaceAfter=1),
    "moment": _style("moment", 11.5, fontName=BOLD, spaceBefore=3, spaceAfter=3),
    "caution": _style("caution", 7.6, textColor=_WARN),
    "interval": _style("interval", 7.2, textColor=_SOFT),
    "legend": _style("legend", 7.2, textColor=_SOFT, spaceBefore=3, spaceAfter=6),
    "src": _style("src", 7.2, textColor=_SOFT),
    "note": _style("note", 8.2, backColor=HexColor("#f4eee2"), borderPadding=4, spaceBefore=5, spaceAfter=8),
    "number": _style("number", 6.3, spaceAfter=0, alignment=TA_RIGHT),
    "number-head": _style(
        "number-head", 6.1, textColor=_SOFT, spaceAfter=0, fontName=BOLD, alignment=TA_RIGHT
    ),
    "head": _style("head", 6.1, textColor=_SOFT, spaceAfter=0, fontName=BOLD),
}


def _flow(element: Any, tree: Node, width: float = _WIDTH) -> Iterator[Any]:
    """Yield the flowables of an element in reading order; its tags are added to ``tree``."""
    tag = element.tag
    if element.get("aria-hidden") == "true":
        return
    if tag == "table":
        yield from _table(element, tree.add("Table"), width)
    elif tag == "svg":
        node = tree.add("Figure", alternative=_drawable(element.get("aria-label") or "picture"))
        yield drawing(element, width).tagged(node)
    elif tag in {"h1", "h2", "h3"}:
        yield from _heading(element, tree, width)
    elif tag in _BLOCKS:
        bullet = {"bulletText": "\N{BULLET}"} if tag == "li" else {}
        named = (element.get("class") or "").split()
        style = next((_STYLES[name] for name in named if name in _STYLES), _STYLES[tag])
        node = tree.add("LI").add("LBody") if tag == "li" else tree.add(_ROLES.get(tag, "P"))
        yield _paragraph(element, style, width, **bullet).tagged(node)
    elif element.get("class") == "legend":
        yield TaggedParagraph(_legend(element), _STYLES["legend"]).tagged(tree.add("P"))
    elif element.get("class") in _GRIDS:
        yield from _grid(element, tree, _GRIDS[element.get("class")])
    else:
        inner = tree.add("L") if tag in {"ul", "ol"} else tree
        for child in element:
            yield from _flow(child, inner, width)
        if element.get("id") == "summary":
            yield PageBreak()


def _heading(element: Any, tree: Node, width: float) -> Iterator[Any]:
    """Yield a heading kept together with the beginning of what follows, or a whole picture."""
    in_card = element.getparent().get("class") == "head"
    style = _STYLES["name" if in_card else element.tag]
    heading = _paragraph(element, style, width).tagged(tree.add(element.tag.upper()))
    below = element.getnext()
    if width == _WIDTH and below is not None and below.tag not in _UNSPLIT:
        heading.keepWithNext = 0
        yield CondPageBreak(_ROOM_BELOW[element.tag])
    yield heading


def _legend(element: Any) -> str:
    """Return a legend as one line, each entry with a coloured square."""
    entries = []
    for entry in element:
        words = _markup(entry).strip().replace(" ", "\N{NO-BREAK SPACE}")
        colour = COLOURS[entry.get("class")]
        entries.append(f'<font color="{colour}">{_SWATCH}</font>\N{NO-BREAK SPACE}{words}')
    return " \N{EN SPACE} ".join(entries)


def _grid(element: Any, tree: Node, n_columns: int) -> Iterator[Any]:
    """Yield the children of an element side by side."""
    width = _WIDTH / n_columns
    cells = [list(_flow(child, tree, width - 8)) for child in element]
    cells += [[]] * (-len(cells) % n_columns)
    rows = [cells[start : start + n_columns] for start in range(0, len(cells), n_columns)]
    if rows:
        table = Table(rows, colWidths=[width] * n_columns, hAlign="LEFT")
        table.setStyle(
            TableStyle([("VALIGN", (0, 0), (-1, -1), "TOP"), ("LEFTPADDING", (0, 0), (-1, -1), 0)])
        )
        yield table


def _table(element: Any, tree: Node, width: float) -> Iterator[Any]:
    if width == _WIDTH:
        yield CondPageBreak(_ROOM_BELOW["caption"])
    caption = TaggedParagraph(_markup(element.find("caption")), _STYLES["caption"])
    yield caption.tagged(tree.add("Caption"))
    lines = [[cell for cell in row if cell.get("aria-hidden") != "true"] for row in element.iter("tr")]
    n_head = len(element.findall("thead/tr"))
    widths = _widths(lines, width)
    rows = []
    for number, line in enumerate(lines):
        row, in_head = tree.add("TR"), number < n_head
        rows.append(
            [
                _paragraph(cell, _cell_style(cell, in_head=in_head), column - _CELL_PADDING).tagged(
                    row.add("TH", scope="Column" if in_head else "Row")
                    if cell.tag == "th"
                    else row.add("TD"),
                    once=in_head,
                )
                for cell, column in zip(line, widths, strict=True)
            ]
        )
    table = TaggedTable(rows, colWidths=widths, repeatRows=n_head, hAlign="LEFT")
    table.setStyle(
        TableStyle(
            [
                ("LINEBELOW", (0, 0), (-1, -1), 0.25, _LINE),
                ("VALIGN", (0, 0), (-1, -1), "TOP"),
                ("LEFTPADDING", (0, 0), (-1, -1), 0),
                ("RIGHTPADDING", (0, 0), (-1, -1), _CELL_PADDING),
                ("TOPPADDING", (0, 0), (-1, -1), 1.2),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 1.6),
            ]
        )
    )
    yield table
    yield Spacer(1, 2 * mm)


def _cell_style(cell: Any, *, in_head: bool) -> ParagraphStyle:
    small = cell.getparent().getparent().getparent().get("class") == "t1"
    is_number = cell.get("class") in {"k-count", "k-number"} or (small and cell.get("scope") != "row")
    if in_head:
        return _STYLES["number-head" if is_number else "head"]
    return _STYLES["number" if is_number else "cell"]


def _widths(lines: list[list[Any]], width: float) -> list[float]:
    """Distribute a width over the columns: each gets its longest word, the rest by the amount of text.

    If even the words do not fit, all columns shrink alike and the longest words are broken.
    """
    texts = [[" ".join("".join(cell.itertext()).split()) for cell in line] for line in lines]
    least, wanted, amount = [], [], []
    for column in zip(*texts, strict=True):
        drawn = [_drawn_width(text) for text in column]
        word = max((_drawn_width(word) for text in column for word in text.split()), default=0.0)
        least.append(min(word, _WIDEST_COLUMN * width) + _CELL_ROOM)
        wanted.append(max(max(drawn) + _CELL_ROOM, least[-1]))
        amount.append(sum(drawn) + 1.0)
    short = width - sum(least)
    if short <= 0:
        return [column * width / sum(least) for column in least]
    return _shared(least, wanted, amount, width)


def _shared(
    least: Sequence[float], wanted: Sequence[float], amount: Sequence[float], width: float
) -> list[float]:
    """Return widths between minimum and desired width; the rest is distributed by the amount of text."""
    widths = list(least)
    while (over := width - sum(widths)) > 1:
        narrow = [at for at, full in enumerate(wanted) if full - widths[at] > 0.1]  # noqa: PLR2004 (points)
        if not narrow:
            break
        total = sum(amount[at] for at in narrow)
        for at in narrow:
            widths[at] = min(wanted[at], widths[at] + over * amount[at] / total)
    return widths


def _drawn_width(text: str) -> float:
    """Return the width of a text in the widest font of a cell."""
    size = _STYLES["cell"].fontSize
    return float(max(pdfmetrics.stringWidth(text, font, size) for font in (MONO, BOLD)))


def _paragraph(element: Any, style: ParagraphStyle, width: float, **options: Any) -> TaggedParagraph:
    """Return an element's text as a paragraph whose table cells fit on a page.

    A path may have thousands of characters; the middle of such a text is replaced by a mark. files.csv
    contains the whole path.
    """
    text = _drawable("".join(element.itertext()))
    room = _TALLEST / style.leading * width
    needed = max(pdfmetrics.stringWidth(text, font, style.fontSize) for font in (style.fontName, MONO))
    if needed <= room:
        return TaggedParagraph(_markup(element), style, **options)
    kept = int(len(text) * room / needed) // 2
    return TaggedParagraph(escape(text[:kept] + _LEFT_OUT + text[-kept:]), style, **options)


def _markup(element: Any) -> str:
    """Return an element's text in reportlab's markup."""
    parts = [_text(element.text)]
    for child in element:
        inner = _markup(child)
        if child.tag in _INLINE:
            name = _INLINE[child.tag]
            inner = f"<{name}>{inner}</{name}>"
        elif child.tag == "code" or "path" in (child.get("class") or "").split():
            inner = f'<font name="{MONO}">{inner}</font>'
        elif child.get("class") == "capped":
            inner = f' <font name="{BODY}" color="#4a525b">{inner}</font>'
        elif child.get("class") == "ci":
            inner = f' <font color="#4a525b">{inner}</font>'
        elif child.get("class") in _KEYS:
            inner = f'<font color="{_KEYS[child.get("class")]}">\N{BLACK CIRCLE}</font>'
        parts += [inner, _text(child.tail)]
    return "".join(parts)


def _text(text: str | None) -> str:
    """Return text escaped for reportlab's markup."""
    return escape(_drawable(text)) if text else ""


def _drawable(text: str) -> str:
    """Replace characters that the font lacks by their code, so that no name changes silently."""
    glyphs = pdfmetrics.getFont(BODY).face.charToGlyph
    drawn = "".join(c if ord(c) in glyphs or c.isspace() else f"<U+{ord(c):04X}>" for c in text)
    return drawn.replace("\n", " ")


def _footer(canvas: Any, document: Any) -> None:
    canvas.saveState()
    canvas.setFont(BODY, 6.5)
    canvas.setFillColor(Color(0.35, 0.38, 0.42))
    with canvas.marked(None):
        canvas.drawString(
            _MARGIN, 9 * mm, str(_("{title} · holds no value of any identifier", title=document.title))
        )
        canvas.drawRightString(A4[0] - _MARGIN, 9 * mm, str(document.page))
    canvas.restoreState()
