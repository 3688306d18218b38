"""Which optional readers this machine has; they decide what a scan can read."""

from __future__ import annotations

import shutil

OPTIONAL_READERS = ("tesseract", "catdoc", "catppt", "readpst")


def available_readers() -> tuple[str, ...]:
    """Return the names of the optional programs that are installed."""
    return tuple(name for name in OPTIONAL_READERS if shutil.which(name))
