"""Files to text: every format, safely, with the way through every container."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from phiscan.extract.archives import libarchive

if TYPE_CHECKING:
    from phiscan.extract.reading import extract, extract_bytes, identify

# Part of what decides whether a file is read again: raise it whenever the text of some format changes.
VERSION = "23"
__all__ = ["VERSION", "available_readers", "extract", "extract_bytes", "identify"]


def __getattr__(name: str) -> Any:
    """Load the readers when the first file is read: a rescan of what did not change needs none of them."""
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    from phiscan.extract import reading  # noqa: PLC0415 (only when a file is read)

    return getattr(reading, name)


OPTIONAL_READERS = (*("tesseract", "readpst", "mdb-tables", "mdb-export", "wpd2text", "wps2text"),)
OPTIONAL_LIBRARIES = ("pyreadstat", "pyarrow", "tesserocr")


def available_readers() -> tuple[str, ...]:
    """Return the names of the optional programs and libraries that are installed."""
    found = [name for name in OPTIONAL_READERS if shutil.which(name)]
    found += [name for name in OPTIONAL_LIBRARIES if find_spec(name) is not None]
    return (*found, "libarchive") if libarchive.library() is not None else tuple(found)
