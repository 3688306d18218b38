"""What the report says of each detector once the number of PHI files is estimated, and of their features."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DetectorRow:
    """A detector's confusion matrix: TP and FP as reviewed, FN, TN and accuracy from the estimated total.

    ``by`` names the estimate of all PHI files; ``reason`` says what is missing.
    """

    name: str
    tp: int
    fp: int
    unverified: int
    fn: float | None
    tn: float | None
    sensitivity: float | None
    accuracy: float | None
    by: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class FeatureDependence:
    """Mutual information, in nats, of the stored features of two detectors over the confirmed PHI files.

    ``mean`` is over all pairs of features, as Mane et al. compare detectors; ``highest`` is the most
    dependent pair, ``first_feature`` and ``second_feature``.
    """

    first: str
    second: str
    compared: int
    mean: float | None
    highest: float | None
    first_feature: str
    second_feature: str
    reason: str | None
