"""Deskewing of scans: the angle at which the projection profile of the dark pixels is sharpest.

Source: the projection profile method, Postl (1986); here over a sample of dark pixels, no image is turned
but the one that is returned.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_LOOK_SIDE = 1000  # pixels of the copy that is measured
_MAX_POINTS = 60_000
_MIN_POINTS = 500
_MOST = 15.0  # degrees looked at on both sides
_LEAST = 0.4  # degrees; the recogniser copes with less
_MIN_GAIN = 1.1  # least ratio of sharpness for which a page is turned
_MIN_BAND = 3  # rows of ink; less is a rule or a speck
_DARK_SHARE = 0.5  # a page that is darker than this is a photograph, or white on black


def straighten(image: Any) -> Any:
    """Return a grey PIL image turned so that its lines of text lie level; the same image when they do."""
    angle = skew_angle(image)
    return image if abs(angle) < _LEAST else image.rotate(angle, expand=True, fillcolor=255, resample=3)


def skew_angle(image: Any) -> float:
    """Return the degrees, counter-clockwise, to turn a grey image by; 0 when no angle is better."""
    look = image.copy()
    look.thumbnail((_LOOK_SIDE, _LOOK_SIDE))
    grey = np.asarray(look, dtype=np.uint8)
    rows, columns = np.nonzero(grey < (int(grey.min()) + int(grey.max())) // 2)
    if not _MIN_POINTS <= len(rows) <= _DARK_SHARE * grey.size:
        return 0.0
    step = max(len(rows) // _MAX_POINTS, 1)
    x, y = columns[::step].astype(np.float64), rows[::step].astype(np.float64)
    level = _sharpness(x, y, 0.0)
    coarse = max(np.arange(-_MOST, _MOST + 0.5, 1.0), key=lambda angle: _sharpness(x, y, float(angle)))
    fine = max(np.arange(coarse - 1, coarse + 1.01, 0.2), key=lambda angle: _sharpness(x, y, float(angle)))
    return float(fine) if _sharpness(x, y, float(fine)) > _MIN_GAIN * level else 0.0


def line_height(image: Any) -> float:
    """Return the usual height, in pixels, of the bands of rows with ink in a straight grey image."""
    grey = np.asarray(image, dtype=np.uint8)
    dark = grey < (int(grey.min()) + int(grey.max())) // 2
    edges = np.flatnonzero(np.diff(np.concatenate(([0], dark.any(axis=1).astype(np.int8), [0]))))
    bands = edges[1::2] - edges[::2]
    bands = bands[bands > _MIN_BAND]
    return float(np.median(bands)) if len(bands) else 0.0


def _sharpness(x: NDArray[np.float64], y: NDArray[np.float64], degrees: float) -> float:
    """Return the sum of squared counts of pixels per line, for lines that slant by ``degrees``."""
    radians = np.deg2rad(degrees)
    heights = y * np.cos(radians) - x * np.sin(radians)
    counts = np.bincount((heights - heights.min()).astype(np.int64))
    return float(np.square(counts, dtype=np.float64).sum())
