"""Plots: deterministic bytes, skew and unachievable region shown."""

from pathlib import Path

import numpy as np
import pytest

from papers.drawing import plot_precision_recall
from phiscan.errors import InputError
from phiscan.metrics.ranking import rank


def test_shades_the_unachievable_region_of_the_skew(tmp_path: Path) -> None:
    ranking = rank([4, 3, 2, 1], [1, 0, 1, 0])
    plot_precision_recall(ranking, tmp_path / "a.svg")
    drawn = (tmp_path / "a.svg").read_text(encoding="utf-8")
    assert "unachievable (area 0.307)" in drawn
    assert "2 positives, 2 negatives: skew 0.5" in drawn


def test_stays_small_for_many_points(tmp_path: Path) -> None:
    generator = np.random.default_rng(0)
    plot_precision_recall(rank(generator.random(60_000), generator.random(60_000) < 0.1), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").stat().st_size < 400_000


def test_refuses_other_places(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        plot_precision_recall(rank([2, 1], [1, 0]), tmp_path / "none" / "a.svg")
