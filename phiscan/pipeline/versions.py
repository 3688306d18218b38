"""What a result depends on besides the file: code, rules, dictionaries, models, readers, settings.

A file is read again when any of these changed, because then its old result is no longer what this
phiscan would say.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from importlib import resources
from pathlib import Path

from blake3 import blake3

from phiscan import __version__, extract
from phiscan.config import Config, LearnedVersion, data_dir
from phiscan.model import code_of
from phiscan.patients.manifest import read_manifest
from phiscan.patients.settings import load_settings
from phiscan.review.decisions.learning import in_use, reviewed_files
from phiscan.review.store import Store
from phiscan.store.identity import keyed_hash, load_key

DATA_SUFFIXES = frozenset((".toml", ".txt", ".npz", ".json", ".tsv", ".onnx"))
_SHORT = 16  # hexadecimal digits kept of each hash: 64 bits, plenty against accident

# That decide what is found, besides the limits and those of the classifiers.
_SETTINGS = ("k", "name_pipeline", "audit_share", "prevalence", "missed_file_cost", "messages_of_care")
MODEL_PACKAGES = ("health", "decision", "screen")  # whose data/ holds weights
# Packages whose code decides what is found and what becomes of a file. Readers have a version of their own.
CODE_PACKAGES = (*MODEL_PACKAGES, "normalize", "lexicon", "text", "formats", "model")


def versions(config: Config) -> dict[str, str]:
    """Return a name and a short hash for each thing that results depend on."""
    settings = {name: getattr(config, name) for name in _SETTINGS}
    settings |= {name: asdict(getattr(config, name)) for name in ("limits", "health", "detectors")}
    learned, patients = config.learned or LearnedVersion(0, ()), load_settings(config)
    return {
        # The build of the patient index, if there is one; an update of it reads no file again.
        **({"patients": read_manifest(patients.folder).index_id} if patients.is_built else {}),
        **screening_versions(config),
        "extract": str(extract.VERSION),
        # Of a learned version its number and the bytes of its files, as the database has them.
        "learned": f"{learned.number}:{_hash(repr(learned.files).encode())}" if learned.number else "none",
        # Hashes under another key cannot be compared: with a new key everything is read again.
        "key": keyed_hash(load_key(config.key_file), "key", "check")[:_SHORT],
        "readers": ",".join(extract.available_readers()) or "none",
        "settings": _hash(json.dumps(settings, sort_keys=True).encode() + _password_hash(config)),
    }


def screening_versions(config: Config) -> dict[str, str]:
    """Return phiscan's version and short hashes of the code, rules, dictionaries and models of the screen."""
    package = Path(str(resources.files("phiscan")))
    return {
        "phiscan": __version__,
        "code": _hash_files([package / name for name in CODE_PACKAGES], {".py"}),
        "rules": _hash_files([data_dir("patterns"), *map(Path, config.extra_patterns)]),
        "dictionaries": _hash_files([data_dir("dictionaries")]),
        "models": _hash_files([package / name / "data" for name in MODEL_PACKAGES]),
    }


def versions_key(parts: Mapping[str, str]) -> str:
    """Return one short hash over all versions, as stored beside each examination."""
    return _hash(json.dumps(dict(parts), sort_keys=True).encode())


def learned_version(config: Config, store: Store) -> LearnedVersion | None:
    """Return the learned version that is active in a store, and its newest verdicts; None = neither."""
    active, before = in_use(store.database)
    coded = [
        (one.content_hash, code, one.is_phi)
        for one in reviewed_files(store.database)
        if (code := code_of(one.evidence))
    ]
    decided = tuple(coded[-config.decided_examples :]) if config.decided_examples else ()
    if active is None:
        return LearnedVersion(0, (), decided=decided) if decided else None
    former = None if before is None else LearnedVersion(before.number, tuple(sorted(before.files.items())))
    return LearnedVersion(active.number, tuple(sorted(active.files.items())), former, decided)


def _password_hash(config: Config) -> bytes:
    path = Path(config.passwords_file)
    return blake3(path.read_bytes()).digest() if config.passwords_file and path.is_file() else b""


def _hash(data: bytes) -> str:
    digest: str = blake3(data).hexdigest()
    return digest[:_SHORT]


def _hash_files(places: Iterable[Path], suffixes: Collection[str] = DATA_SUFFIXES) -> str:
    """Hash names and contents of the files with these suffixes below some folders (or of single files)."""
    digest = blake3()
    for place in places:
        files = [place] if place.is_file() else sorted(p for p in place.rglob("*") if p.suffix in suffixes)
        for path in files:
            digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    short: str = digest.hexdigest()[:_SHORT]
    return short
