"""The random sample of files that were not referred: which files are in it, and what its review proves.

Every file has a place in a random order that depends only on the seed and on its root and path, so the
sample is the same in every report, a new file finds its place in it, and nobody can choose what is looked
at. The sample reviewed so far is the longest beginning of the order in which every file has a verdict:
whoever decided other files, for whatever reason, does not disturb it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from phiscan.metrics import elusion as bounds
from phiscan.model import Referral, Verdict
from phiscan.report.data.report import Elusion
from phiscan.review.records.items import FileRow

SEED = "1"
TARGET_RATE = 0.01  # the planned sample shows, if nothing is found in it, that at most 1% are missed


def unreferred(rows: Iterable[FileRow]) -> list[FileRow]:
    """Return the files that were read and not referred: the population that the sample stands for."""
    return [row for row in rows if row.referral not in {None, Referral.REFERRED}]


def sample_order(files: Sequence[FileRow], seed: str) -> tuple[FileRow, ...]:
    """Return files in the random order of a seed.

    Source: Ohlsson (1995), "Coordination of samples using permanent random numbers".
    """
    return tuple(
        sorted(
            files,
            key=lambda row: sha256(f"{seed}\0{row.root}\0{row.path}".encode("utf-8", "replace")).digest(),
        )
    )


def planned_size(population: int) -> int:
    """Return how many files to review so that finding none bounds the missed rate by ``TARGET_RATE``.

    >>> planned_size(1000), planned_size(3)
    (238, 3)
    """
    return min(population, bounds.sample_size(TARGET_RATE, population=population)) if population else 0


def estimate(population_files: Sequence[FileRow], n_found: int, seed: str, *, n_read: int) -> Elusion:
    """Bound the PHI files among those not referred from the reviewed beginning of the random order.

    A verdict of unsure counts as PHI, so that doubt cannot make the bound smaller.

    Args:
        population_files: every file that was read and not referred, see ``unreferred``.
        n_found: PHI files confirmed among the referred ones, for the recall.
        seed: of the random order.
        n_read: files that were read, referred or not.

    Source: see :mod:`phiscan.metrics.elusion`.
    """
    reviewed: list[Verdict] = []
    for row in sample_order(population_files, seed):
        if row.verdict is None:
            break
        reviewed.append(row.verdict)
    population, sample = len(population_files), len(reviewed)
    n_unsure = reviewed.count(Verdict.UNSURE)
    found = reviewed.count(Verdict.PHI) + n_unsure
    reason = None
    if n_read == 0:
        reason = "no file was read"
    elif population == 0:
        reason = "every file that was read was referred, so none can have been missed by the screen"
    elif sample == 0:
        reason = "no file of the random sample has been reviewed yet"
    known = bounds.elusion(population, sample, found, sequential=True) if reason is None else None
    upper = known.upper_sequential if known else None
    return Elusion(
        population=population,
        sample=sample,
        found=found,
        unsure=n_unsure,
        planned=planned_size(population),
        seed=seed,
        rate=known.rate if known else None,
        missed=known.missed if known else None,
        upper_sequential=upper,
        upper_hypergeometric=known.upper_hypergeometric if known else None,
        upper_binomial=known.upper_binomial if known else None,
        recall_lower=None if upper is None else bounds.recall_lower(n_found, upper),
        reason=reason,
        assumption=bounds.ASSUMPTION,
        source=bounds.SOURCE,
    )
