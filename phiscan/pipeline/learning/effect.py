"""What a version would change on the last scan, from stored evidence: referrals, false ones, missed PHI.

The version is applied to every file of the share, reviewed or not; a reviewed file is judged without itself
and its near-copies. A file without stored evidence keeps its decision: it is below the threshold by more than
a version may add, or it is counted as not judged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.decision.decided_examples import LOG_ODDS, MAX_SHIFT, PATIENTS, SCALE, LearnedDecision, point_of
from phiscan.health.patient_classifier import log_odds_of, probability_of
from phiscan.metrics.elusion import Stratum, stratified_elusion
from phiscan.metrics.intervals import clopper_pearson
from phiscan.model import ScannedFile, Verdict

N_CHANGES: Final = 20  # files that are listed
REFERRED, SECOND, REST, LATER = "referred", "second list", "rest", "later"
_LEAST: Final = 1e-9

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Share:
    """The files of the last scan with their strata; a stratum is sampled by itself."""

    files: tuple[ScannedFile, ...]
    strata: tuple[str, ...]
    log_odds: Floats  # of the shipped model
    random: frozenset[int] = field(repr=False)  # unreferred files of the random sample

    @classmethod
    def of(cls, files: Iterable[ScannedFile], *, random: Iterable[int], drawn: datetime | None) -> Share:
        """Return the share; ``drawn``: when its sample was drawn, which files that came later are not in."""
        kept = tuple(files)
        strata = tuple(_stratum(file, drawn) for file in kept)
        log_odds = [_log_odds(file) for file in kept]
        return cls(
            kept,
            strata,
            np.array(log_odds, dtype=float),
            frozenset(random) - {file.file_id for file in kept if file.is_referred},
        )

    def random_reviewed(self) -> frozenset[int]:
        """Return the files of the random sample that have a verdict."""
        return frozenset(
            file.file_id for file in self.files if file.verdict is not None and file.file_id in self.random
        )


def _stratum(file: ScannedFile, drawn: datetime | None) -> str:
    if file.is_referred:
        return REFERRED
    if drawn is not None and file.since > drawn:
        return LATER
    return SECOND if file.second_look else REST


def _log_odds(file: ScannedFile) -> float:
    """Return the stored log-odds; of a file without evidence those of its probability."""
    if LOG_ODDS in file.evidence:
        return file.evidence[LOG_ODDS] / SCALE
    return log_odds_of(min(max(file.probability, _LEAST), 1.0 - _LEAST))


def effect_of(learned: LearnedDecision, share: Share, *, is_knn_alone: bool) -> dict[str, Any]:
    """Return referrals before and after, estimates, files that change most, what speaks against it."""
    limit = learned.threshold
    after = np.array([file.is_referred for file in share.files], dtype=np.bool_)
    p_before = np.array([file.probability for file in share.files])
    before, p_after, n_unjudged = after.copy(), p_before.copy(), 0
    for index, file in enumerate(share.files):
        log_odds = float(share.log_odds[index])
        point = point_of(file.evidence)
        if not point or is_knn_alone:
            n_unjudged += is_knn_alone or log_odds + MAX_SHIFT >= limit
            continue
        without = None if file.verdict is None else learned.examples.copies_of(point)
        corrected = learned.corrected(log_odds, point, without=without)
        corrected += file.evidence.get(PATIENTS, 0) / SCALE
        after[index], p_after[index] = corrected >= limit, probability_of(corrected)
    reviewed = np.array([file.verdict is not None for file in share.files], dtype=np.bool_)
    referred = {
        name: {
            "before": int((before & part).sum()),
            "after": int((after & part).sum()),
            "spared": int((before & ~after & part).sum()),
            "added": int((after & ~before & part).sum()),
        }
        for name, part in (("reviewed", reviewed), ("unreviewed", ~reviewed))
    }
    estimates = {
        name: {"before": of(share, before, before), "after": of(share, after, before)}
        for name, of in (("false_referrals", _false), ("missed_phi", _missed))
    }
    against = []
    if referred["unreviewed"]["added"] > referred["unreviewed"]["spared"]:
        against.append(
            f"it refers {referred['unreviewed']['added']} more unreviewed files and spares"
            f" {referred['unreviewed']['spared']}"
        )
    if estimates["missed_phi"]["after"]["upper"] is None:
        against.append(f"missed PHI cannot be bounded: {estimates['missed_phi']['after']['reason']}")
    if is_knn_alone:
        against.append(
            "the nearest prototypes decide alone, and stored evidence does not say what they change"
        )
    return {
        "share": {"files": len(share.files), "not_judged": n_unjudged, "referred": referred},
        "estimates": estimates,
        "changes": _changes(share, before, after, p_before, p_after),
        "accept": against,
    }


def _changes(
    share: Share, before: Flags, after: Flags, p_before: Floats, p_after: Floats
) -> list[dict[str, Any]]:
    """Return the files that change most: those that change sides first."""
    moved = np.abs(p_after - p_before)
    order = np.lexsort((-moved, before == after))[:N_CHANGES]
    return [
        {
            "file": share.files[index].file_id,
            "path": share.files[index].path,
            "verdict": share.files[index].verdict,
            "before": round(float(p_before[index]), 4),
            "after": round(float(p_after[index]), 4),
            "referred_before": bool(before[index]),
            "referred_after": bool(after[index]),
        }
        for index in order.tolist()
        if moved[index] > 0
    ]


def _false(share: Share, referred: Flags, _before: Flags) -> dict[str, Any]:
    """Estimate the referred files without PHI: the unreviewed ones as the reviewed are."""
    verdicts = [file.verdict for file, is_in in zip(share.files, referred, strict=True) if is_in]
    known, n_open = verdicts.count(Verdict.NOT_PHI), verdicts.count(None)
    n_reviewed = len(verdicts) - n_open
    low, high = clopper_pearson(known, n_reviewed) if n_reviewed else (0.0, 1.0)
    return {
        "value": known + n_open * known / n_reviewed if n_reviewed else (0.0 if not n_open else None),
        "ci95": [known + n_open * low, known + n_open * high],
    }


def _missed(share: Share, referred: Flags, before: Flags) -> dict[str, Any]:
    """Estimate and bound the PHI files that are not referred; unsure counts as PHI.

    Known ones, the unreviewed ones that the version spares (any may be PHI), and in each stratum of the
    unreviewed rest a bound by its random sample.
    """
    known, n_spared, strata = 0, 0, dict.fromkeys((SECOND, REST, LATER), (0, 0, 0))
    for file, is_in, was_in, stratum in zip(share.files, referred, before, share.strata, strict=True):
        if is_in:
            continue
        is_phi = file.verdict is not None and file.verdict is not Verdict.NOT_PHI
        if file.verdict is not None:
            known += is_phi
        elif was_in:
            n_spared += 1
        if stratum != REFERRED:
            n_files, n_sampled, n_found = strata[stratum]
            is_sampled = file.verdict is not None and file.file_id in share.random
            # Reviewed for what they look like: they are counted as known, and say nothing of the others.
            is_counted = file.verdict is None or is_sampled
            strata[stratum] = (
                n_files + is_counted,
                n_sampled + is_sampled,
                n_found + (is_sampled and is_phi),
            )
    left = {name: counts for name, counts in strata.items() if counts[0] > counts[1]}
    if blank := [name for name, (_, n_sampled, _) in left.items() if not n_sampled]:
        return {
            "value": None,
            "upper": None,
            "known": known,
            "reason": f"no file of a random sample was reviewed of: {', '.join(blank)}",
        }
    if not left:
        return {"value": float(known), "upper": known + n_spared, "known": known, "reason": None}
    bound = stratified_elusion([Stratum(name, *counts) for name, counts in left.items()])
    n_found = sum(found for _, _, found in left.values())
    return {
        "value": known - n_found + (bound.missed or 0.0),
        "upper": known - n_found + bound.upper_hypergeometric + n_spared,
        "known": known,
        "reason": None,
    }
