"""Export a CRFsuite model to arrays and JSON, and compare the labels of both."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from phiscan.screen.ner.crf import FORMAT, TaggerModel
from phiscan.screen.ner.features import TEMPLATES, Inventory
from phiscan.screen.ner.tokens import Kinds
from training.corpora.documents import Labelled
from training.corpora.open_texts import GENERATOR
from training.names.examples import sequences, units
from training.needs import needed

LEAST = 0.002  # a weight of smaller absolute value is dropped
WEIGHTS, LABELS = "names.npz", "names.json"


def export(
    model_file: str,
    used: Inventory,
    out: Path,
    *,
    precision: type[np.floating[Any]] = np.float16,
    least: float = LEAST,
) -> list[str]:
    """Write the weights of a CRFsuite model as arrays and the labels as JSON; return the labels."""
    tagger = needed("pycrfsuite").Tagger()
    tagger.open(model_file)
    info = tagger.info()
    labels = ["O", *sorted(label for label in tagger.labels() if label != "O")]
    column = {label: number for number, label in enumerate(labels)}
    transition = np.zeros((len(labels), len(labels)), dtype=precision)
    for (before, after), weight in info.transitions.items():
        transition[column[before], column[after]] = weight
    rows: dict[str, npt.NDArray[Any]] = {}
    for (name, label), weight in info.state_features.items():
        if abs(weight) >= least:
            rows.setdefault(name, np.zeros(len(labels), dtype=precision))[column[label]] = weight
    number = {template: index for index, template in enumerate(TEMPLATES)}
    word_names = sorted(name for name in rows if name.partition(":")[0] not in number)
    context = sorted(
        (number[name.partition(":")[0]], int(name.partition(":")[2]))
        for name in rows
        if name.partition(":")[0] in number
    )
    weights = np.stack(
        [rows[name] for name in word_names] + [rows[f"{TEMPLATES[t]}:{c}"] for t, c in context]
    )
    given = weights.T != 0
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(
        out / WEIGHTS,
        given=np.packbits(given, axis=1),
        weight=weights.T[given],
        transition=transition,
        names=packed(word_names),
        words=packed(used.words),
        fine=packed(used.fine),
        coarse=packed(used.coarse),
        codes=np.array([c for _, c in context], dtype=np.int32),
        templates=np.array([t for t, _ in context], dtype=np.int8),
    )
    write_labels(out, {"format": FORMAT, "labels": labels, "n_features": len(weights)})
    return labels


def write_labels(out: Path, more: dict[str, Any]) -> None:
    """Add the fields ``more`` to names.json."""
    path = out / LABELS
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    path.write_text(json.dumps(known | more, indent=1, allow_nan=False) + "\n", encoding="utf-8")


def packed(texts: Sequence[str]) -> npt.NDArray[np.uint8]:
    """Return texts as one array of bytes, separated by NUL."""
    return np.frombuffer("\0".join(texts).encode(), dtype=np.uint8)


def count_differences(model_file: str, out: Path, kinds: Kinds, documents: Sequence[Labelled]) -> int:
    """Count the tokens that the exported weights label differently from CRFsuite."""
    reference = needed("pycrfsuite").Tagger()
    reference.open(model_file)
    exported = TaggerModel.load(kinds, out)
    n_differences = 0
    for document in documents:
        stream = exported.lexicon.read(document.text)
        labels = [exported.labels[i] for i in exported.best(stream, exported.emission(stream))]
        position = 0
        for features, _ in sequences(units(document, stream, GENERATOR), stream, exported.lexicon):
            expected = reference.tag(features)
            n_differences += sum(a != b for a, b in zip(labels[position:], expected, strict=False))
            position += len(expected)
    return n_differences
