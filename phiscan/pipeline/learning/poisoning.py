"""Signs that reviewed decisions should not be learned from as they are.

A wrong or hostile label moves a model quietly. These are no proofs: each says what to look at before a
version is activated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from scipy import stats

from phiscan.review.decisions.model_versions import ReviewedFile

ONE_REVIEWER: Final = 0.8
ONE_FOLDER: Final = 0.5
DUPLICATES: Final = 0.3
ONE_GROUP: Final = 0.1
DRIFT_P: Final = 0.001
FEW: Final = 50
SURE: Final = 0.95
_MIN_FOR_SHARES: Final = 10


@dataclass(frozen=True, slots=True)
class Doubt:
    """One sign: its kind for programs, and a sentence for people."""

    kind: str
    message: str


def doubts(files: Sequence[ReviewedFile], groups: Sequence[int]) -> tuple[Doubt, ...]:
    """Return what speaks against learning from these decisions, in the order of their making.

    ``groups`` numbers near-duplicates; names of reviewers are not repeated, folders neither.
    """
    found: list[Doubt] = []
    n_files = len(files)
    if n_files < FEW:
        found.append(
            Doubt("few", f"{n_files} reviewed files: fewer than {FEW}; the intervals show how little that is")
        )
    if n_files >= _MIN_FOR_SHARES:
        found += _concentration(files)
        found += _copies(groups)
    found += _drift(files)
    n_changed = sum(item.n_verdicts > 1 for item in files)
    if n_changed:
        found.append(
            Doubt("disagreement", f"{n_changed} files were given different verdicts; the last one is learned")
        )
    n_against = sum(
        (not item.is_phi and item.health >= SURE and item.evidence.get("direct", 0) > 0) for item in files
    )
    if n_against:
        found.append(
            Doubt(
                "against_evidence",
                f"{n_against} files with a direct identifier and a health score of {SURE} or more were called"
                " not_phi: look at them again before activating",
            )
        )
    return tuple(found)


def _concentration(files: Sequence[ReviewedFile]) -> list[Doubt]:
    found = []
    _, most = Counter(item.reviewer for item in files).most_common(1)[0]
    if most >= ONE_REVIEWER * len(files):
        found.append(
            Doubt(
                "one_reviewer", f"one reviewer made {most} of {len(files)} decisions: have some decided twice"
            )
        )
    for is_phi, verdict in ((True, "phi"), (False, "not_phi")):
        folders = Counter(
            (item.source.root, item.source.path.rpartition(b"/")[0])
            for item in files
            if item.is_phi == is_phi
        )
        total = folders.total()
        most = max(folders.values(), default=0)
        if total >= _MIN_FOR_SHARES and most > ONE_FOLDER * total:
            found.append(
                Doubt(
                    "one_folder",
                    f"{most} of {total} files called {verdict} lie in one folder: the model may learn its"
                    " kind of text instead of PHI",
                )
            )
    return found


def _copies(groups: Sequence[int]) -> list[Doubt]:
    counts = Counter(groups)
    copies = sum(count for count in counts.values() if count > 1)
    largest = max(counts.values(), default=0)
    if copies > DUPLICATES * len(groups) or largest > max(ONE_GROUP * len(groups), 2):
        message = (
            f"{copies} of {len(groups)} files have a near-duplicate among them, the largest group {largest}:"
            " they teach less than their number says"
        )
        return [Doubt("near_duplicates", message)]
    return []


def _drift(files: Sequence[ReviewedFile]) -> list[Doubt]:
    """Compare the last quarter of the decisions with those before it, by Fisher's exact test."""
    cut = len(files) - len(files) // 4
    if len(files) - cut < _MIN_FOR_SHARES:
        return []
    table = [
        [sum(item.is_phi for item in part), sum(not item.is_phi for item in part)]
        for part in (files[:cut], files[cut:])
    ]
    p_value = float(stats.fisher_exact(table)[1])
    if p_value >= DRIFT_P:
        return []
    before, after = (row[0] / sum(row) for row in table)
    message = (
        f"the share of phi among the last quarter of the decisions is {after:.2f}, before it was {before:.2f}"
        f" (p = {p_value:.1e}): other files, another reviewer, or wrong labels?"
    )
    return [Doubt("drift", message)]
