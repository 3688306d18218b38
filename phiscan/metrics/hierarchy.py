"""Scores of labels that form a hierarchy: count-preserving (CoPHE) and set-based, per level and overall.

Representation, named in every result: a label of a document is at level 0 ("leaf view"), and each of its
ancestors k steps above it is at level k. A label counts once towards each distinct ancestor of a level,
however many paths lead there. Labels are counted from the leaves upwards, so leaves at different depths all
start at level 0; a node can be at several levels, and is then counted at each.

Source: Falis et al. (2021), CoPHE; Kosmopoulos et al. (2015) for the set-based scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

from phiscan.language import lazy_gettext as _
from phiscan.metrics.rates import OverlapCounts

REPRESENTATION = _(
    "leaf view: level 0 is the labels as assigned, level k their distinct ancestors k steps above"
)

LabelCounts = Mapping[str, Mapping[str, int]]  # document -> label -> count


@dataclass(frozen=True, slots=True)
class LevelScore:
    """The two scores of one level; ``level`` is None for all levels together."""

    level: int | None
    count_preserving: OverlapCounts
    set_based: OverlapCounts


class Hierarchy:
    """A tree or directed acyclic graph of labels."""

    def __init__(self, parents: Mapping[str, Iterable[str]]) -> None:
        """Take the parents of every label that has any.

        Raises:
            ValueError: the edges form a cycle; names one label on it.
        """
        self._parents = {child: tuple(sorted(set(above))) for child, above in parents.items()}
        try:
            TopologicalSorter(self._parents).prepare()
        except CycleError as error:
            message = f"the label '{error.args[1][0]}' is its own ancestor; expected no cycle"
            raise ValueError(message) from None

    @cached_property
    def labels(self) -> frozenset[str]:
        """Every label of the hierarchy."""
        return frozenset(self._parents).union(*self._parents.values())

    def levels_above(self, label: str) -> list[frozenset[str]]:
        """Return the distinct ancestors of a label by number of steps; the first entry is the label itself.

        Raises:
            ValueError: the label is not in the hierarchy.

        >>> tree = Hierarchy({"401.1": ["401"], "401": ["400-405"]})
        >>> [sorted(level) for level in tree.levels_above("401.1")]
        [['401.1'], ['401'], ['400-405']]
        """
        if label not in self.labels:
            message = f"the label '{label}' is not in the hierarchy"
            raise ValueError(message)
        levels = [frozenset({label})]
        while above := frozenset(up for node in levels[-1] for up in self._parents.get(node, ())):
            levels.append(above)
        return levels


def overlap(predicted: Mapping[str, int], gold: Mapping[str, int]) -> OverlapCounts:
    """Compare counts of labels: TP = min(x, y), FP = max(x - y, 0), FN = max(y - x, 0), summed over labels.

    Source: Falis et al. (2021).

    >>> overlap({"402": 2}, {"402": 1})
    OverlapCounts(tp=1, fp=1, fn=0)
    """
    shared = sum(min(count, gold.get(label, 0)) for label, count in predicted.items())
    return OverlapCounts(shared, sum(predicted.values()) - shared, sum(gold.values()) - shared)


def score_hierarchy(
    hierarchy: Hierarchy, gold: LabelCounts, system: LabelCounts
) -> tuple[tuple[LevelScore, ...], LevelScore]:
    """Score the labels of documents at every level, and over all levels together (their sums).

    A document absent from one side has no labels there. There are as many levels as the labels used have
    ancestors. Counts may be of any size; Python integers keep them exact. Set-based, a label counts once per
    document and level.

    Raises:
        ValueError: a label is not in the hierarchy.
    """
    above = {
        label: hierarchy.levels_above(label)
        for side in (gold, system)
        for counts in side.values()
        for label in counts
    }
    n_levels = max((len(levels) for levels in above.values()), default=1)
    preserving = [OverlapCounts()] * n_levels
    sets = [OverlapCounts()] * n_levels
    for document in sorted({*gold, *system}):
        predicted = _by_level(system.get(document, {}), above, n_levels)
        expected = _by_level(gold.get(document, {}), above, n_levels)
        for level in range(n_levels):
            preserving[level] += overlap(predicted[level], expected[level])
            sets[level] += overlap(dict.fromkeys(predicted[level], 1), dict.fromkeys(expected[level], 1))
    levels = tuple(LevelScore(level, preserving[level], sets[level]) for level in range(n_levels))
    return levels, LevelScore(None, sum(preserving, OverlapCounts()), sum(sets, OverlapCounts()))


def _by_level(
    counts: Mapping[str, int], above: Mapping[str, list[frozenset[str]]], n_levels: int
) -> list[Counter[str]]:
    levels: list[Counter[str]] = [Counter() for _ in range(n_levels)]
    for label, count in counts.items():
        if not count:
            continue
        for level, nodes in enumerate(above[label]):
            for node in nodes:
                levels[level][node] += count
    return levels
