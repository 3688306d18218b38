"""Tree map layout: weights to boxes whose areas are proportional to them, by the squarified method.

Rows are filled along the shorter side as long as that improves the worst aspect ratio (Bruls, Huizing and
van Wijk, 2000). Pure geometry, independent of the meaning of a box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y are its upper left corner."""

    x: float
    y: float
    width: float
    height: float

    def inset(self, margin: float, top: float) -> Box:
        """Return the area inside a margin on three sides and a heading on top; never negative."""
        return Box(
            self.x + margin,
            self.y + top,
            max(0.0, self.width - 2 * margin),
            max(0.0, self.height - top - margin),
        )


def squarified(weights: Sequence[float], area: Box) -> list[Box]:
    """Return one box per weight, in the same order, that fill the area.

    Args:
        weights: positive, in descending order.
        area: the rectangle to fill.

    >>> [(round(box.width), round(box.height)) for box in squarified([2, 1, 1], Box(0, 0, 40, 20))]
    [(20, 20), (20, 10), (20, 10)]
    """
    total = sum(weights)
    if total <= 0 or area.width <= 0 or area.height <= 0:
        return [Box(area.x, area.y, 0.0, 0.0) for _ in weights]
    scale = area.width * area.height / total
    sizes = [weight * scale for weight in weights]
    boxes: list[Box] = []
    left = area
    at = 0
    while at < len(sizes):
        side = min(left.width, left.height)
        end = at + 1
        while end < len(sizes) and _worst(sizes[at : end + 1], side) <= _worst(sizes[at:end], side):
            end += 1
        boxes += _row(sizes[at:end], left)
        left = _rest(sum(sizes[at:end]), left)
        at = end
    return boxes


def _worst(sizes: Sequence[float], side: float) -> float:
    """Return the greatest aspect ratio of a row of these areas along a side."""
    if side <= 0:
        return float("inf")
    depth = sum(sizes) / side
    return max(max(depth * depth / size, size / (depth * depth)) for size in sizes)


def _row(sizes: Sequence[float], area: Box) -> list[Box]:
    boxes, x, y = [], area.x, area.y
    is_wide = area.width >= area.height
    side = area.height if is_wide else area.width
    depth = sum(sizes) / side if side > 0 else 0.0
    for size in sizes:
        length = size / depth if depth > 0 else 0.0
        boxes.append(Box(x, y, depth, length) if is_wide else Box(x, y, length, depth))
        x, y = (x, y + length) if is_wide else (x + length, y)
    return boxes


def _rest(size: float, area: Box) -> Box:
    if area.width >= area.height:
        depth = size / area.height if area.height > 0 else 0.0
        return Box(area.x + depth, area.y, max(0.0, area.width - depth), area.height)
    depth = size / area.width if area.width > 0 else 0.0
    return Box(area.x, area.y + depth, area.width, max(0.0, area.height - depth))
