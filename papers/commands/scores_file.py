"""Reading of the scores file: columns score and label."""

from __future__ import annotations

import math
from pathlib import Path

from phiscan.cli.tables import read_table
from phiscan.errors import InputError

_POSITIVE = frozenset({"1", "1.0", "true", "yes", "positive", "phi"})
_NEGATIVE = frozenset({"0", "0.0", "false", "no", "negative", "not_phi"})


def read_scores(path: Path, *, both_classes: bool = True) -> tuple[list[float], list[bool]]:
    """Return scores and labels (true = positive) of a CSV file.

    Raises:
        InputError: names the file, the line and the field; cell contents are never repeated.
    """
    table = read_table(path, ("score", "label"))
    scores = []
    labels = []
    cells = zip(table.column("score"), table.column("label"), strict=True)
    for row, (score, label) in enumerate(cells):
        scores.append(_number(score, table.where(row, "score")))
        word = label.lower()
        if word not in _POSITIVE and word not in _NEGATIVE:
            message = f"{table.where(row, 'label')}: expected 1 or 0 (also phi/not_phi, true/false, yes/no)"
            raise InputError(message)
        labels.append(word in _POSITIVE)
    if not scores:
        message = f"{path}: line 2: expected a score and a label, found none"
        raise InputError(message)
    if both_classes and (all(labels) or not any(labels)):
        message = f"{path}: field label: expected both positive and negative labels, found one class only"
        raise InputError(message)
    return scores, labels


def _number(text: str, where: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if "_" in text or not math.isfinite(value):
        message = f"{where}: expected a finite number"
        raise InputError(message)
    return value
