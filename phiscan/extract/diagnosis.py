"""Trying each reader on a small sample made on the fly."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.confinement import network_isolation
from phiscan.extract.reading import extract_bytes

_WORD = "phiscan"
_TIMEOUT_S = 20


@dataclass(frozen=True, slots=True)
class ReaderCheck:
    """One part: what it reads, whether it is here, whether it read the sample."""

    name: str
    reads: str
    found: bool
    works: bool
    version: str
    lost_without: str
    optional: bool


def diagnose() -> list[ReaderCheck]:
    """Return a check for every reader: the libraries that must be there, then the optional programs."""
    return [
        _library("pypdfium2", "PDF", _reads_pdf, "PDF files"),
        _library("python-calamine", "workbooks", _reads_workbook, "XLSX, XLS, XLSB, ODS files"),
        _library("lxml", "PPTX, OpenDocument, XML", _reads_xml, "office documents and XML"),
        _library("python-docx", "DOCX, DOCM, DOTX", _reads_word, "the trial of the Word reader"),
        _library("selectolax", "HTML, HTML mail", _reads_html, "web pages and HTML mail"),
        _program(
            "tesseract",
            "--version",
            "text in pictures and scanned pages (OCR)",
            _reads_picture,
            "scanned PDF, PNG, JPEG, TIFF: reported as needs_ocr",
        ),
        _program("catdoc", "-V", "damaged DOC files", _runs("catdoc"), "damaged DOC files: unsupported"),
        _program("catppt", "-V", "damaged PPT files", _runs("catppt"), "damaged PPT files: unsupported"),
        _program(
            "readpst",
            "-V",
            "Outlook stores (PST)",
            _reports_version("readpst", "-V"),
            "PST files: reported as unsupported",
        ),
        _network(),
    ]


def _library(package: str, reads: str, attempt: Callable[[], bool], lost: str) -> ReaderCheck:
    try:
        version, found = metadata.version(package), True
    except metadata.PackageNotFoundError:
        version, found = "", False
    return ReaderCheck(package, reads, found, found and _try(attempt), version, lost, optional=False)


def _program(name: str, flag: str, reads: str, attempt: Callable[[], bool], lost: str) -> ReaderCheck:
    found = shutil.which(name) is not None
    version = _version(name, flag) if found else ""
    return ReaderCheck(name, reads, found, found and _try(attempt), version, lost, optional=True)


def _network() -> ReaderCheck:
    way = network_isolation()
    return ReaderCheck(
        "network isolation",
        "keeps document readers off the network",
        found=True,
        works=way != "audit",
        version=way,
        lost_without="only Python's sockets are refused in workers, not those of C libraries",
        optional=True,
    )


def _try(attempt: Callable[[], bool]) -> bool:
    try:
        return attempt()
    except Exception:  # noqa: BLE001 (whatever goes wrong, the answer is that it does not work)
        return False


def _version(name: str, flag: str) -> str:
    try:
        done = subprocess.run(
            [name, flag], capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
    return lines[0].strip()[:60] if lines else ""


def _text_of(data: bytes, name: str) -> str:
    try:
        return extract_bytes(data, name, Limits(ocr_s=_TIMEOUT_S)).text
    except ExtractError:
        return ""


def _reads_pdf() -> bool:
    import pypdfium2  # noqa: PLC0415 (heavy)

    document = pypdfium2.PdfDocument.new()
    document.new_page(200, 200)
    stream = io.BytesIO()
    document.save(stream)
    with pypdfium2.PdfDocument(stream.getvalue()) as again:
        return len(again) == 1


def _reads_workbook() -> bool:
    import zipfile  # noqa: PLC0415

    stream = io.BytesIO()
    namespace = "urn:oasis:names:tc:opendocument:xmlns:"
    with zipfile.ZipFile(stream, "w") as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr(
            "content.xml",
            f'<o:document-content xmlns:o="{namespace}office:1.0" xmlns:t="{namespace}table:1.0" '
            f'xmlns:x="{namespace}text:1.0"><o:body><o:spreadsheet><t:table t:name="A"><t:table-row>'
            f'<t:table-cell o:value-type="string"><x:p>{_WORD}</x:p></t:table-cell></t:table-row></t:table>'
            "</o:spreadsheet></o:body></o:document-content>",
        )
    return _WORD in _text_of(stream.getvalue(), "sample.ods")


def _reads_xml() -> bool:
    return _WORD in _text_of(f"<a><b>{_WORD}</b></a>".encode(), "sample.xml")


def _reads_word() -> bool:
    """Write a document with python-docx, which is not our reader, and read it with ours."""
    import docx  # noqa: PLC0415 (heavy)

    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = _WORD
    stream = io.BytesIO()
    document.save(stream)
    return _WORD in _text_of(stream.getvalue(), "sample.docx")


def _reads_html() -> bool:
    return _WORD in _text_of(f"<html><p>{_WORD}</p></html>".encode(), "sample.html")


def _reads_picture() -> bool:
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 (heavy)

    image = Image.new("L", (700, 200), 255)
    ImageDraw.Draw(image).text((40, 60), f"{_WORD} reads this", fill=0, font=ImageFont.load_default(size=48))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return "reads" in _text_of(stream.getvalue(), "sample.png")


def _runs(program: str) -> Callable[[], bool]:
    """Legacy formats cannot be made on the fly: the program must start and refuse an empty file calmly."""

    def attempt() -> bool:
        done = subprocess.run(
            [program, os.devnull],
            capture_output=True,
            timeout=_TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        return done.returncode >= 0

    return attempt


def _reports_version(program: str, flag: str) -> Callable[[], bool]:
    return lambda: bool(_version(program, flag))
