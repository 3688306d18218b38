"""The page's SVG charts as PDF drawings: rectangles, lines, circles and text, which is all they contain."""

from __future__ import annotations

from typing import Any

from reportlab.graphics.shapes import Circle, Drawing, Line, Rect, String
from reportlab.lib.colors import Color, HexColor

BODY, BOLD, MONO = "DejaVuSans", "DejaVuSans-Bold", "DejaVuSansMono"

_BAR_HEIGHT = 10.0
COLOURS = {
    "c-screened": "#0b6e6e",
    "c-unchanged": "#82b5b2",
    "c-skipped": "#c3c9d0",
    "c-failed": "#b4540a",
    "c-phi": "#a1252b",
    "c-unread": "#5b6b7d",
    "tdp": "#a1252b",
    "frp": "#5b6b7d",
    "axis": "#c4c9cf",
    "muted": "#4a525b",
    "": "#14181c",
}
_PALE = {"open": "#a1252b", "openf": "#5b6b7d"}


def drawing(svg: Any, width: float) -> Drawing:
    """Return an SVG picture of ``phiscan.report.rendering.charts`` as a drawing ``width`` points wide."""
    _, _, box_width, box_height = (float(number) for number in svg.get("viewBox").split())
    x_scale = width / box_width
    stretched = svg.get("preserveAspectRatio") == "none"
    y_scale = _BAR_HEIGHT / box_height if stretched else x_scale
    height = box_height * y_scale
    picture = Drawing(width, height + 6)
    for element in svg.iter():
        shape = _shape(element, x_scale, y_scale, height)
        if shape is not None:
            picture.add(shape)
    return picture


def _shape(element: Any, x_scale: float, y_scale: float, height: float) -> Any:
    if element.tag not in {"rect", "line", "circle", "text"}:
        return None

    def x(name: str) -> float:
        return float(element.get(name, 0)) * x_scale

    def y(name: str) -> float:
        return height - float(element.get(name, 0)) * y_scale

    colour = _colour(element.get("class", ""))
    if element.tag == "rect":
        tall = float(element.get("height")) * y_scale
        return Rect(x("x"), y("y") - tall, x("width"), tall, fillColor=colour, strokeColor=None)
    if element.tag == "line":
        thick = float(element.get("stroke-width", 0.8)) * x_scale
        return Line(x("x1"), y("y1"), x("x2"), y("y2"), strokeColor=colour, strokeWidth=thick)
    if element.tag == "circle":
        return Circle(x("cx"), y("cy"), x("r"), fillColor=colour, strokeColor=None)
    anchor = element.get("text-anchor", "start")
    size = 12 * x_scale
    return String(
        x("x"), y("y"), element.text, fontName=BODY, fontSize=size, fillColor=colour, textAnchor=anchor
    )


def _colour(name: str) -> Color:
    if name in _PALE:
        solid = HexColor(_PALE[name])
        return Color(solid.red, solid.green, solid.blue, alpha=0.28)
    return HexColor(COLOURS[name])
