"""Text presence check by edge density, a hundredth of the time of recognition: a grey picture in, a bool out.

Letters are dense edges in both directions. A picture without a cell of them is blank, a gradient, a smooth
photograph, or a drawing of a few lines. The check favours recall: noise and texture pass it as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

_SPOT = 32  # pixels; a word of small type fills one, so does a letter of large type
_EDGE = 16  # of 255 grey levels over two pixels
_LEAST_EDGES = 60  # pixels of a spot, in each direction; a word of nine pixels has between 60 and 80
_MIN_SIDE = 2 * _SPOT
_BAND = 512  # rows looked at together, so that a large page takes little memory


def may_hold_text(image: Any) -> bool:
    """Return whether a cell of a grey PIL image has as many edges in both directions as letters have.

    Large type is found in the picture at half its size, at a quarter, and so on.
    """
    if min(image.size) < _MIN_SIDE:
        return True  # too small to judge, and quick to read
    while min(image.size) >= _MIN_SIDE:
        if _has_spot(np.asarray(image, dtype=np.int16)):
            return True
        image = image.reduce(2)
    return False


def _has_spot(grey: NDArray[np.int16]) -> bool:
    return any(
        _has_letters(grey[top : top + _BAND + 2], shift)
        for shift in (0, _SPOT // 2)  # so that what lies across two spots is found in one
        for top in range(shift, grey.shape[0] - 2, _BAND)
    )


def _has_letters(grey: NDArray[np.int16], shift: int) -> bool:
    """Tell whether a spot of a band of rows has enough edges across and enough down."""
    across = np.abs(grey[:-2, shift + 2 :] - grey[:-2, shift:-2]) >= _EDGE
    down = np.abs(grey[2:, shift:-2] - grey[:-2, shift:-2]) >= _EDGE
    return bool((np.minimum(_per_spot(across), _per_spot(down)) >= _LEAST_EDGES).any())


def _per_spot(edges: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Count the edges of each spot; the last ones of rows and columns are filled up with none."""
    rows, columns = (-side % _SPOT for side in edges.shape)
    padded = np.pad(edges, ((0, rows), (0, columns)))
    spots = padded.reshape(padded.shape[0] // _SPOT, _SPOT, padded.shape[1] // _SPOT, _SPOT)
    return np.asarray(spots.sum(axis=(1, 3), dtype=np.int64))
