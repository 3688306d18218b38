"""Write build/docs/report.json, the JSON Schema of report.json, from the classes of the report."""

from __future__ import annotations

import dataclasses
import inspect
import json
import types
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from phiscan.report.gather import ReportData

PAGE = Path(__file__).resolve().parents[1] / "build" / "docs" / "report.json"
_PLAIN: dict[Any, dict[str, Any]] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    type(None): {"type": "null"},
    datetime: {"type": "string", "format": "date-time"},
}


def schema() -> dict[str, Any]:
    """Return the JSON Schema of ``ReportData``."""
    definitions: dict[str, Any] = {}
    top = _of(ReportData, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "report.json of phiscan",
        **top,
        "$defs": dict(sorted(definitions.items())),
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:  # noqa: PLR0911 (one line per kind)
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in {Union, types.UnionType}:
        return {"anyOf": [_of(part, definitions) for part in arguments]}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of(arguments[1], definitions)}
    if origin is tuple and arguments[-1] is Ellipsis:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is tuple:
        parts = [_of(part, definitions) for part in arguments]
        return {"type": "array", "prefixItems": parts, "items": False, "minItems": len(parts)}
    if issubclass(kind, StrEnum):
        return {"enum": [str(member) for member in kind]}
    if kind.__name__ not in definitions:
        definitions[kind.__name__] = {}
        definitions[kind.__name__] = _object(kind, definitions)
    return {"$ref": f"#/$defs/{kind.__name__}"}


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(kind)
    names = [item.name for item in dataclasses.fields(kind)]
    return {
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "type": "object",
        "properties": {name: _of(hints[name], definitions) for name in names},
        "required": names,
        "additionalProperties": False,
    }


def page() -> str:
    """Return the text of the file."""
    return json.dumps(schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
