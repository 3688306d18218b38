"""Requests and replies of the OCR process: JSON with typed fields; the picture comes as a descriptor."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, TypeVar

from phiscan.model.plain_values import dumps, from_plain, to_plain

MOST_REQUEST_BYTES = 4096
MOST_REPLY_BYTES = 64 * 1024**2
JOBS = frozenset({"ocr", "orientation"})
# Exit statuses of a reading, as a program would have them.
OK, NOT_READ, NO_MEMORY = 0, 1, 12

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OcrRequest:
    """One reading of the picture whose descriptor comes with it."""

    job: str
    seconds: float  # of processor time


@dataclass(frozen=True, slots=True)
class OcrReply:
    """The status of a reading, and what the program ``tesseract`` would have written."""

    status: int
    output: str = field(default="", repr=False)


def pack(message: Any) -> bytes:
    """Return a message as bytes."""
    return dumps(to_plain(type(message), message)).encode()


def unpack(kind: type[T], data: bytes) -> T:
    """Return the message of a type from what ``pack`` made.

    Raises:
        ValueError: it is none.
    """
    try:
        message: T = from_plain(kind, json.loads(data))
    except (TypeError, ValueError, OverflowError, RecursionError):
        text = f"not a message of type {kind.__name__}"
        raise ValueError(text) from None
    return message
