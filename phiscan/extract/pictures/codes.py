"""QR and bar codes in a picture, by zxing-cpp; without it a QR code is detected by its finder patterns."""

from __future__ import annotations

from typing import Any

import numpy as np

from phiscan.extract.core.content import Sink
from phiscan.model import FailReason

_MOST_CODES = 64
_LARGE_SIDE = 2_200  # pixels; half as many do for a code that is scanned with its page
_MOST_PIXELS = 40_000_000
_RATIO = (1.0, 1.0, 3.0, 1.0, 1.0)  # dark and light runs through the eye of a QR code
_ALIKE = 1.3  # the largest of the eyes in a row to the smallest
_TOLERANCE = 0.5  # of a module
_MIN_EYES = 3  # rows of the picture, at the top and at the bottom of the same eye
_DARK = 128


def read_codes(image: Any, place: str, sink: Sink) -> None:
    """Add the text of each code in a PIL image, ``#code``; one that cannot be decoded is recorded."""
    if image.width * image.height > _MOST_PIXELS:
        sink.fail(place, FailReason.TOO_LARGE, f"codes in more than {_MOST_PIXELS} pixels are not looked for")
        return
    found = _decoded(image)
    if found is None:
        if has_eyes(image):
            sink.fail(
                place, FailReason.UNSUPPORTED, "a QR code that is not decoded: zxing-cpp is not installed"
            )
        return
    if len(found) > _MOST_CODES:
        sink.fail(
            place, FailReason.TOO_LARGE, f"{len(found) - _MOST_CODES} of {len(found)} codes are not read"
        )
    texts = [text for text, _ in found[:_MOST_CODES] if text.strip()]
    sink.add("\n".join(dict.fromkeys(texts)), f"{place}/code" if "#" in place else f"{place}#code")
    if any(not is_whole for _, is_whole in found) and has_eyes(image):
        sink.fail(place, FailReason.CORRUPT, "a QR or bar code that cannot be decoded")


def _decoded(image: Any) -> list[tuple[str, bool]] | None:
    """Return text and validity of each code; None where the library is missing."""
    try:
        import zxingcpp  # noqa: PLC0415 (heavy)
    except ImportError:
        return None
    grey = image.convert("L")
    if max(grey.size) > _LARGE_SIDE:
        grey = grey.reduce(2)
    try:
        found = zxingcpp.read_barcodes(np.ascontiguousarray(grey), return_errors=True, try_downscale=False)
    except (RuntimeError, ValueError, TypeError):
        return []
    return [
        (code.text if code.valid else "", bool(code.valid))
        for code in found
        if code.valid or code.format.name in _SURE_KINDS
    ]


_SURE_KINDS = frozenset({"QRCode", "QRCodeModel2"})  # stripes and dots alone may be anything


def has_eyes(image: Any) -> bool:
    """Tell a picture with the three eyes of a QR code: runs of 1:1:3:1:1 along several rows and columns."""
    grey = np.asarray(image.convert("L"))
    return _n_eye_rows(grey) >= _MIN_EYES and _n_eye_rows(grey.T) >= _MIN_EYES


def _n_eye_rows(grey: Any) -> int:
    """Count the rows, of some hundred, in which two eyes lie side by side."""
    n_rows = 0
    for row in grey[:: max(len(grey) // 200, 1)]:
        dark = row < _DARK
        edges = np.flatnonzero(dark[1:] != dark[:-1]) + 1
        if len(edges) < 6:  # noqa: PLR2004 (five runs)
            continue
        runs = np.diff(edges)
        windows = np.lib.stride_tricks.sliding_window_view(runs, 5).astype(float)
        starts_dark = dark[edges[: len(windows)]]
        module = windows.sum(axis=1) / sum(_RATIO)
        fits = np.abs(windows - np.outer(module, _RATIO)) <= _TOLERANCE * np.outer(
            module, np.maximum(_RATIO, 1)
        )
        eyes = module[fits.all(axis=1) & starts_dark & (module >= 1)]
        n_rows += int(len(eyes) >= 2 and eyes.max() <= _ALIKE * eyes.min())  # noqa: PLR2004 (a pair)
    return n_rows
