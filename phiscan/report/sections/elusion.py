"""The random sample of files that were not referred: its files, and the bounds from its review.

Every file has a position in a random order that depends only on the seed and on its root and path, so the
sample is the same in every report, a new file has its position in it, and nobody can choose the files. The
sample reviewed so far is a beginning of the order that contains every PHI file found in the planned sample; a
file without a verdict in it counts as PHI. Files decided beyond it, for any reason, do not count as sampled:
their verdicts only set the minimum and the maximum of the bound.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from hashlib import sha256

from phiscan.language import lazy_gettext as _
from phiscan.metrics import elusion as bounds
from phiscan.model import Referral, Verdict
from phiscan.report.data.missed import Elusion
from phiscan.review.records.items import FileRow

SEED = "1"
TARGET_RATE = 0.01  # if the planned sample contains no PHI, at most 1% are missed


def unreferred(rows: Iterable[FileRow]) -> list[FileRow]:
    """Return the files that were read and not referred: the population of the sample."""
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
    """Return the sample size for which finding no PHI bounds the missed rate by ``TARGET_RATE``.

    >>> planned_size(1000), planned_size(3)
    (238, 3)
    """
    return min(population, bounds.sample_size(TARGET_RATE, population=population)) if population else 0


def estimate(population_files: Sequence[FileRow], n_found: int, seed: str, *, n_read: int) -> Elusion:
    """Bound the PHI files among those not referred from the reviewed beginning of the random order.

    A verdict of unsure counts as PHI, and so does a file of the beginning without a verdict, so that neither
    can make the bound too small. The estimates (rate, missed) use the reviewed files alone.

    Args:
        population_files: every file that was read and not referred, see ``unreferred``.
        n_found: PHI files confirmed among the referred ones, for the recall.
        seed: of the random order.
        n_read: files that were read, referred or not.

    Source: see :mod:`phiscan.metrics.elusion`.
    """
    population, planned = len(population_files), planned_size(len(population_files))
    verdicts = [row.verdict for row in sample_order(population_files, seed)]
    # Beyond the planned sample only files in sequence were reviewed because of their position.
    drawn = max(planned, next((place for place, v in enumerate(verdicts) if v is None), population))
    prefix = bounds.best_prefix(population, [_is_phi(verdict) for verdict in verdicts[:drawn]])
    sample, found, n_open = (prefix.size, prefix.found, prefix.open) if prefix else (0, 0, 0)
    reviewed = sample - n_open
    known = sum(_is_phi(verdict) is True for verdict in verdicts)
    known_clean = verdicts.count(Verdict.NOT_PHI)
    reason = None
    if n_read == 0:
        reason = _("no file was read")
    elif population == 0:
        reason = _("every file that was read was referred, so none can have been missed by the screen")
    elif sample == 0:
        reason = _("no file of the random sample has been reviewed yet")
    bound = bounds.elusion(population, sample, found + n_open, sequential=True) if reason is None else None
    upper = None
    if bound is not None and bound.upper_sequential is not None:
        upper = min(max(bound.upper_sequential, known), population - known_clean)
    return Elusion(
        population=population,
        sample=sample,
        found=found,
        unsure=verdicts[:sample].count(Verdict.UNSURE),
        open=n_open,
        known=known,
        planned=planned,
        seed=seed,
        rate=found / reviewed if bound else None,
        missed=population * found / reviewed if bound else None,
        upper_sequential=upper,
        upper_hypergeometric=bound.upper_hypergeometric if bound else None,
        upper_binomial=bound.upper_binomial if bound else None,
        recall_lower=None if upper is None else bounds.recall_lower(n_found, upper),
        reason=reason,
        assumption=bounds.ASSUMPTION,
        source=bounds.SOURCE,
    )


def _is_phi(verdict: Verdict | None) -> bool | None:
    return None if verdict is None else verdict is not Verdict.NOT_PHI
