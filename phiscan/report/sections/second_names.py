"""A second family of name recognizers: a fourth capture list on a random sample, and near misses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from phiscan.language import lazy_gettext as _
from phiscan.model import SECOND_NAMES, Verdict
from phiscan.report.data.missed import SecondFamily
from phiscan.report.data.report import FileEntry
from phiscan.report.sections.missed import capture_recapture, histories

ASSUMPTION = _(
    "The sample is drawn by a keyed hash of each file's content, whatever any detector "
    "says, so its missed files stand for those of all files in proportion. The new list "
    "shares the health score with the list of names: the two depend on each other, and "
    "only models with the term of that pair allow for it."
)


def second_family(files: Sequence[FileEntry]) -> SecondFamily:
    """Estimate with the fourth list on the sample, and count the PHI of the near misses.

    Args:
        files: those that were read, with the results of the three detectors and of the second family.
    """
    drawn = tuple(
        replace(entry, detectors={**entry.detectors, SECOND_NAMES: entry.second_drawn})
        for entry in files
        if entry.second_drawn is not None
    )
    near = [entry for entry in files if entry.second_near is not None]
    named = [entry for entry in near if entry.second_near]
    capture = capture_recapture(drawn, every_total=False)
    averaged = capture.models.averaged if capture.models else None
    missed, reason = None, capture.reason
    if not drawn:
        reason = _("the second family ran on no file of the sample")
    elif averaged is not None:
        missed = averaged.missed * len(files) / len(drawn)
    elif reason is None:
        reason = capture.models.reason if capture.models else _("no model was fitted")
    return SecondFamily(
        read=len(files),
        sampled=len(drawn),
        capture=capture,
        histories=histories(drawn),
        missed_of_all=missed,
        reason=reason,
        near_misses=len(near),
        near_misses_named=len(named),
        near_misses_named_open=sum(entry.verdict not in {Verdict.PHI, Verdict.NOT_PHI} for entry in named),
        near_misses_phi=sum(entry.verdict is Verdict.PHI for entry in near),
        assumption=ASSUMPTION,
    )
