"""A detector's confusion matrix from its confirmed positives and the estimated number of all positives."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.language import lazy_gettext as _


@dataclass(frozen=True, slots=True)
class DetectorAccuracy:
    """One detector; FN, TN and accuracy are estimates, None where what they need was not given."""

    tp: int
    fp: int | None
    fn: float | None
    tn: float | None
    sensitivity: float | None
    accuracy: float | None
    reason: str | None = None


def detector_accuracy(
    tp: int, actual_positives: float | None, *, fp: int | None = None, files: int | None = None
) -> DetectorAccuracy:
    """Return FN = AP - TP, TN = N - AP - FP and the accuracy (TP + TN)/N from an estimate of AP.

    Args:
        tp: confirmed positives that the detector marked.
        actual_positives: the estimated number of all positives, AP; None where it does not exist.
        fp: files that the detector marked and review refuted.
        files: all files that the detector read, N.

    Raises:
        ValueError: a count is negative, AP is below TP, or TP + FP exceeds N.

    Source: Mane et al. (2004), section 2, last step.

    >>> detector_accuracy(80, 100.0, fp=10, files=1000)
    DetectorAccuracy(tp=80, fp=10, fn=20.0, tn=890.0, sensitivity=0.8, accuracy=0.97, reason=None)
    """
    if tp < 0 or (fp is not None and fp < 0) or (files is not None and files < tp + (fp or 0)):
        message = "expected counts of 0 or more, and no more files marked than read"
        raise ValueError(message)
    if actual_positives is None:
        return DetectorAccuracy(
            tp, fp, None, None, None, None, _("the number of actual positives is unknown")
        )
    if actual_positives < tp:
        message = f"expected at least {tp} actual positives, got {actual_positives:g}"
        raise ValueError(message)
    fn = actual_positives - tp
    sensitivity = tp / actual_positives if actual_positives else None
    if fp is None or files is None:
        reason = _("tn, accuracy: need the detector's false positives and the number of files read")
        return DetectorAccuracy(tp, fp, fn, None, sensitivity, None, reason)
    tn = files - actual_positives - fp
    if tn < 0:
        reason = _("tn, accuracy: the estimated positives and the false positives exceed the files read")
        return DetectorAccuracy(tp, fp, fn, None, sensitivity, None, reason)
    return DetectorAccuracy(tp, fp, fn, tn, sensitivity, (tp + tn) / files)
