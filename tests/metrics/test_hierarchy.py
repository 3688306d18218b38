"""Hierarchies: graphs, depths and cycles."""

import pytest

from phiscan.metrics.hierarchy import Hierarchy, score_hierarchy
from phiscan.metrics.rates import OverlapCounts


def test_counts_a_label_once_towards_an_ancestor_with_two_paths() -> None:
    diamond = Hierarchy({"leaf": ["left", "right"], "left": ["top"], "right": ["top"]})
    levels, _ = score_hierarchy(diamond, {"d": {"leaf": 3}}, {"d": {"leaf": 1}})
    assert levels[1].count_preserving == OverlapCounts(2, 0, 4)  # left and right
    assert levels[2].count_preserving == OverlapCounts(1, 0, 2)  # top, not six


def test_lets_leaves_at_different_depths_start_at_level_zero() -> None:
    tree = Hierarchy({"deep": ["middle"], "middle": ["top"], "shallow": ["top"]})
    levels, _ = score_hierarchy(tree, {"d": {"deep": 1}}, {"d": {"shallow": 1}})
    # The shared ancestor is one step above the one and two steps above the other.
    assert [level.count_preserving for level in levels] == [
        OverlapCounts(0, 1, 1),
        OverlapCounts(0, 1, 1),
        OverlapCounts(0, 0, 1),
    ]


def test_names_a_label_on_the_cycle_not_one_above_it() -> None:
    with pytest.raises(ValueError, match=r"'[bc]' is its own"):
        Hierarchy({"b": ["c"], "c": ["b", "a-above"], "a-above": ["aa"]})
