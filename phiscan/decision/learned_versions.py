"""A learned version on disk: one file of JSON, checked against the hash in the database.

A version holds counts of dictionary ids, PII bits, and what each input added to the log-odds of decided
files; no words, no values, no code. Nothing in it is executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from phiscan.config import LearnedVersion
from phiscan.decision.decided_examples import LearnedDecision
from phiscan.decision.model import load_phi_model
from phiscan.errors import ModelError
from phiscan.health.classifier import Classifier, load_model
from phiscan.health.knn import ConceptTfidf, OneClassKnn, block_of

MODEL_NAME: Final = "model.json"
FORMAT_VERSION: Final = 2


@dataclass(frozen=True, slots=True)
class PiiPrototype:
    """The PII bits of a confirmed file, packed."""

    name: str
    vector: int


def file_hash(path: Path) -> str:
    """Return sha256 of a file's bytes, hex."""
    return sha256(path.read_bytes()).hexdigest()


def check_files(folder: Path, files: Mapping[str, str]) -> None:
    """Compare every file of a version with the hash stored in the database.

    Raises:
        ModelError: names the file that is missing, unreadable or was changed.
    """
    for name, expected in files.items():
        try:
            found = file_hash(folder / name)
        except OSError as error:
            raise ModelError(
                folder / name,
                f"cannot be read: {error.strerror}; `phiscan learn --activate shipped` does without it",
            ) from None
        if found != expected:
            raise ModelError(
                folder / name,
                "was changed after it was learned: its hash is not the one in the database;"
                " `phiscan learn --activate shipped` does without it",
            )


@dataclass(frozen=True, slots=True)
class Version:
    """What a version holds, ready to use."""

    classifier: Classifier  # with the health prototypes of confirmed files
    pii: tuple[PiiPrototype, ...]
    decision: LearnedDecision


def load_version(classifier: Classifier, home: Path, version: LearnedVersion) -> Version:
    """Read a version, to be used with the shipped ``classifier``.

    Raises:
        ModelError: a file is missing, was changed, or belongs to other shipped models.
    """
    folder = home / "models" / str(version.number)
    check_files(folder, dict(version.files))
    again = "; run `phiscan learn` again"
    model = load_model(folder / MODEL_NAME, FORMAT_VERSION, damaged="", outdated=again)
    if model["base"] != base_of(classifier):
        raise ModelError(
            folder / MODEL_NAME,
            f"was learned on top of {model['base']}, and this phiscan has"
            f" {base_of(classifier)}; run `phiscan learn` again, or `phiscan learn --activate shipped`",
        )
    return Version(
        with_prototypes(classifier, model["prototypes"]),
        tuple(PiiPrototype(item["name"], item["vector"]) for item in model["pii"]),
        LearnedDecision.from_json(model["decision"]),
    )


def base_of(classifier: Classifier) -> str:
    """Return the versions of the shipped models that a version depends on."""
    return f"{classifier.version} {load_phi_model().version}"


def with_prototypes(classifier: Classifier, new: Sequence[Mapping[str, Any]]) -> Classifier:
    """Return the shipped classifier with further health prototypes; the threshold of the distance stays."""
    knn = classifier.knn
    return replace(
        classifier,
        tfidf=extended(classifier.tfidf, [item["counts"] for item in new]),
        knn=OneClassKnn(knn.k, knn.quantile).restore(None, knn.threshold_, knn.scale_),
        bags=(*classifier.bags, *(item["counts"] for item in new)),
        prototype_names=(*classifier.prototype_names, *(item["name"] for item in new)),
    )


def extended(tfidf: ConceptTfidf, bags: Sequence[Mapping[str, int]]) -> ConceptTfidf:
    """Return ``tfidf`` with a column for every concept of ``bags``; new ones get the idf of unseen ones."""
    new = sorted({name for bag in bags for name in bag} - set(tfidf.vocabulary_))
    wider = ConceptTfidf(weights=tfidf.weights)
    wider.vocabulary_ = {**tfidf.vocabulary_, **{n: len(tfidf.vocabulary_) + i for i, n in enumerate(new)}}
    idf = [tfidf.unseen_ if block_of(name) == "concept" else 1.0 for name in new]
    wider.idf_ = np.concatenate([tfidf.idf_, idf])
    wider.unseen_ = tfidf.unseen_
    return wider


def model_bytes(model: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of a model: equal models have equal files."""
    text = json.dumps({"format": FORMAT_VERSION, **model}, sort_keys=True, separators=(",", ":"))
    return (text + "\n").encode()
