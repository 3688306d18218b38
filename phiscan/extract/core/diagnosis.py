"""Trying each reader on a small sample made on the fly."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from phiscan.extract.archives import libarchive
from phiscan.extract.core import samples
from phiscan.extract.ocr import recognition as ocr
from phiscan.sandbox.confinement import network_isolation
from phiscan.sandbox.isolation import LOST, probe
from phiscan.sandbox.ocr.ocr_client import loaded_version

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
        _library("pypdfium2", "PDF", samples.reads_pdf, "PDF files"),
        _library("python-calamine", "workbooks", samples.reads_workbook, "XLSX, XLS, XLSB, ODS files"),
        _library("lxml", "PPTX, OpenDocument, XML", samples.reads_xml, "office documents and XML"),
        _library("python-docx", "DOCX, DOCM, DOTX", samples.reads_word, "the trial of the Word reader"),
        _library("selectolax", "HTML, HTML mail", samples.reads_html, "web pages and HTML mail"),
        _library("py7zr", "7-Zip archives", samples.reads_seven_zip, "7Z files"),
        _library("pycdlib", "disc images", samples.reads_disc_image, "ISO files"),
        _library("pydicom", "DICOM headers", samples.reads_dicom, "DICOM files"),
        _library(
            "zxing-cpp", "QR and bar codes in pictures", samples.reads_code, "codes: detected, not decoded"
        ),
        _library(
            "msoffcrypto-tool",
            "encrypted office documents whose password is listed",
            samples.reads_encrypted_word,
            "encrypted office documents: encrypted",
        ),
        _program(
            "tesseract",
            "--version",
            "text in pictures and scanned pages (OCR)",
            samples.reads_picture,
            "scanned PDF, PNG, JPEG, TIFF, pictures in documents: reported as needs_ocr",
        ),
        _turned_pages(),
        _ocr_process(),
        _program(
            "catdoc", "-V", "damaged DOC files", samples.reads_by_catdoc, "damaged DOC files: unsupported"
        ),
        _program("catppt", "-V", "damaged PPT files", _runs("catppt"), "damaged PPT files: unsupported"),
        _program(
            "readpst",
            "-V",
            "Outlook stores (PST)",
            _reports_version("readpst", "-V"),
            "PST files: reported as unsupported",
        ),
        *(
            _program(name, "-V", "disk images", _reports_version(name, "-V"), "disk images: unsupported")
            for name in ("mmls", "fls", "icat")
        ),
        *(
            _program(
                name, "--version", kinds, _reports_version(name, "--version"), f"{kinds}: runs of text alone"
            )
            for name, kinds in (
                ("mdb-tables", "Access databases"),
                ("mdb-export", "Access databases"),
                ("wpd2text", "WordPerfect documents"),
                ("wps2text", "Works and Write documents"),
            )
        ),
        _library(
            "pyreadstat",
            "SPSS, SAS and Stata files",
            samples.reads_statistics,
            "SPSS, SAS and Stata files: runs of text alone",
            optional=True,
        ),
        _library(
            "pyarrow",
            "Parquet, Arrow and ORC files",
            samples.reads_columns,
            "Parquet, Arrow and ORC files: runs of text alone",
            optional=True,
        ),
        _archive_library(),
        _network(),
        *_isolation(),
    ]


def _archive_library() -> ReaderCheck:
    found = libarchive.library() is not None
    return ReaderCheck(
        "libarchive",
        "RAR, CAB, AR, CPIO, LHA archives, ZIP in AES",
        found,
        found and _try(samples.reads_rar),
        libarchive.version(),
        "RAR, CAB, AR, CPIO, LHA files: unsupported; members of ZIP files in AES: encrypted",
        optional=True,
    )


def _turned_pages() -> ReaderCheck:
    found = "osd" in ocr.installed_languages()
    return ReaderCheck(
        "tesseract osd",
        "which way up a scanned page is",
        found,
        found,
        "",
        "pages that lie on their side take up to four times as long",
        optional=True,
    )


def _ocr_process() -> ReaderCheck:
    version = loaded_version(ocr.languages()) if ocr.languages() else ""
    return ReaderCheck(
        "OCR process",
        "keeps libtesseract loaded between pages, with limits of its own",
        found=bool(version),
        works=bool(version),
        version=version,
        lost_without="each page starts the program tesseract: up to twice the time",
        optional=True,
    )


def _library(
    package: str, reads: str, attempt: Callable[[], bool], lost: str, *, optional: bool = False
) -> ReaderCheck:
    try:
        version, found = metadata.version(package), True
    except metadata.PackageNotFoundError:
        version, found = "", False
    return ReaderCheck(package, reads, found, found and _try(attempt), version, lost, optional=optional)


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


_PURPOSE = {
    "namespaces": "gives workers a network, mounts and shared memory of their own",
    "read_only": "makes every mount read-only for workers",
    "limits": "bounds the processes of workers",
    "no_new_privs": "keeps workers from gaining rights by starting programs",
    "landlock": "keeps workers to the program's own files",
    "user": "keeps workers from running as root",
    "capabilities": "takes the rights of an administrator from workers",
    "seccomp": "refuses workers programs, sockets, signals and mounts",
}


def _isolation() -> list[ReaderCheck]:
    """Return a check for each layer that isolates a worker, as a worker finds it here."""
    return [
        ReaderCheck(
            f"isolation: {layer.name}",
            _PURPOSE[layer.name],
            found=True,
            works=layer.is_on,
            version=layer.detail if layer.is_on else "",
            lost_without=f"{LOST[layer.name]} ({layer.detail})",
            optional=True,
        )
        for layer in probe()
    ]


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
