"""The packages of the extra ``papers``: imported on demand, and their versions."""

from __future__ import annotations

import hashlib
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from phiscan.errors import InputError

PACKAGES = {
    "pycrfsuite": "python-crfsuite",
    "sklearn": "scikit-learn",
    "matplotlib": "matplotlib",
}  # module, package


def needed(module: str) -> Any:
    """Import a module of the extra ``papers``.

    Raises:
        InputError: one is not installed; says what to install.
    """
    try:
        return import_module(module)
    except ImportError:
        message = f"papers: expected the package {PACKAGES[module]}: pip install 'phiscan[papers]'"
        raise InputError(message) from None


def library_versions(*packages: str) -> dict[str, str]:
    """Return the versions of numpy, scipy and scikit-learn, which all use, and of further packages."""
    return {name: metadata.version(name) for name in ("numpy", "scipy", "scikit-learn", *packages)}


def code_digest(folder: Path) -> str:
    """Return the first digits of the SHA-256 of a folder's modules, in the order of their names."""
    found = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        found.update(path.name.encode() + b"\0" + path.read_bytes())
    return found.hexdigest()[:16]
