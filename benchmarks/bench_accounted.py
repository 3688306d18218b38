"""Count, by format, how many files are fully accounted for: the table of docs/reference/formats.md.

Run: .venv/bin/python -m benchmarks.bench_accounted FOLDER...
A file is fully accounted for when it is read, nothing of it is listed as unread, and the account of its
bytes finds no text that was not given. Pictures are left for OCR, as in the first pass of a scan, and
counted apart.
"""

from __future__ import annotations

import os
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract
from phiscan.extract.core.file_type import sniff
from phiscan.extract.databases.named import KINDS
from phiscan.model import OCR_PENDING, FailReason, SourceFile, UnreadPart

NAMES = {
    "application/pdf": "PDF",
    "application/msword": "DOC",
    "application/vnd.ms-excel": "XLS",
    "application/vnd.ms-powerpoint": "PPT",
    "application/vnd.ms-outlook": "MSG",
    "application/vnd.ms-outlook-pst": "PST",
    "application/rtf": "RTF",
    "application/epub+zip": "EPUB",
    "application/zip": "ZIP",
    "message/rfc822": "mail",
    "application/mbox": "mail",
    "text/html": "HTML",
    "text/xml": "XML",
    "text/csv": "CSV",
    "text/plain": "text",
}
OUTCOMES = ("fully", "OCR", "listed", "left over", "encrypted", "not read")
# Phrases in the account for text that no extractor returned.
LEFT_OVER = ("are not read", "is not read", "are not decoded", "is not decoded", "no text and no file")


def format_of(media_type: str) -> str:
    """Return the name of a format as the table has it."""
    known = NAMES.get(media_type) or KINDS.get(media_type)
    if known:
        return known
    if "openxmlformats" in media_type or media_type.startswith("application/vnd.ms-excel.sheet"):
        return "DOCX, XLSX, PPTX, XLSB"
    if "opendocument" in media_type:
        return "OpenDocument"
    return "pictures" if media_type.startswith("image/") else "other"


def outcome_of(path: Path) -> str:
    """Read a file and return its outcome, one of ``OUTCOMES``."""
    source = SourceFile.of(os.fsencode(path.parent), os.fsencode(path.name), path.lstat())
    try:
        unread: Iterable[UnreadPart] = extract(source, Limits(ocr_s=0)).unread
    except ExtractError as error:
        if error.reason == FailReason.ENCRYPTED:
            return "encrypted"
        return "OCR" if error.detail == OCR_PENDING else "not read"
    rest = [part for part in unread if part.detail != OCR_PENDING]
    if any(part.detail.endswith(LEFT_OVER) for part in rest):
        return "left over"
    if rest:
        return "listed"
    return "OCR" if unread else "fully"


def main() -> None:
    """Print the table of all files in the folders."""
    table: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for folder in map(Path, sys.argv[1:]):
        for path in sorted(path for path in folder.iterdir() if path.is_file()):
            outcome = outcome_of(path)
            table[format_of(sniff(path.read_bytes(), path.name))][outcome] += 1
            if outcome in ("left over", "not read"):
                print(path, outcome, file=sys.stderr)
    print(
        "| format | files | fully accounted for | but for pictures, left for OCR | parts listed "
        "| text left over | encrypted | not read, and said |"
    )
    print("| --- |" + " --: |" * 7)
    rows = sorted(table.items(), key=lambda row: -row[1].total())
    rows.append(("all", sum((counts for _, counts in rows), Counter[str]())))
    for name, counts in rows:
        cells = (counts.total(), *(counts[outcome] for outcome in OUTCOMES))
        print(f"| {name} | " + " | ".join(str(cell or "") for cell in cells) + " |")


if __name__ == "__main__":
    main()
