"""The manifest of a patient index (index.json): counts and versions, readable without the arrays."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from phiscan.errors import ConfigError

MANIFEST: Final = "index.json"
FORMAT: Final = 3


@dataclass(frozen=True, slots=True)
class Manifest:
    """Counts and versions of an index; it identifies no patient."""

    index_id: str  # unchanged by an update, new for each build or key
    arrays: str  # the folder of the arrays
    key_id: str
    hard_cost: int
    built: str  # UTC, ISO 8601
    updated: str
    n_patients: int
    n_keys: int
    kinds: Mapping[str, int]  # match keys of each kind; after an update an upper bound
    shapes: Mapping[str, Sequence[str]]  # of record and card numbers: 9 for a digit, A for a letter
    collisions: Mapping[str, float]  # probability that two patients share a birth date, postal code, ...
    regions: Sequence[str]
    last_number: int
    format: int = FORMAT

    @property
    def age_days(self) -> int:
        """The number of days since the list was read."""
        return (datetime.now(UTC) - datetime.fromisoformat(self.updated)).days


def read_manifest(folder: Path) -> Manifest:
    """Read the manifest of an index.

    Raises:
        ConfigError: there is none, or it is damaged or of another version.
    """
    path = folder / MANIFEST
    try:
        manifest = Manifest(**json.loads(path.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise ConfigError(
            path, "there is no patient index; `phiscan patients build FILE` makes one"
        ) from None
    except OSError as error:
        raise ConfigError(path, f"cannot be read: {error.strerror}") from None
    except (ValueError, TypeError):
        raise ConfigError(path, "not a patient index of this version; build it again") from None
    if manifest.format != FORMAT:
        raise ConfigError(path, f"format: expected {FORMAT}; build the patient index again")
    return manifest
