"""The packages that only training needs, imported when training begins."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from phiscan.errors import InputError

PACKAGES = {
    "faker": "faker",
    "pycrfsuite": "python-crfsuite",
    "jax": "jax",
    "onnx": "onnx",
    "optax": "optax",
}  # module, package


def needed(module: str) -> Any:
    """Import a module of the extra ``train``.

    Raises:
        InputError: it is not installed; says what to install.
    """
    try:
        return import_module(module)
    except ImportError:
        package = PACKAGES[module.partition(".")[0]]
        message = f"training: expected the package {package}: pip install 'phiscan[train]'"
        raise InputError(message) from None
