"""Illumination correction: a grey page in, the page divided by its background out.

The background is the lightest grey of every patch of the page. A page with an even background is returned
unchanged: the recogniser finds its own threshold. Patches much darker than the paper are pictures,
banners or the table below, and are not lightened.

Source: division by the background, as for shading in microscopy; here over patches, for speed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_SHRINK, _PATCH = 4, 8  # pixels made one, against noise; of these, the side of a patch
_UNEVEN = 20.0  # grey levels between the 5th and 95th percentile of the background
_DARK = 0.5  # of the median background; darker patches are not paper
_MIN_PATCHES = 4  # on each side
_STRIP = 512  # rows lightened together


def even_light(image: Any) -> Any:
    """Return a grey PIL image with its paper white everywhere; the same image when its paper is even."""
    from PIL import Image, ImageFilter  # noqa: PLC0415 (heavy)

    small = np.asarray(image.reduce(_SHRINK), dtype=np.float32)
    n_rows, n_columns = (side // _PATCH for side in small.shape)
    if min(n_rows, n_columns) < _MIN_PATCHES:
        return image
    patches = small[: n_rows * _PATCH, : n_columns * _PATCH].reshape(n_rows, _PATCH, n_columns, _PATCH)
    paper = patches.max(axis=(1, 3))
    usual = float(np.median(paper))
    is_paper = paper > _DARK * usual
    low, high = np.percentile(paper[is_paper], [5, 95])
    if high - low < _UNEVEN:
        return image
    levels = Image.fromarray(np.where(is_paper, paper, usual).astype(np.uint8))
    smooth = np.asarray(
        levels.filter(ImageFilter.MedianFilter(3)).resize(image.size, Image.Resampling.BICUBIC)
    )
    light = np.array(image)
    for top in range(0, len(light), _STRIP):  # a page at once would take eight times its memory
        strip = light[top : top + _STRIP].astype(np.float32) * 255
        strip /= np.maximum(smooth[top : top + _STRIP], 1)
        light[top : top + _STRIP] = strip.clip(0, 255).astype(np.uint8)
    return Image.fromarray(light)
