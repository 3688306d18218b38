"""Output of a scan about its second pass, the OCR of pictures and scanned pages."""

from __future__ import annotations

from typing import Any

from phiscan.pipeline.ocr_pass import OcrCounts


def ocr_json(counts: OcrCounts) -> dict[str, Any]:
    """Return the object ``ocr`` of ``phiscan scan --json``."""
    return {
        "mode": counts.mode,
        "files_read": counts.n_read,
        "seconds": round(counts.seconds, 3),
        "budget_s": counts.budget_s,
        "files_waiting": counts.n_waiting,
        "parts_waiting": counts.n_waiting_parts,
    }


def ocr_lines(counts: OcrCounts) -> list[str]:
    """Return the lines of the table; none if OCR read nothing and nothing waits for it.

    >>> ocr_lines(OcrCounts(n_waiting=2, n_waiting_parts=30))
    ['waiting for OCR                2   files with 30 pages and pictures; the next scan reads them']
    """
    lines = []
    if counts.n_read:
        lines.append(_line("read by OCR", counts.n_read, f"files, in {counts.seconds:,.0f} s after the text"))
    if counts.n_waiting:
        note = f"files with {counts.n_waiting_parts:,} pages and pictures; the next scan reads them"
        lines.append(_line("waiting for OCR", counts.n_waiting, note))
    return lines


def _line(label: str, count: int, note: str) -> str:
    return f"{label:<22}{count:>10,}   {note}"
