"""Whether each reader is installed and works: libraries are loaded, OCR and catdoc read a small sample."""

from __future__ import annotations

import importlib
import io
import os
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract.archives import libarchive
from phiscan.extract.ocr import recognition as ocr
from phiscan.extract.reading import extract_bytes
from phiscan.sandbox.fork_server import parent_of_groups
from phiscan.sandbox.isolation import LOST, Layer, probe

_WORD = "phiscan"
# Package, its module, what it reads, what is lost without it.
_LIBRARIES = (
    ("pypdfium2", "pypdfium2", "PDF", "PDF files"),
    ("python-calamine", "python_calamine", "workbooks", "XLSX, XLS, XLSB, ODS files"),
    ("lxml", "lxml.etree", "DOCX, PPTX, OpenDocument, XML", "office documents and XML"),
    ("selectolax", "selectolax.lexbor", "HTML, HTML mail", "web pages and HTML mail"),
    ("py7zr", "py7zr", "7-Zip archives", "7Z files"),
    ("pycdlib", "pycdlib", "disc images", "ISO files"),
    ("pydicom", "pydicom", "DICOM headers", "DICOM files"),
    ("zxing-cpp", "zxingcpp", "QR and bar codes in pictures", "codes in pictures: not read"),
    (
        "msoffcrypto-tool",
        "msoffcrypto",
        "encrypted office documents whose password is listed",
        "encrypted office documents: encrypted",
    ),
)
_OPTIONAL_LIBRARIES = (
    (
        "tesserocr",
        "tesserocr",
        "pictures, faster than tesseract",
        "pictures: by the program tesseract, in up to 1.4 times the time",
    ),
    ("pyreadstat", "pyreadstat", "SPSS, SAS, Stata files", "SPSS, SAS, Stata files: runs of text alone"),
    (
        "pyarrow",
        "pyarrow",
        "Parquet, Arrow and ORC files, iWork's archives, Snappy",
        "Parquet, Arrow and ORC files: runs of text alone; iWork's archives and Snappy: unsupported",
    ),
)


def reads_picture() -> bool:
    """Draw words and read them by OCR."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 (heavy)

    image = Image.new("L", (700, 200), 255)
    ImageDraw.Draw(image).text((40, 60), f"{_WORD} reads this", fill=0, font=ImageFont.load_default(size=48))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    try:
        return "reads" in extract_bytes(stream.getvalue(), "sample.png", Limits(ocr_s=_TIMEOUT_S)).text
    except ExtractError:
        return False


def reads_by_catdoc() -> bool:
    """Let catdoc read a small RTF: a DOC cannot be made on the fly."""
    from phiscan.extract.office.legacy import external_text  # noqa: PLC0415 (rarely needed)

    return _WORD in external_text("catdoc", rb"{\rtf1\ansi " + _WORD.encode() + b"}")


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


# Program, its flag for the version, what it reads, what is lost without it.
_PROGRAMS = (
    ("readpst", "-V", "Outlook stores (PST)", "reported as unsupported"),
    ("mdb-tables", "--version", "Access databases", "runs of text alone"),
    ("mdb-export", "--version", "Access databases", "runs of text alone"),
    ("wpd2text", "--version", "WordPerfect documents", "runs of text alone"),
    ("wps2text", "--version", "Works and Write documents", "runs of text alone"),
)


def diagnose() -> list[ReaderCheck]:
    """Return a check for every reader: the libraries that must be there, then the optional programs."""
    has_archives, has_osd = libarchive.library() is not None, "osd" in ocr.installed_languages()
    return [
        *(_library(*library) for library in _LIBRARIES),
        _program(
            "tesseract",
            "--version",
            "text in pictures and scanned pages (OCR)",
            "scanned PDF, PNG, JPEG, TIFF, pictures in documents: reported as needs_ocr",
            reads_picture,
        ),
        ReaderCheck(
            "tesseract osd",
            "which way up a scanned page is",
            has_osd,
            has_osd,
            "",
            "pages that lie on their side take up to four times as long",
            optional=True,
        ),
        _program("catdoc", "-V", "damaged DOC files", "damaged DOC files: unsupported", reads_by_catdoc),
        # Its formats cannot be made on the fly: it must start and refuse an empty file calmly.
        _program("catppt", "-V", "damaged PPT files", "damaged PPT files: unsupported", _runs_catppt),
        *(_program(name, flag, kinds, f"{kinds}: {lost}") for name, flag, kinds, lost in _PROGRAMS),
        *(_library(*library, optional=True) for library in _OPTIONAL_LIBRARIES),
        ReaderCheck(
            "libarchive",
            "RAR, CAB, AR, CPIO, LHA archives, ZIP in AES",
            has_archives,
            has_archives,
            libarchive.version(),
            "RAR, CAB, AR, CPIO, LHA files: unsupported; members of ZIP files in AES: encrypted",
            optional=True,
        ),
        *_isolation(),
    ]


def _library(package: str, module: str, reads: str, lost: str, *, optional: bool = False) -> ReaderCheck:
    try:
        version, found = metadata.version(package), True
    except metadata.PackageNotFoundError:
        version, found = "", False
    works = found and _try(lambda: importlib.import_module(module) is not None)
    return ReaderCheck(package, reads, found, works, version, lost, optional=optional)


def _program(
    name: str, flag: str, reads: str, lost: str, attempt: Callable[[], object] | None = None
) -> ReaderCheck:
    """Return the check of a program; without an attempt it works where it says its version."""
    found = shutil.which(name) is not None
    version = _version(name, flag) if found else ""
    works = found and (_try(attempt) if attempt else bool(version))
    return ReaderCheck(name, reads, found, works, version, lost, optional=True)


_PURPOSE = {
    "namespaces": "gives workers a network, mounts and shared memory of their own",
    "read_only": "makes every mount read-only for workers",
    "root_folder": "hides every path from workers but the program's own files",
    "limits": "bounds the processes of workers",
    "no_new_privs": "keeps workers from gaining rights by starting programs",
    "landlock": "keeps workers to the program's own files",
    "user": "keeps workers from running as root",
    "capabilities": "takes the rights of an administrator from workers",
    "seccomp": "allows workers the system calls of readers and no others",
}


def _isolation() -> list[ReaderCheck]:
    """Return a check for each layer that isolates a worker, as one finds it here, and for their cgroup."""
    layers = [(layer, _PURPOSE[layer.name], LOST[layer.name]) for layer in probe()]
    group = Layer("cgroup", parent_of_groups() is not None, "none with the memory controller can be made")
    layers.append((group, "limits the memory of all workers together", "each has a limit of its own"))
    return [
        ReaderCheck(
            f"isolation: {layer.name}",
            purpose,
            found=True,
            works=layer.is_on,
            version=layer.detail if layer.is_on and layer is not group else "",
            lost_without=f"{lost} ({layer.detail})",
            optional=True,
        )
        for layer, purpose, lost in layers
    ]


def _try(attempt: Callable[[], object]) -> bool:
    try:
        return bool(attempt())
    except Exception:  # noqa: BLE001 (whatever goes wrong, the answer is that it does not work)
        return False


def _version(name: str, flag: str) -> str:
    try:
        done = _run(name, flag)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
    return lines[0].strip()[:60] if lines else ""


def _runs_catppt() -> bool:
    return _run("catppt", os.devnull).returncode >= 0


def _run(*command: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        command, capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
    )
