"""Whether each reader is installed and works: libraries are loaded, OCR reads a small sample."""

from __future__ import annotations

import importlib
import io
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from phiscan.config import Limits
from phiscan.extract.archives import libarchive
from phiscan.extract.ocr import recognition as ocr
from phiscan.extract.reading import extract_bytes
from phiscan.sandbox.fork_server import parent_of_groups
from phiscan.sandbox.isolation import LOST, Layer, probe

# Package, its module, what it reads, what is lost without it, whether it is optional.
_LIBRARIES = (
    ("pypdfium2", "pypdfium2", "PDF", "PDF files", False),
    ("python-calamine", "python_calamine", "workbooks", "XLSX, XLS, XLSB, ODS files", False),
    ("lxml", "lxml.etree", "DOCX, PPTX, OpenDocument, XML", "office documents and XML", False),
    ("selectolax", "selectolax.lexbor", "HTML, HTML mail", "web pages and HTML mail", False),
    ("py7zr", "py7zr", "7-Zip archives", "7Z files", False),
    ("pycdlib", "pycdlib", "disc images", "ISO files", False),
    ("pydicom", "pydicom", "DICOM headers", "DICOM files", False),
    ("zxing-cpp", "zxingcpp", "QR and bar codes in pictures", "codes in pictures: not read", False),
    ("msoffcrypto-tool", "msoffcrypto", "encrypted office documents", "encrypted documents", False),
    ("tesserocr", "tesserocr", "pictures, in less time", "pictures: by the program tesseract", True),
    ("pyreadstat", "pyreadstat", "SPSS, SAS, Stata files", "SPSS, SAS, Stata files: runs of text", True),
    ("pyarrow", "pyarrow", "Parquet, Arrow, ORC, iWork, Snappy", "Parquet, Arrow, ORC: runs of text", True),
)
# Program, its flag for the version, what it reads, what is lost without it.
_PROGRAMS = (
    ("tesseract", "--version", "text in pictures and scanned pages (OCR)", "pictures: reported as needs_ocr"),
    ("readpst", "-V", "Outlook stores (PST)", "Outlook stores (PST): reported as unsupported"),
    ("mdb-tables", "--version", "Access databases", "Access databases: runs of text"),
    ("mdb-export", "--version", "Access databases", "Access databases: runs of text"),
    ("wpd2text", "--version", "WordPerfect documents", "WordPerfect documents: runs of text"),
    ("wps2text", "--version", "Works and Write documents", "Works and Write documents: runs of text"),
)
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
    has_archives, has_osd = libarchive.library() is not None, "osd" in ocr.installed_languages()
    turned = ("tesseract osd", "which way up a scanned page is", has_osd, has_osd, "")
    archives = "RAR, CAB, AR, CPIO, LHA archives, ZIP in AES"
    others = ("libarchive", archives, has_archives, has_archives, libarchive.version())
    return [
        *(_library(*library) for library in _LIBRARIES),
        *(_program(*program) for program in _PROGRAMS),
        ReaderCheck(*turned, "pages that lie on their side take up to four times as long", optional=True),
        ReaderCheck(*others, f"{archives}: unsupported, or encrypted", optional=True),
        *_isolation(),
    ]


def _library(package: str, module: str, reads: str, lost: str, optional: bool) -> ReaderCheck:
    try:
        version, found = metadata.version(package), True
    except metadata.PackageNotFoundError:
        version, found = "", False
    works = found and _try(lambda: importlib.import_module(module) is not None)
    return ReaderCheck(package, reads, found, works, version, lost, optional=optional)


def _program(name: str, flag: str, reads: str, lost: str) -> ReaderCheck:
    """Return the check of a program, which works where it says its version; OCR must read a sample."""
    found = shutil.which(name) is not None
    version = _version(name, flag) if found else ""
    works = found and (_try(reads_picture) if name == "tesseract" else bool(version))
    return ReaderCheck(name, reads, found, works, version, lost, optional=True)


def reads_picture() -> bool:
    """Draw words and read them by OCR."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 (heavy)

    image = Image.new("L", (700, 200), 255)
    ImageDraw.Draw(image).text((40, 60), "phiscan reads this", fill=0, font=ImageFont.load_default(size=48))
    stream = io.BytesIO()
    image.save(stream, "PNG")
    return "reads" in extract_bytes(stream.getvalue(), "sample.png", Limits(ocr_s=_TIMEOUT_S)).text


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


def _try(attempt: Callable[[], bool]) -> bool:
    try:
        return attempt()
    except Exception:  # noqa: BLE001 (whatever goes wrong, the answer is that it does not work)
        return False


def _version(name: str, flag: str) -> str:
    try:
        done = subprocess.run(
            (name, flag), capture_output=True, timeout=_TIMEOUT_S, check=False, stdin=subprocess.DEVNULL
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = (done.stdout + done.stderr).decode("utf-8", "replace").strip().splitlines()
    return lines[0].strip()[:60] if lines else ""
