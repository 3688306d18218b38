"""Why a page is unread after the recogniser failed: an exit status in, a reason and a detail out."""

from __future__ import annotations

import signal

from phiscan.errors import ExtractError
from phiscan.model import FailReason
from phiscan.sandbox.ocr.messages import NO_MEMORY, NOT_READ

OCR_NO_MEMORY = "OCR needs more memory than its process may have"


def failure(status: int) -> ExtractError:
    """Return the reason why a page is unread, by the exit status of the reading that ended without words.

    >>> str(failure(-11)), str(failure(1))
    ('crashed: OCR ended by SIGSEGV', 'corrupt: OCR cannot read the picture')
    """
    if status in {NO_MEMORY, -signal.SIGKILL}:
        return ExtractError(FailReason.OUT_OF_MEMORY, OCR_NO_MEMORY)
    if status == NOT_READ:
        return ExtractError(FailReason.CORRUPT, "OCR cannot read the picture")
    cause = f"by {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    return ExtractError(FailReason.CRASHED, f"OCR ended {cause}")
