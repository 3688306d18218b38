"""Each detector's FN, TN and accuracy from the estimate, and the dependence of the detectors' features."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from phiscan.language import lazy_gettext as _
from phiscan.metrics.capture_recapture.missed import MissedFiles
from phiscan.metrics.detector_accuracy import detector_accuracy
from phiscan.metrics.independence import feature_information
from phiscan.model import PiiBit, Verdict
from phiscan.report.data.detectors import DetectorRow, FeatureDependence
from phiscan.report.data.missed import History, PairEstimate
from phiscan.report.data.report import FileEntry

_NAME_BITS = (PiiBit.FIRST_NAME, PiiBit.LAST_NAME, PiiBit.HEALTH_PROFESSIONAL)
_PATTERN_BITS = (
    PiiBit.SIN,
    PiiBit.HEALTH_CARD,
    PiiBit.PASSPORT,
    PiiBit.DRIVER_LICENSE,
    PiiBit.STREET_ADDRESS,
    PiiBit.PHONE,
    PiiBit.EMAIL,
    PiiBit.SSN,
    PiiBit.MRN,
    PiiBit.HEALTH_PLAN,
)
MIN_COMPARED = 10  # with fewer files the mutual information is mostly bias


def detector_rows(
    names: Sequence[str],
    histories: Sequence[History],
    models: MissedFiles | None,
    pairs: Sequence[PairEstimate],
) -> tuple[DetectorRow, ...]:
    """Return the confusion matrix of each detector under the estimated number of PHI files.

    The estimate is the model average, or Chapman's of the one pair of detectors; if reviewers confirmed PHI
    that no detector marked, the total is at least the known number.

    Source: Mane et al. (2004), section 2, last step.
    """
    known = sum(history.phi for history in histories)
    total, by = _total(models, pairs)
    total = None if total is None else max(total, float(known))
    n_files = sum(history.files for history in histories)
    rows = []
    for name in names:
        marked = [history for history in histories if history.detectors[name]]
        tp, fp = sum(history.phi for history in marked), sum(history.not_phi for history in marked)
        open_ = sum(history.unverified for history in marked)
        # Files without a verdict are neither true nor false positives: they must not count as TN.
        found = detector_accuracy(tp, total, fp=None if open_ else fp, files=n_files)
        reason = found.reason
        if open_ and total is not None:
            reason = _("tn, accuracy: {open} files that it marked are not verified", open=open_)
        rows.append(
            DetectorRow(
                name, tp, fp, open_, found.fn, found.tn, found.sensitivity, found.accuracy, by, reason
            )
        )
    return tuple(rows)


def _total(models: MissedFiles | None, pairs: Sequence[PairEstimate]) -> tuple[float | None, str]:
    if models is not None:
        return (None if models.averaged is None else models.averaged.total), _("averaged over models")
    if len(pairs) == 1:
        return pairs[0].chapman.total, _("Chapman")
    return None, _("no estimate")


def feature_dependence(files: Sequence[FileEntry], names: Sequence[str]) -> tuple[FeatureDependence, ...]:
    """Estimate the mutual information of the features of each pair of detectors over confirmed PHI files.

    Patterns: one bit per identifier. Names: the bits of names, the number of people, the health score. How a
    The text detector uses hashed sums that no scan stores, so that it has no feature here.

    Source: Mane et al. (2004), section 3 and figure 2.
    """
    confirmed = [entry for entry in files if entry.verdict is Verdict.PHI and entry.health_score is not None]
    columns = {
        "patterns": {
            str(bit.value): [float(bit.value in entry.bits) for entry in confirmed] for bit in _PATTERN_BITS
        },
        "names": {
            **{str(bit.value): [float(bit.value in entry.bits) for entry in confirmed] for bit in _NAME_BITS},
            "people": [float(entry.people) for entry in confirmed],
            "health score": [entry.health_score or 0.0 for entry in confirmed],
        },
    }
    return tuple(_pair(first, second, columns, len(confirmed)) for first, second in combinations(names, 2))


def _pair(
    first: str, second: str, columns: dict[str, dict[str, list[float]]], compared: int
) -> FeatureDependence:
    missing = [name for name in (first, second) if name not in columns]
    if missing or compared < MIN_COMPARED:
        reason = (
            _("the features of {missing} are hashed sums, which no scan stores", missing=missing[0])
            if missing
            else _("fewer than {min_compared} confirmed PHI files", min_compared=MIN_COMPARED)
        )
        return FeatureDependence(first, second, compared, None, None, "", "", reason)
    one, two = columns[first], columns[second]
    nats = feature_information(np.array(list(one.values())).T, np.array(list(two.values())).T)
    row, column = np.unravel_index(int(nats.argmax()), nats.shape)
    return FeatureDependence(
        first,
        second,
        compared,
        float(nats.mean()),
        float(nats.max()),
        list(one)[int(row)],
        list(two)[int(column)],
        None,
    )
