"""The Spambase data (UCI), or seeded synthetic data with the same columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from papers.data_files import read_rows
from phiscan.errors import InputError

Floats = npt.NDArray[np.float64]
N_FEATURES = 57
# Disjoint subsets of the sizes of the paper's figure 2: words, other words, and characters with capital runs.
SUBSETS = {"A": range(24), "B": range(24, 48), "C": range(48, 57)}
N_SIMULATED, SPAM_SHARE = 4_601, 0.394


@dataclass(frozen=True, slots=True)
class Messages:
    """Features of messages, whether each is spam, and where they come from."""

    x: Floats
    y: npt.NDArray[np.bool_]
    source: str
    sha256: str | None = None


def read_spambase(path: Path) -> Messages:
    """Read spambase.data: 57 numbers and the class, 1 for spam.

    Raises:
        InputError: the file cannot be read; names the file and the row.
    """
    rows, digest = read_rows(path, N_FEATURES + 1)
    table = np.empty((len(rows), N_FEATURES + 1))
    for number, row in enumerate(rows):
        try:
            table[number] = [float(cell) for cell in row]
        except ValueError:
            table[number] = np.nan
        if not np.isfinite(table[number]).all() or row[-1] not in {"0", "1"}:
            message = f"{path}: row {number + 1}: expected {N_FEATURES} numbers and the class 0 or 1"
            raise InputError(message)
    return Messages(table[:, :-1], table[:, -1] == 1, "Spambase (UCI)", digest)


def simulated_data(seed: int = 0, n: int = N_SIMULATED) -> Messages:
    """Make messages like Spambase: as many, as much spam, word frequencies that are mostly 0.

    Spam sells to a varying degree, which shows in the words of A and of B alike; how loud it is (characters
    and capitals, C) varies by itself. So A and B miss the same messages, and C misses others.
    """
    random = np.random.default_rng(seed)
    y = random.random(n) < SPAM_SHARE
    selling, loud = random.normal(0, 1.0, n), random.normal(0, 1.0, n)
    x = np.zeros((n, N_FEATURES))
    for column in range(48):
        spam_word = column % 3 != 0
        base = random.uniform(0.03, 0.12)
        effect = random.uniform(0.4, 0.75) if spam_word else -0.6 * base
        degree = 1 / (1 + np.exp(-3.0 * (selling + 0.5)))
        share = np.clip(base + y * effect * (degree if spam_word else 1), 0, 1)
        x[:, column] = np.where(
            random.random(n) < share, random.gamma(1.2, 0.6, n) * (0.5 + degree), 0
        ).round(2)
    for column in range(48, 54):
        share = np.clip(0.15 + 0.2 * y * (loud > -0.5), 0, 1)  # noqa: PLR2004
        x[:, column] = np.where(random.random(n) < share, random.gamma(1, 0.2 + 0.15 * y), 0).round(3)
    for column in range(54, 57):
        x[:, column] = np.exp(random.normal(1.2 + 0.9 * (column - 54) + y * (0.5 + 0.5 * loud), 0.7)).round(3)
    return Messages(x, y, f"look-alike, seed {seed}")
