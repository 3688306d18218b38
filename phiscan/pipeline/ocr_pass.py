"""The second pass of a scan: pictures and scanned pages of the files whose text was read before.

The files most likely to hold PHI come first: those beside a referred file, then those whose name says that
they are scans or letters, then documents before photographs. What the budget does not cover waits for the
next scan.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from phiscan.model import OCR_PENDING, FileResult, Outcome, Referral, SourceFile

OcrMode = Literal["after", "now", "never"]
MODES: tuple[OcrMode, ...] = ("after", "now", "never")

_WORDS = re.compile(
    rb"scan|fax|letter|chart|referral|(?<![a-z])lab(?![a-z]{3})|report|result|patient|discharge|consult|record"
    rb"|requisition|lettre|dossier|rapport|ordonnance",
    re.IGNORECASE,
)
_DOCUMENTS = (b".pdf", b".tif", b".tiff", b".docx", b".doc", b".pptx", b".eml", b".msg")


@dataclass(frozen=True, slots=True)
class OcrCounts:
    """What the second pass of a scan did, and what still waits for it."""

    mode: OcrMode = "after"
    n_read: int = 0  # files read by the second pass of this run
    seconds: float = 0.0  # wall-clock seconds of it
    budget_s: float | None = None  # None = no limit
    n_waiting: int = 0  # files
    n_waiting_parts: int = 0  # pages and pictures in them


def is_pending(result: FileResult) -> bool:
    """Tell a result that OCR may still change; a referred file needs no more pages."""
    if result.referral is Referral.REFERRED and not result.by_name:
        return False
    if result.outcome is Outcome.FAILED and result.detail == OCR_PENDING:
        return True
    return any(part.detail == OCR_PENDING for part in result.unread)


def text_only(sources: Iterable[SourceFile]) -> Iterator[SourceFile]:
    """Yield the files with the mark that their pictures are left for later."""
    return (replace(source, without_ocr=True) for source in sources)


def in_order(sources: Collection[SourceFile], folders: Collection[tuple[bytes, bytes]]) -> list[SourceFile]:
    """Return the files in the order of the second pass; ``folders``: root and folder of referred files."""

    def place(source: SourceFile) -> tuple[bool, bool, bool, bytes, bytes]:
        folder, _, name = source.path.rpartition(b"/")
        return (
            (source.root, folder) not in folders,
            not _WORDS.search(name),
            not name.lower().endswith(_DOCUMENTS),
            source.root,
            source.path,
        )

    return [replace(one, without_ocr=False, duplicates=()) for one in sorted(sources, key=place)]


def within_budget(
    sources: Iterable[SourceFile], budget_s: float | None, clock: Callable[[], float] = time.monotonic
) -> Iterator[SourceFile]:
    """Yield files until the budget of wall-clock seconds is used up; what was begun is finished."""
    started = clock()
    for source in sources:
        if budget_s is not None and clock() - started >= budget_s:
            return
        yield source
