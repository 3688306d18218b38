"""The JSON objects of the score commands, and the same figures as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from phiscan.cli.output import print_json
from phiscan.metrics.rates import Rates


def with_rates(counts: Mapping[str, Any], rates: Rates) -> dict[str, Any]:
    """Combine counts with their precision, recall and F1, and the reasons of missing values."""
    shape = {**counts, "precision": rates.precision, "recall": rates.recall, "f1": rates.f1}
    if rates.reason:
        shape["reason"] = rates.reason
    return shape


def emit(payload: Mapping[str, Any], *, as_json: bool) -> None:
    """Print one JSON object, or the same figures as indented lines."""
    if as_json:
        print_json(payload)
    else:
        for line in lines(payload):
            click.echo(line)


def lines(value: Mapping[str, Any], indent: str = "") -> list[str]:
    """Return one line per figure; a group of figures that fits on a line is one line.

    >>> lines({"n": 3, "rates": {"precision": 0.5, "recall": None}})
    ['n: 3', 'rates: precision 0.5, recall -']
    """
    out = []
    for name, item in value.items():
        if isinstance(item, Mapping) and any(isinstance(part, Mapping | list) for part in item.values()):
            out.append(f"{indent}{name}:")
            out.extend(lines(item, indent + "  "))
        elif isinstance(item, Mapping):
            inside = ", ".join(f"{key} {_short(part)}" for key, part in item.items())
            out.append(f"{indent}{name}: {inside}")
        elif isinstance(item, Sequence) and item and isinstance(item[0], Mapping):
            out.append(f"{indent}{name}:")
            for part in item:
                out.extend(lines(part, indent + "  "))
        else:
            out.append(f"{indent}{name}: {_short(item)}")
    return out


def _short(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple):
        return " to ".join(_short(part) for part in value) if len(value) == 2 else str(len(value))  # noqa: PLR2004 (an interval)
    return str(value)
