"""The patient index on disk: memory-mapped sorted 64-bit hashes with opaque numbers.

    index.json              counts; the name of the folder of the arrays
    NAME/hashes.npy         the match keys, ascending
    NAME/numbers.npy        the opaque number of each
    NAME/part_hashes.npy    name pairs and words of names, ascending
    NAME/part_counts.npy    the number of patients with each
    NAME/patients.npy, regions.npy, canaries.npy

All workers of a machine share one copy of the arrays in memory.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.errors import DAMAGED_ARRAYS, ConfigError
from phiscan.patients.manifest import MANIFEST, Manifest, read_manifest
from phiscan.patients.records import Kind

Hashes = npt.NDArray[np.uint64]
Numbers = npt.NDArray[np.uint32]

_ARRAYS: Final[dict[str, np.dtype[Any]]] = {
    "hashes": np.dtype(np.uint64),
    "numbers": np.dtype(np.uint32),
    "part_hashes": np.dtype(np.uint64),
    "part_counts": np.dtype(np.uint32),
    "patients": np.dtype(np.uint32),
    "regions": np.dtype(np.uint16),
    "canaries": np.dtype(np.uint32),
}


@dataclass(frozen=True, eq=False)
class PatientIndex:
    """An open index, as returned by ``open_index``."""

    manifest: Manifest
    arrays: Mapping[str, npt.NDArray[Any]] = field(repr=False)

    def holders(self, hashes: Hashes) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return start and end of each match key's holders in ``numbers``; equal = no holder."""
        keys, order = self.arrays["hashes"], np.argsort(hashes)  # near keys lie near each other in memory
        low, high = np.empty(len(hashes), np.int64), np.empty(len(hashes), np.int64)
        low[order] = keys.searchsorted(hashes[order])
        high[order] = keys.searchsorted(hashes[order], "right")
        return low, high

    def numbers(self, low: int, high: int) -> list[int]:
        """Return the opaque numbers ``[low:high]`` of the array ``numbers``."""
        found: list[int] = self.arrays["numbers"][low:high].tolist()
        return found

    def counts(self, parts: Hashes) -> npt.NDArray[np.int64]:
        """Return the number of patients with each name pair or word of a name."""
        hashes, counts = self.arrays["part_hashes"], self.arrays["part_counts"]
        at = hashes.searchsorted(parts)
        at[at == len(hashes)] = 0
        if not len(hashes):
            return np.zeros(len(parts), np.int64)
        return np.where(hashes[at] == parts, counts[at], 0).astype(np.int64)

    def region_of(self, number: int) -> str:
        """Return the state or province of a patient; "" if unknown, or the patient was removed."""
        patients = self.arrays["patients"]
        at = int(patients.searchsorted(number))
        if at == len(patients) or patients[at] != number:
            return ""
        return self.manifest.regions[int(self.arrays["regions"][at])]

    @cached_property
    def canaries(self) -> frozenset[int]:
        """The opaque numbers of the canary records."""
        return frozenset(self.arrays["canaries"].tolist())

    def n_keys_of(self, kind: Kind) -> int:
        """Return the number of match keys of a kind."""
        return self.manifest.kinds.get(kind.value, 0)


def open_index(folder: Path) -> PatientIndex:
    """Open an index; its arrays are mapped, not read.

    Raises:
        ConfigError: there is none, or it is damaged or of another version.
    """
    manifest = read_manifest(folder)
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name, kind in _ARRAYS.items():
        path = folder / manifest.arrays / f"{name}.npy"
        try:
            array = np.load(path, mmap_mode="r", allow_pickle=False)
        except DAMAGED_ARRAYS:
            raise ConfigError(
                path, "cannot be read as an array of the patient index; build it again"
            ) from None
        if array.dtype != kind or array.ndim != 1:
            raise ConfigError(path, f"expected a list of {kind}; build the patient index again")
        arrays[name] = np.asarray(array)
    if len(arrays["hashes"]) != len(arrays["numbers"]) or len(arrays["hashes"]) != manifest.n_keys:
        raise ConfigError(
            folder, f"its arrays and {MANIFEST} do not belong together; build the patient index again"
        )
    return PatientIndex(manifest, arrays)


def write_index(folder: Path, manifest: Manifest, arrays: Mapping[str, npt.NDArray[Any]]) -> Manifest:
    """Write an index next to the existing one, then replace that; return the manifest.

    Raises:
        ConfigError: the folder cannot be written.
    """
    name = f"arrays-{secrets.token_hex(8)}"
    manifest = Manifest(**{**asdict(manifest), "arrays": name})
    try:
        (folder / name).mkdir(mode=0o700, parents=True)
        for part, kind in _ARRAYS.items():
            descriptor = os.open(folder / name / f"{part}.npy", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
            with os.fdopen(descriptor, "wb") as stream:
                np.save(stream, np.ascontiguousarray(arrays[part], kind), allow_pickle=False)
                stream.flush()
                os.fsync(stream.fileno())
        draft = folder / f"{MANIFEST}.new"
        draft.write_text(json.dumps(asdict(manifest), indent=1) + "\n", encoding="utf-8")
        draft.chmod(0o600)
        draft.replace(folder / MANIFEST)
    except OSError as error:
        shutil.rmtree(folder / name, ignore_errors=True)
        raise ConfigError(folder, f"the patient index cannot be written: {error.strerror}") from None
    for old in folder.glob("arrays-*"):
        if old.name != name:
            remove_arrays(old)
    return manifest


def remove_arrays(folder: Path) -> None:
    """Overwrite and remove the arrays of an index."""
    for path in sorted(folder.glob("*.npy")):
        with suppress(OSError):
            overwrite(path)
    shutil.rmtree(folder, ignore_errors=True)


def overwrite(path: Path) -> None:
    """Overwrite a file that is to be removed, as far as a file system overwrites in place."""
    with path.open("r+b", buffering=0) as stream:
        for _ in range(0, path.stat().st_size, 1 << 20):
            stream.write(bytes(1 << 20))
        os.fsync(stream.fileno())
