"""The layers of isolation that the workers of each scan lacked, in a JSON file of the home."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

_NAME = "isolation.json"
_MOST_KEPT = 1_000  # scans


def write_missing(home: Path, scan: int, missing: Sequence[str] | None) -> None:
    """Store the missing layers of a scan; nothing where they are not known or the home is read-only."""
    if missing is None:
        return
    kept = _read(home)
    kept[str(scan)] = list(missing)
    latest = dict(list(kept.items())[-_MOST_KEPT:])
    draft = home / f"{_NAME}.{os.getpid()}.new"
    with suppress(OSError):
        draft.write_text(json.dumps(latest), encoding="utf-8")
        draft.replace(home / _NAME)


def read_missing(home: Path, scan: int) -> tuple[str, ...] | None:
    """Return the missing layers of a scan, one line each; None = not known."""
    found = _read(home).get(str(scan))
    return None if found is None else tuple(found)


def _read(home: Path) -> dict[str, list[str]]:
    try:
        found = json.loads((home / _NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {scan: [str(line) for line in lines] for scan, lines in found.items() if isinstance(lines, list)}
