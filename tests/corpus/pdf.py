"""PDF files from entries (with text, filled forms, encrypted) and pictures of pages (scans)."""

import io
from xml.sax.saxutils import escape

from PIL import Image, ImageDraw, ImageFont
from pypdf import PdfReader, PdfWriter
from pypdf.generic import ArrayObject, ByteStringObject
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Flowable, Paragraph, Preformatted, SimpleDocTemplate, Spacer, Table, TableStyle

from tests.corpus.books import Entry, Part
from tests.corpus.office import blocks, cells

PASSWORD = "frost-lantern-27"  # stands in sample_truth/README.md: the encrypted file is a demonstration
_FONTS = {
    "serif": ("Times-Roman", "Times-Bold"),
    "sans": ("Helvetica", "Helvetica-Bold"),
    "mono": ("Courier", "Courier-Bold"),
}
_PAGE = (1240, 1604)  # 150 dots per inch


def _flowables(part: Part, entry: Entry) -> list[Flowable]:
    plain, bold = _FONTS[entry.options.get("style", "sans")]
    size = int(entry.options.get("size", "10"))
    text = ParagraphStyle("text", fontName=plain, fontSize=size, leading=size * 1.35, spaceAfter=5)
    heading = ParagraphStyle(
        "heading", parent=text, fontName=bold, fontSize=size + 3, leading=size + 7, spaceBefore=7
    )
    letterhead = ParagraphStyle(
        "letterhead", parent=heading, alignment=TA_CENTER, textColor=colors.HexColor("#1f4e5f")
    )
    bullet = ParagraphStyle("bullet", parent=text, leftIndent=14, bulletIndent=4)
    if entry.options.get("style") == "mono":
        return [
            Preformatted(part.text, ParagraphStyle("mono", fontName=plain, fontSize=size, leading=size * 1.2))
        ]
    flow: list[Flowable] = []
    for kind, lines in blocks(part.raw_lines):
        if kind == "table":
            rows = [[Paragraph(escape(cell), text) for cell in cells(line)] for line in lines]
            grid = TableStyle(
                [("GRID", (0, 0), (-1, -1), 0.4, colors.grey), ("VALIGN", (0, 0), (-1, -1), "TOP")]
            )
            flow.append(Table(rows, style=grid, hAlign="LEFT"))
        elif kind == "heading":
            flow.append(Paragraph(escape(lines[0][2:]), heading))
        elif kind == "bullet":
            flow.append(Paragraph(escape(lines[0][2:]), bullet, bulletText="\u2022"))
        elif not lines[0].strip():
            flow.append(Spacer(1, size * 0.7))
        else:
            flow.append(Paragraph(escape(lines[0]), letterhead if part.name == "header" else text))
    return flow


def make_pdf(entry: Entry) -> bytes:
    """Write a PDF with text, or one of the special kinds that ``kind=`` names."""
    kind = entry.options.get("kind", "text")
    if kind == "form":
        return _form(entry)
    if kind == "scan":
        return _scanned_pdf(entry)
    target = io.BytesIO()
    margin = int(entry.options.get("margin", "60"))
    template = SimpleDocTemplate(
        target,
        pagesize=letter,
        invariant=1,
        leftMargin=margin,
        rightMargin=margin,
        topMargin=54,
        bottomMargin=54,
    )
    template.build([flowable for part in entry.parts for flowable in _flowables(part, entry)])
    return _encrypted(target.getvalue()) if kind == "encrypted" else target.getvalue()


def _encrypted(payload: bytes) -> bytes:
    writer = PdfWriter(PdfReader(io.BytesIO(payload)))
    # The first identifier goes into the key, the second pypdf draws at random: both fixed.
    identifier = ArrayObject([ByteStringObject(b"phiscan-corpus-1"), ByteStringObject(b"phiscan-corpus-1")])
    writer._ID = identifier
    writer.encrypt(PASSWORD, algorithm="RC4-128")
    writer._ID = identifier
    target = io.BytesIO()
    writer.write(target)
    return target.getvalue()


def _form(entry: Entry) -> bytes:
    """Labels are page text, values live only in the form's fields."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=letter, invariant=1)
    height = letter[1] - 60
    for line in entry.parts[0].raw_lines:
        if line.startswith("|"):
            label, value = cells(line)
            canvas.setFont("Helvetica", 10)
            canvas.drawString(50, height, label)
            canvas.acroForm.textfield(
                name=label.replace(" ", "_"),
                value=value,
                x=220,
                y=height - 6,
                width=320,
                height=20,
                fontSize=9,
                borderWidth=1,
                forceBorder=True,
                fieldFlags="",
            )
            height -= 32
        else:
            canvas.setFont(
                "Helvetica-Bold" if line.startswith("# ") else "Helvetica", 13 if line.startswith("# ") else 9
            )
            canvas.drawString(50, height, line.removeprefix("# "))
            height -= 24
    canvas.showPage()
    canvas.save()
    return target.getvalue()


def _page_image(text: str) -> Image.Image:
    """Draw a page, slightly turned and speckled, as an office scanner gives it."""
    image = Image.new("L", _PAGE, 250)
    draw = ImageDraw.Draw(image)
    font = ImageFont.load_default(26)
    for number, line in enumerate(text.split("\n")):
        draw.text((110, 110 + number * 38), line, fill=30, font=font)
    image = image.rotate(0.4, fillcolor=250, resample=Image.Resampling.BICUBIC)
    for number in range(60):
        image.putpixel((37 * number % _PAGE[0], 211 * number % _PAGE[1]), 90)
    return image.quantize(16).convert("L")


def make_png(entry: Entry) -> bytes:
    """Write a scanned page as a picture."""
    target = io.BytesIO()
    _page_image(entry.parts[0].text).quantize(16).save(target, "PNG", optimize=True, dpi=(150, 150))
    return target.getvalue()


def _scanned_pdf(entry: Entry) -> bytes:
    """Write a PDF that holds nothing but a picture of the page."""
    target = io.BytesIO()
    canvas = Canvas(target, pagesize=letter, invariant=1)
    image = _page_image(entry.parts[0].text).convert("1", dither=Image.Dither.NONE)
    canvas.drawInlineImage(image, 0, 0, letter[0], letter[1])
    canvas.showPage()
    canvas.save()
    return target.getvalue()
