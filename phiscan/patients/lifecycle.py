"""Build, update, rekey and destroy a patient index; every step leaves a complete index."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from phiscan.errors import ConfigError, InputError
from phiscan.patients.build import Gathered, arrays_of, gather, row_numbers, sorted_keys
from phiscan.patients.index import Hashes, PatientIndex, open_index, overwrite, remove_arrays, write_index
from phiscan.patients.manifest import MANIFEST, Manifest, read_manifest
from phiscan.patients.records import Hasher, PatientRecord
from phiscan.patients.settings import PatientSettings
from phiscan.store.identity import create_key, draft_of, load_key, replace_key

Numbers = npt.NDArray[np.uint32]


def load_hasher(settings: PatientSettings, manifest: Manifest) -> Hasher:
    """Return the hasher of an index, with the key that the index was built with.

    Raises:
        ConfigError: the key is missing, unreadable, readable by others, or another one.
    """
    for path in (settings.key_file, draft_of(settings.key_file)):  # the second: of an interrupted rotation
        if path.exists():
            hasher = Hasher(load_key(path), manifest.hard_cost)
            if hasher.key_id == manifest.key_id:
                return hasher
    state = "holds another key" if settings.key_file.exists() else "is missing"
    raise ConfigError(
        settings.key_file,
        f"the key of the patient index {state}; restore key {manifest.key_id}, or "
        "`phiscan patients destroy` and build the index again",
    )


def build(
    settings: PatientSettings, records: Iterable[PatientRecord], *, n_workers: int, replace_old: bool = False
) -> tuple[Manifest, Numbers]:
    """Build the index of a list; return the manifest, and the opaque number of each row of the list.

    An index that replaces an old one keeps the numbers of patients that both have.

    Raises:
        InputError: there is an index already, or the list is empty.
        ConfigError: key or index cannot be read or written.
    """
    old = open_index(settings.folder) if settings.is_built else None
    if old is not None and not replace_old:
        raise InputError(
            settings.folder, "holds a patient index already; `update` changes it, `--replace` builds anew"
        )
    if old is None:
        create_key(settings.key_file)
        hasher = Hasher(load_key(settings.key_file), settings.hard_cost)
        former = None
    else:
        former = load_hasher(settings, old.manifest)
        hasher = Hasher(former.key, settings.hard_cost)
    return _build(settings, records, hasher, old, former, n_workers)


def rotate(
    settings: PatientSettings, records: Iterable[PatientRecord], *, n_workers: int
) -> tuple[Manifest, Numbers]:
    """Create a new key and rebuild the index from the list; patients keep their numbers.

    The values are not in the index, so the list is needed. The new key is stored next to the old one until
    the new index is in place: if interrupted before, the old index with its key remains valid, afterwards the
    new one.

    Raises:
        InputError: the list is empty.
        ConfigError: there is no index, or a key cannot be read or written.
    """
    old = open_index(settings.folder)
    former = load_hasher(settings, old.manifest)
    draft = draft_of(settings.key_file)
    if draft.exists() and Hasher(load_key(draft), old.manifest.hard_cost).key_id == old.manifest.key_id:
        replace_key(draft, settings.key_file)  # of an interrupted rotation
    draft.unlink(missing_ok=True)
    create_key(draft)
    hasher = Hasher(load_key(draft), settings.hard_cost)
    made = _build(settings, records, hasher, old, former, n_workers)
    replace_key(draft, settings.key_file)
    return made


def _build(  # noqa: PLR0917 (one build)
    settings: PatientSettings,
    records: Iterable[PatientRecord],
    hasher: Hasher,
    old: PatientIndex | None,
    former: Hasher | None,
    n_workers: int,
) -> tuple[Manifest, Numbers]:
    gathered = gather(records, hasher, former=former, n_workers=n_workers)
    known = np.zeros(gathered.n_rows, np.uint32) if old is None else _known(old, gathered.former)
    numbers = row_numbers(gathered, known, 0 if old is None else old.manifest.last_number)
    arrays = arrays_of(gathered, numbers)
    now = datetime.now(UTC).isoformat()
    manifest = Manifest(
        index_id=secrets.token_hex(8),
        arrays="",
        key_id=hasher.key_id,
        hard_cost=hasher.hard_cost,
        built=now,
        updated=now,
        n_patients=len(arrays["patients"]),
        n_keys=len(arrays["hashes"]),
        kinds=gathered.kinds,
        shapes=gathered.shapes,
        collisions=gathered.collisions,
        regions=gathered.region_names,
        last_number=int(arrays["patients"][-1]),
    )
    return write_index(settings.folder, manifest, arrays), numbers


def update(
    settings: PatientSettings,
    records: Iterable[PatientRecord],
    removed: Iterable[PatientRecord] = (),
    *,
    n_workers: int,
) -> tuple[Manifest, dict[str, int]]:
    """Add the patients of a list to the index, replace those already in it, and remove others.

    A patient is identified by the record number, else the health card number. The counts of names are not
    decremented: the values that were counted are no longer known.

    Raises:
        InputError: both lists are empty, or a patient to be removed has no record or card number.
        ConfigError: there is no index, or its key cannot be read.
    """
    old = open_index(settings.folder)
    hasher = load_hasher(settings, old.manifest)
    gone = _gone(removed, old, hasher, n_workers)
    gathered = gather(records, hasher, n_workers=n_workers, may_be_empty=bool(len(gone)))
    known = _known(old, gathered.identities)
    numbers = row_numbers(gathered, known, old.manifest.last_number)
    merged = arrays_of(gathered, numbers)
    manifest = _merge(old, gathered, merged, np.union1d(numbers, gone))
    counts = {
        "added": int(len(np.unique(numbers)) - len(np.unique(known[known > 0]))),
        "changed": len(np.unique(known[known > 0])),
        "removed": len(np.setdiff1d(gone, numbers)),
    }
    return write_index(settings.folder, manifest, merged), counts


def _gone(removed: Iterable[PatientRecord], old: PatientIndex, hasher: Hasher, n_workers: int) -> Numbers:
    listed = gather(removed, hasher, n_workers=n_workers, may_be_empty=True)
    found = np.where(listed.given > 0, listed.given, _known(old, listed.identities))
    return np.intersect1d(found[found > 0], old.arrays["patients"]).astype(np.uint32)


def _merge(
    old: PatientIndex, gathered: Gathered, arrays: dict[str, npt.NDArray[Any]], without: Numbers
) -> Manifest:
    """Merge the arrays of the index, without removed patients, into those of the new rows, in place."""
    manifest, before = old.manifest, old.arrays
    keys, patients = ~np.isin(before["numbers"], without), ~np.isin(before["patients"], without)
    names = list(dict.fromkeys([*manifest.regions, *gathered.region_names]))
    codes = np.array([names.index(name) for name in gathered.region_names], np.uint16)
    parts = np.concatenate([before["part_hashes"], gathered.parts])
    counts = np.concatenate([before["part_counts"], gathered.counts])
    hashes, inverse = np.unique(parts, return_inverse=True)
    all_patients = np.concatenate([before["patients"][patients], arrays["patients"]])
    regions = np.concatenate([before["regions"][patients], codes[arrays["regions"]]])
    order = np.argsort(all_patients, kind="stable")
    arrays.update(
        hashes=np.concatenate([before["hashes"][keys], arrays["hashes"]]),
        numbers=np.concatenate([before["numbers"][keys], arrays["numbers"]]),
        part_hashes=hashes,
        part_counts=np.bincount(inverse, counts).astype(np.uint32),
        patients=all_patients[order],
        regions=regions[order],
        canaries=np.union1d(np.setdiff1d(before["canaries"], without), arrays["canaries"]),
    )
    arrays["hashes"], arrays["numbers"] = sorted_keys(arrays["hashes"], arrays["numbers"])
    shapes = {**gathered.shapes, **manifest.shapes}
    for name in gathered.shapes.keys() & manifest.shapes.keys():
        both = (manifest.shapes[name], gathered.shapes[name])
        shapes[name] = sorted({*both[0], *both[1]}) if all(both) else []  # []: every number is looked up
    return replace(
        manifest,
        updated=datetime.now(UTC).isoformat(),
        n_patients=len(arrays["patients"]),
        n_keys=len(arrays["hashes"]),
        kinds=dict(Counter(manifest.kinds) + Counter(gathered.kinds)),
        shapes=shapes,
        regions=names,
        last_number=max(manifest.last_number, int(arrays["patients"].max(initial=0))),
    )


def _known(index: PatientIndex, identities: Hashes) -> Numbers:
    """Return the opaque number of each identity in an index; 0 = not in it, or no identity."""
    low, high = index.holders(identities)
    found = np.zeros(len(identities), np.uint32)
    held = np.flatnonzero((high > low) & (identities != 0))
    found[held] = index.arrays["numbers"][low[held]]
    return found


def destroy(settings: PatientSettings) -> dict[str, Any]:
    """Overwrite and remove index and key; return the facts for the certificate.

    Raises:
        ConfigError: there is no index, or the files cannot be removed.
    """
    manifest = read_manifest(settings.folder)
    digest = hashlib.sha256()
    for path in sorted((settings.folder / manifest.arrays).glob("*.npy")):
        with path.open("rb") as stream:
            digest.update(path.name.encode() + hashlib.file_digest(stream, "sha256").digest())
    keys = [path for path in (settings.key_file, draft_of(settings.key_file)) if path.exists()]
    try:
        for path in keys:
            overwrite(path)
            path.unlink()
        for folder in settings.folder.glob("arrays-*"):
            remove_arrays(folder)
        (settings.folder / MANIFEST).unlink()
        with suppress(OSError):
            settings.folder.rmdir()
    except OSError as error:
        raise ConfigError(settings.folder, f"cannot be removed: {error.strerror}") from None
    return {
        "index": manifest.index_id,
        "key": manifest.key_id,
        "patients": manifest.n_patients,
        "match_keys": manifest.n_keys,
        "built": manifest.built,
        "updated": manifest.updated,
        "sha256": digest.hexdigest(),
        "key_destroyed": bool(keys),
    }


def certificate(destroyed: Mapping[str, Any], *, by: str, now: datetime, event: int) -> dict[str, Any]:
    """Return the certificate of a destruction, with the number of its event."""
    return {**destroyed, "destroyed": now.isoformat(), "destroyed_by": by, "event": event}
