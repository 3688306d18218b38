"""Files to text: every format, safely, with the way through every container."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from phiscan.extract.core.optional_readers import available_readers
from phiscan.extract.core.version import VERSION

if TYPE_CHECKING:
    from phiscan.extract.core.reading import extract, extract_bytes, identify

__all__ = ["VERSION", "available_readers", "extract", "extract_bytes", "identify"]


def __getattr__(name: str) -> Any:
    """Load the readers when the first file is read: a rescan of what did not change needs none of them."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from phiscan.extract.core import reading  # noqa: PLC0415 (only when a file is read)

    return getattr(reading, name)
