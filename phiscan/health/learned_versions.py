"""A learned version on disk: JSON and a weight file, checked against the hashes in the database.

A version holds counts of dictionary ids, PII bits and sums of hashed features over many files; no words,
no values, no code. Nothing in it is executed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from phiscan.config import LearnedVersion
from phiscan.errors import ModelError
from phiscan.health.classifier import Classifier
from phiscan.health.knn import OneClassKnn
from phiscan.health.learning import extended
from phiscan.health.review_correction import Adjustment
from phiscan.health.text_detector import load_text_model

MODEL_NAME: Final = "model.json"
TEXT_NAME: Final = "text.npz"
FORMAT_VERSION: Final = 1


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
            message = (
                f"{folder / name}: cannot be read: {error.strerror};"
                " `phiscan learn --activate shipped` does without it"
            )
            raise ModelError(message) from None
        if found != expected:
            message = (
                f"{folder / name}: was changed after it was learned: its hash is not the one in the database;"
                " `phiscan learn --activate shipped` does without it"
            )
            raise ModelError(message)


def with_learned(
    classifier: Classifier, home: Path, version: LearnedVersion
) -> tuple[Classifier, tuple[PiiPrototype, ...], tuple[float, float]]:
    """Return the classifier with a version's changes applied, the version's PII prototypes and calibration.

    The calibration is (slope, intercept) of the log-odds of PHI; (1, 0) if there were too few decisions.

    Raises:
        ModelError: a file is missing, was changed, or belongs to other shipped models.
    """
    folder = home / "models" / str(version.number)
    check_files(folder, dict(version.files))
    model = read_model(folder / MODEL_NAME)
    if model["base"] != classifier.version:
        message = (
            f"{folder / MODEL_NAME}: was learned on top of {model['base']}, and this phiscan has"
            f" {classifier.version}; run `phiscan learn` again, or `phiscan learn --activate shipped`"
        )
        raise ModelError(message)
    learned = apply_model(classifier, model)
    if TEXT_NAME in dict(version.files):
        learned = replace(learned, text_model=load_text_model(folder / TEXT_NAME))
    line = model.get("calibration") or {"slope": 1.0, "intercept": 0.0}
    found = tuple(PiiPrototype(item["name"], item["vector"]) for item in model["pii"])
    return learned, found, (float(line["slope"]), float(line["intercept"]))


def apply_model(classifier: Classifier, model: Mapping[str, Any]) -> Classifier:
    """Return the shipped classifier with the prototypes, thresholds and correction of a version."""
    new, adjustment = model["prototypes"], model["adjustment"]
    knn = OneClassKnn(k=classifier.knn.k, quantile=classifier.knn.quantile)
    knn.threshold_, knn.scale_ = model["thresholds"][str(classifier.knn.k)]
    return replace(
        classifier,
        tfidf=extended(classifier.tfidf, [item["counts"] for item in new]),
        knn=knn,
        bags=(*classifier.bags, *(item["counts"] for item in new)),
        prototype_names=(*classifier.prototype_names, *(item["name"] for item in new)),
        adjustment=Adjustment(**adjustment) if adjustment else None,
    )


def read_model(path: Path) -> dict[str, Any]:
    """Read the JSON of a version.

    Raises:
        ModelError: it is no JSON, or of another format.
    """
    try:
        model: dict[str, Any] = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        message = f"{path}: cannot be read as JSON ({type(error).__name__})"
        raise ModelError(message) from None
    if model.get("format") != FORMAT_VERSION:
        message = f"{path}: format: expected {FORMAT_VERSION}"
        raise ModelError(message)
    return model


def model_bytes(model: Mapping[str, Any]) -> bytes:
    """Return the canonical JSON of a model: equal models have equal files."""
    text = json.dumps({"format": FORMAT_VERSION, **model}, sort_keys=True, separators=(",", ":"))
    return (text + "\n").encode()
