"""Names from a share made safe to show, as ``phiscan.visible`` does it for every room."""

from phiscan.visible import safe_cell, visible

__all__ = ["safe_cell", "visible"]
