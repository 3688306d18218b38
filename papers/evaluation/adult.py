"""The Adult data (UCI), or seeded synthetic data: capital gain and loss, work status, income over 50,000.

Source: Boyd (2014), "Private Evaluation Experiments", names these features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from papers.data_files import read_rows
from phiscan.errors import InputError

Floats = npt.NDArray[np.float64]
_COLUMNS = 15
_WORK, _GAIN, _LOSS, _INCOME = 1, 10, 11, 14
WORK_STATUS = (
    "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay",
    "Never-worked", "?",
)  # fmt: skip
# Synthetic data: shares of the work statuses, and the effect of each on the log odds of a high income.
_SHARES = (0.697, 0.078, 0.034, 0.029, 0.064, 0.040, 0.0004, 0.0002, 0.0574)
_EFFECT = (-0.05, 0.15, 1.45, 0.75, 0.15, 0.1, -3.0, -3.0, -0.9)
N_SIMULATED = 48_842


@dataclass(frozen=True, slots=True)
class Examples:
    """Features and labels, and their source."""

    x: Floats
    y: npt.NDArray[np.bool_]
    source: str
    sha256: tuple[str, ...] = ()


def read_adult(paths: Sequence[Path]) -> Examples:
    """Read adult.data, adult.test, or both.

    Raises:
        InputError: a file cannot be read; names the file, the line and the field.
    """
    parts, labels, digests = [], [], []
    for path in paths:
        rows, digest = read_rows(path, _COLUMNS)
        digests.append(digest)
        for number, row in enumerate(rows, start=1):
            income = row[_INCOME].rstrip(".")
            if income not in {">50K", "<=50K"} or row[_WORK] not in WORK_STATUS:
                message = f"{path}: row {number}: expected a work status and an income of the Adult data"
                raise InputError(message)
            try:
                gain, loss = float(row[_GAIN]), float(row[_LOSS])
            except ValueError:
                message = f"{path}: row {number}: expected numbers as capital gain and loss"
                raise InputError(message) from None
            parts.append((gain, loss, WORK_STATUS.index(row[_WORK])))
            labels.append(income == ">50K")
    return Examples(_features(np.array(parts)), np.array(labels), "Adult (UCI)", tuple(digests))


def simulated_data(seed: int = 0, n: int = N_SIMULATED) -> Examples:
    """Return synthetic examples of the Adult data's size: a quarter positive, few with gains or losses."""
    random = np.random.default_rng(seed)
    work = random.choice(len(WORK_STATUS), size=n, p=np.array(_SHARES) / sum(_SHARES))
    gain = np.where(random.random(n) < 0.083, np.exp(random.normal(8.4, 1.1, n)), 0.0)  # noqa: PLR2004
    loss = np.where((gain == 0) & (random.random(n) < 0.047), random.normal(1870, 370, n), 0.0)  # noqa: PLR2004
    logit = -1.45 + np.array(_EFFECT)[work] + 0.00045 * gain + 0.0008 * loss
    y = random.random(n) < 1 / (1 + np.exp(-logit))
    table = np.column_stack((gain, np.maximum(loss, 0), work))
    return Examples(_features(table), y, f"look-alike, seed {seed}")


def _features(table: Floats) -> Floats:
    work = table[:, 2].astype(int)
    return np.column_stack((np.log1p(table[:, :2]), np.eye(len(WORK_STATUS))[work]))
