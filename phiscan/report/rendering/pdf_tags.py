"""Tags of a PDF: the tree of headings, paragraphs, lists, tables and pictures for screen readers.

reportlab writes no tags. Each piece of content is enclosed in numbered marks of its page; the tree refers to
these numbers, and is written into the catalog before the document is saved (ISO 32000-1, 14.7).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from reportlab.pdfbase.pdfdoc import PDFArray, PDFDictionary, PDFName, PDFPage, PDFString
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, Table


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


class TaggedParagraph(Paragraph):  # type: ignore[misc]
    """A paragraph whose text belongs to an element of the tree, on one or several pages.

    ``once``: repeated as the head of a table on its next page, it is decoration.
    """

    node: Node | None = None
    once = False

    def split(self, width: float, height: float) -> list[Any]:
        """Split it; each part belongs to the same element."""
        parts: list[Any] = super().split(width, height)
        for part in parts:
            part.node, part.once = self.node, self.once
        return parts

    def drawOn(self, canvas: Any, x: float, y: float, _sW: float = 0) -> None:  # noqa: N802, N803 (reportlab's)
        """Draw it between its marks."""
        again = self.once and self.node is not None and bool(self.node.content)
        with canvas.marked(None if again else self.node):
            super().drawOn(canvas, x, y, _sW)


class TaggedTable(Table):  # type: ignore[misc]
    """A table whose lines are decoration; its cells are tagged paragraphs."""

    def _drawLines(self) -> None:  # noqa: N802 (reportlab's)
        with self.canv.marked(None):
            super()._drawLines()


class TaggedPicture(Flowable):  # type: ignore[misc]
    """A drawing that is one picture of the tree."""

    def __init__(self, drawing: Any, node: Node) -> None:
        super().__init__()
        self._drawing, self._node = drawing, node

    def wrap(self, width: float, height: float) -> tuple[float, float]:
        """Return its size."""
        size: tuple[float, float] = self._drawing.wrap(width, height)
        return size

    def drawOn(self, canvas: Any, x: float, y: float, _sW: float = 0) -> None:  # noqa: N802, N803 (reportlab's)
        """Draw it between its marks."""
        with canvas.marked(self._node):
            self._drawing.drawOn(canvas, x, y, _sW)
