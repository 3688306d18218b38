"""Cache of the unpacked parts of a zipped document, from its reader to the account of its bytes."""

from __future__ import annotations

import zipfile
from dataclasses import dataclass, field

_MOST_BYTES = 16 * 1024**2  # kept at once; a part beyond is unpacked again


@dataclass(slots=True)
class PackageParts:
    """An open package and the parts of it that were unpacked, by their names in it."""

    archive: zipfile.ZipFile = field(repr=False)
    _data: dict[str, bytes] = field(default_factory=dict, repr=False)
    _n_bytes: int = 0

    def keep(self, name: str, data: bytes) -> None:
        """Keep an unpacked part while there is room."""
        if self._n_bytes + len(data) <= _MOST_BYTES and name not in self._data:
            self._data[name] = data
            self._n_bytes += len(data)

    def get(self, name: str) -> bytes | None:
        """Return a part that was kept, or None."""
        return self._data.get(name)
