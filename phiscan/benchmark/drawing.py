"""Write figures of the benchmarks as SVG or PNG files, reproducible byte by byte."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
from matplotlib.figure import Figure

from phiscan.errors import InputError
from phiscan.report.rendering.plots import plot_format

COLOURS = ("#1f4e79", "#c55a11", "#548235", "#7f6000", "#7030a0", "#a61c3c", "#3a7ca5", "0.35", "0.6")


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure without a window system."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, path: Path) -> None:
    """Write a figure.

    Raises:
        InputError: the file cannot be written, or has another suffix than .svg or .png.
    """
    kind = plot_format(path)
    metadata = {"Date": None, "Creator": None} if kind == "svg" else {"Software": None}
    with mpl.rc_context({"svg.hashsalt": "phiscan", "svg.fonttype": "none"}):
        try:
            figure.savefig(path, format=kind, dpi=150, metadata=metadata)
        except OSError as error:
            message = f"{path}: cannot be written: {error.strerror}"
            raise InputError(message) from None
