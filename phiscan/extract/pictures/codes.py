"""QR and bar codes in a picture, by zxing-cpp; without it a QR code is detected by its finder patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote_plus

import numpy as np

from phiscan.extract.core.content import Sink
from phiscan.extract.pictures.values import payload_texts, text_of
from phiscan.model import FailReason

_MOST_CODES = 64
_WHOLE_PIXELS = 12_000_000  # of a page at 300 dots an inch; larger ones are halved
_MOST_PIXELS = 40_000_000
_SMALL_PIXELS = 1_000_000  # of a picture that is tried inverted and slanted, too
_SLANTS = (30, 45, 60)  # degrees; the decoder itself turns by quarters, and finds codes near to upright ones
# A code has rows, and where it is slanted also columns, that cross many edges between dark and light.
_STRIPE_EDGES, _DOT_EDGES = 12, 6
_MIN_SHARE = 0.08  # of the rows, and of the columns
_MOST_LOOKED_AT = 64  # rows, and columns
_LEAST_STEP = 0.4  # of the range of the picture's brightness, within three pixels
_NOT_PRINTABLE = re.compile(r"<(?:NUL|U\+[0-9A-F]{2}|[A-Z]{2,3}\d?)>")
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
    if grey.width * grey.height > _WHOLE_PIXELS:
        grey = grey.reduce(2)
    found = _read(zxingcpp, grey, None)
    if any(is_whole for _, is_whole in found) or grey.width * grey.height > _SMALL_PIXELS:
        return found
    for view, formats in _views(zxingcpp, grey):
        others = _read(zxingcpp, view, formats)
        if any(is_whole for _, is_whole in others):
            return others
    return found


def _views(zxingcpp: Any, grey: Any) -> Iterator[tuple[Any, Any]]:
    """Yield a small grey picture inverted and turned, each with the kinds of codes that are missed without.

    The decoder itself finds the other kinds inverted, and at any angle. A picture with few edges gives none.
    """
    from PIL import ImageOps  # noqa: PLC0415 (heavy)

    kinds = zxingcpp.BarcodeFormat
    striped, dotted = _edge_shares(grey)
    if max(striped) >= _MIN_SHARE:
        yield ImageOps.invert(grey), [kinds.AllLinear, kinds.PDF417, kinds.MicroPDF417, kinds.MaxiCode]
    if min(dotted) >= _MIN_SHARE:
        slanted = (
            kinds.PDF417,
            kinds.MicroPDF417,
            kinds.Aztec,
            kinds.DataMatrix,
            kinds.QRCode,
            kinds.RMQRCode,
        )
        formats = (kinds.AllLinear, *slanted) if min(striped) >= _MIN_SHARE else slanted
        for degrees in _SLANTS:
            yield grey.rotate(degrees, expand=True, fillcolor=255), list(formats)


def _edge_shares(grey: Any) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return the shares of rows and of columns with as many sharp edges as stripes have, and as dots have."""
    values = np.asarray(grey)
    lowest, highest = int(values.min()), int(values.max())
    counts = []
    for lines in (values, values.T):
        looked_at = lines[:: max(len(lines) // _MOST_LOOKED_AT, 1)].astype(np.int16)
        dark = looked_at < (lowest + highest + 1) // 2
        steps = np.abs(looked_at[:, 3:] - looked_at[:, :-3])
        edges = (dark[:, 2:-1] != dark[:, 1:-2]) & (steps >= _LEAST_STEP * (highest - lowest))
        counts.append(np.count_nonzero(edges, axis=1))
    rows, columns = counts
    return (
        (float(np.mean(rows >= _STRIPE_EDGES)), float(np.mean(columns >= _STRIPE_EDGES))),
        (float(np.mean(rows >= _DOT_EDGES)), float(np.mean(columns >= _DOT_EDGES))),
    )


def _read(zxingcpp: Any, grey: Any, formats: Any) -> list[tuple[str, bool]]:
    """Return text and validity of the codes in a view; of ``formats`` alone where they are given."""
    options = {} if formats is None else {"formats": formats}
    try:
        found = zxingcpp.read_barcodes(
            np.ascontiguousarray(grey), return_errors=True, try_downscale=False, **options
        )
    except (RuntimeError, ValueError, TypeError):
        return []
    return [
        (_text(code) if code.valid else "", bool(code.valid))
        for code in found
        if code.valid or code.format.name in _SURE_KINDS
    ]


def _text(code: Any) -> str:
    """Return the text of a code: in any encoding, unpacked, and of an address decoded, too."""
    text = str(code.text)
    if _NOT_PRINTABLE.search(text):
        raw = bytes(code.bytes)
        text = next(payload_texts(raw), "") or text_of(raw) or text
    decoded = unquote_plus(text) if "://" in text[:12] else text
    return text if decoded == text else f"{text}\n{decoded}"


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
