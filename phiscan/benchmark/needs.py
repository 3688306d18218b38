"""Import the optional packages of the benchmarks on demand."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from phiscan.errors import InputError

PACKAGES = {"pycrfsuite": "python-crfsuite"}  # module, package


def needed(module: str) -> Any:
    """Import a module of the extra ``papers``.

    Raises:
        InputError: it is not installed; says what to install.
    """
    try:
        return import_module(module)
    except ImportError:
        message = f"benchmark: expected the package {PACKAGES[module]}: pip install 'phiscan[papers]'"
        raise InputError(message) from None
