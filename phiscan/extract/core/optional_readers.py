"""Which optional readers this machine has; they decide what a scan can read."""

from __future__ import annotations

import shutil
from importlib.util import find_spec

from phiscan.extract.archives import libarchive

OPTIONAL_READERS = (
    *("tesseract", "catdoc", "catppt", "readpst", "mmls", "fls", "icat"),
    *("mdb-tables", "mdb-export", "wpd2text", "wps2text"),
)
OPTIONAL_LIBRARIES = ("pyreadstat", "pyarrow", "tesserocr")


def available_readers() -> tuple[str, ...]:
    """Return the names of the optional programs and libraries that are installed."""
    found = [name for name in OPTIONAL_READERS if shutil.which(name)]
    found += [name for name in OPTIONAL_LIBRARIES if find_spec(name) is not None]
    return (*found, "libarchive") if libarchive.library() is not None else tuple(found)
