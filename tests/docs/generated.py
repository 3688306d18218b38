"""Load a script of docs/ that writes a page."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

DOCS = Path(__file__).parents[2] / "docs"


def script(name: str) -> ModuleType:
    """Return the module ``docs/<name>.py``."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report_schema() -> Any:
    """Return the JSON Schema of report.json, as `make docs` writes it."""
    return json.loads(script("make_schema").page())
