"""What other programs and libraries read in a file: the references of the measured recall.

The first is a program or a library that knows the format well: pdftotext (poppler), LibreOffice's
conversion, python-oxmsg, Python's own mail and HTML parsers. The second, where there is one that phiscan does
not use either, is of other authors: pypdf, openpyxl, xlrd, and the text nodes of a package's paragraphs.
"""

from __future__ import annotations

import contextlib
import email
import email.policy
import mailbox
import subprocess
import xml.etree.ElementTree as ET
import zipfile
from collections import defaultdict
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import oxmsg

WRITER = {".doc", ".docx", ".docm", ".odt", ".rtf"}
CALC = {".xls", ".xlsx", ".xlsm", ".xlsb", ".ods"}
IMPRESS = {".ppt", ".pptx", ".odp"}


def office(files: list[Path], target: str, out: Path) -> None:
    """Convert files with LibreOffice, one call each: one that hangs costs only itself.

    What lies in ``out`` from an earlier run is not made again; a file that gave nothing is not tried again.
    """
    for file in files:
        tried = out / f"{file.name}.tried"
        if tried.exists():
            continue
        command = ["soffice", "--headless", f"-env:UserInstallation=file://{out}/profile"]
        command += ["--convert-to", target, "--outdir", str(out / "converted"), str(file)]
        try:
            subprocess.run(command, capture_output=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            continue
        tried.touch()


def pdf_text(file: Path) -> str:
    """Return what pdftotext prints."""
    done = subprocess.run(["pdftotext", "-q", str(file), "-"], capture_output=True, timeout=60, check=False)
    return done.stdout.decode("utf-8", "replace")


class _PageText(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.pieces: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 (the parser's signature)
        self.hidden += tag in ("script", "style", "noscript", "template")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("script", "style", "noscript", "template")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data)


def page_text(text: str) -> str:
    """Return the text nodes that Python's own HTML parser sees."""
    parser = _PageText()
    parser.feed(text)
    return " ".join(parser.pieces)


def mail_text(data: bytes) -> str:
    """Return the text bodies that Python's modern mail interface gives."""
    pieces = []
    for part in email.message_from_bytes(data, policy=email.policy.default).walk():
        if part.get_content_maintype() == "text":
            try:
                body = part.get_content()
            except (LookupError, ValueError, AssertionError):
                continue
            if isinstance(body, str):
                pieces.append(page_text(body) if part.get_content_subtype() == "html" else body)
    return "\n".join(pieces)


def mailbox_text(file: Path) -> str:
    """Return the text bodies of every message of a mailbox."""
    return "\n".join(mail_text(bytes(message)) for message in mailbox.mbox(file, create=False))


def outlook_text(file: Path) -> str:
    """Return what python-oxmsg gives: subject, sender, recipients, bodies."""
    message = oxmsg.Message.load(str(file))
    people = [f"{person.name} {person.email_address}" for person in message.recipients]
    html = page_text(message.html_body or "") if not message.body else ""
    return "\n".join([message.subject, message.sender or "", *people, message.body or html])


def book_text(file: Path) -> str:
    """Return the text of the pages of an EPUB."""
    with zipfile.ZipFile(file) as book:
        names = [name for name in book.namelist() if name.endswith((".xhtml", ".html", ".htm"))]
        return "\n".join(page_text(book.read(name).decode("utf-8", "replace")) for name in names)


def delimited_text(file: Path) -> str:
    """Return the characters of a delimited file, by its byte-order mark or as UTF-8."""
    data = file.read_bytes()
    return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig", "replace")


OTHERS: dict[str, Callable[[Path], str]] = {
    ".eml": lambda file: mail_text(file.read_bytes()),
    ".mbox": mailbox_text,
    ".msg": outlook_text,
    ".epub": book_text,
    ".csv": delimited_text,
}


def references(folder: Path, out: Path) -> dict[Path, str]:
    """Return the independent text of every file that some reference reads."""
    files = sorted(path for path in folder.iterdir() if path.is_file())
    by_kind: dict[str, list[Path]] = defaultdict(list)
    for file in files:
        ending = file.suffix.lower()
        kind = (
            "writer"
            if ending in WRITER
            else "calc"
            if ending in CALC
            else "impress"
            if ending in IMPRESS
            else ""
        )
        by_kind[kind].append(file)
    office(by_kind["writer"], "txt:Text (encoded):UTF8", out)
    office(
        by_kind["calc"], "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1", out
    )
    office(by_kind["impress"], "pdf", out)
    texts: dict[Path, str] = {}
    converted = out / "converted"
    for file in files:
        ending = file.suffix.lower()
        if ending in WRITER and (made := converted / f"{file.stem}.txt").is_file():
            texts[file] = made.read_text("utf-8", "replace")
        elif ending in CALC:
            # glob.escape is not needed: stems of the corpus hold no brackets.
            parts = [
                p for p in converted.iterdir() if p.name.startswith(f"{file.stem}-") and p.suffix == ".csv"
            ]
            if parts:
                texts[file] = "\n".join(p.read_text("utf-8", "replace") for p in sorted(parts))
        elif ending in IMPRESS and (made := converted / f"{file.stem}.pdf").is_file():
            texts[file] = pdf_text(made)
        elif ending == ".pdf":
            texts[file] = pdf_text(file)
        elif ending in (".html", ".htm"):
            texts[file] = page_text(file.read_text("utf-8", "replace"))
        elif ending in OTHERS:
            with contextlib.suppress(Exception):  # the reference does not read this file
                texts[file] = OTHERS[ending](file)
    return texts


def pypdf_text(file: Path) -> str:
    """Return what pypdf reads on the pages of a PDF."""
    import pypdf  # noqa: PLC0415 (slow to import)

    return "\n".join(page.extract_text() for page in pypdf.PdfReader(file).pages)


def openpyxl_text(file: Path) -> str:
    """Return the cell values that openpyxl reads."""
    import openpyxl  # noqa: PLC0415 (slow to import)

    book = openpyxl.load_workbook(file, data_only=True)
    return "\n".join(
        str(value)
        for sheet in book.worksheets
        for row in sheet.iter_rows(values_only=True)
        for value in row
        if value is not None
    )


def xlrd_text(file: Path) -> str:
    """Return the cell values that xlrd reads; the codes of errors as Excel shows them."""
    import xlrd  # noqa: PLC0415 (slow to import)

    pieces = []
    for sheet in xlrd.open_workbook(file, logfile=open("/dev/null", "w")).sheets():  # noqa: SIM115, PTH123 (its log)
        for row in sheet.get_rows():
            for cell in row:
                match cell.ctype:
                    case xlrd.XL_CELL_ERROR:
                        pieces.append(xlrd.error_text_from_code.get(cell.value, ""))
                    case xlrd.XL_CELL_BOOLEAN:
                        pieces.append(str(bool(cell.value)))
                    case _:
                        pieces.append(str(cell.value))
    return "\n".join(pieces)


PARAGRAPHS = {"p", "h"}  # of WordprocessingML, DrawingML and OpenDocument
PARTS = ("word/", "ppt/", "content.xml", "styles.xml")


def package_text(file: Path) -> str:
    """Return the text of every paragraph of a zipped package, its runs joined."""
    pieces = []
    with zipfile.ZipFile(file) as package:
        for name in package.namelist():
            if name.startswith(PARTS) and name.endswith(".xml"):
                root = ET.fromstring(package.read(name))  # noqa: S314 (known files)
                found = (element for element in root.iter() if element.tag.rpartition("}")[2] in PARAGRAPHS)
                pieces += ["".join(_texts(element)) for element in found]
    return "\n".join(pieces)


def _texts(paragraph: ET.Element) -> list[str]:
    pieces = [paragraph.text or ""]
    for child in paragraph:
        name = child.tag.rpartition("}")[2]
        if name in {"tab", "br", "cr", "s", "line-break"}:
            pieces.append(" ")
        elif name not in PARAGRAPHS:  # a paragraph within is one of its own
            pieces += _texts(child)
        pieces.append(child.tail or "")
    return pieces


SECONDS: dict[str, Callable[[Path], str]] = {
    ".pdf": pypdf_text,
    ".xlsx": openpyxl_text,
    ".xlsm": openpyxl_text,
    ".xls": xlrd_text,
    **dict.fromkeys((".docx", ".docm", ".pptx", ".odt", ".odp", ".ods"), package_text),
}


def second_text(file: Path) -> str | None:
    """Return what the second reader of a format reads; None without one, and where it fails."""
    reader = SECONDS.get(file.suffix.lower())
    if reader is None:
        return None
    with contextlib.suppress(Exception):  # it does not read this file
        return reader(file)
    return None
