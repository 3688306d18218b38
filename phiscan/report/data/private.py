"""Values of a report with differential privacy: noisy figures and public sizes, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class PrivateFigure:
    """One released figure; it is not cut to [0, 1], because noise may carry it outside.

    ``noise95`` is the distance within which 95% of the noise lies, where it follows from public numbers;
    ``warning`` says that even the least noise drowns the figure. ``epsilon`` and ``delta`` are 0 for what is
    computed from other released figures. ``reason`` says why there is no value or no distance.
    """

    name: str
    label: str
    value: float | None
    noise95: float | None
    mechanism: str
    epsilon: float
    delta: float
    warning: str
    reason: str | None


@dataclass(frozen=True, slots=True)
class PrivateData:
    """The whole of a report with differential privacy.

    ``read`` and ``decided`` are the public sizes: files that were read, and decided ones among them.
    ``spent`` is what all releases about these folders add up to, this one included.
    """

    scan: int
    made: datetime
    phiscan: str
    read: int
    decided: int
    figures: tuple[PrivateFigure, ...]
    epsilon: float
    delta: float
    spent_epsilon: float
    spent_delta: float
    protects: str
    limits: tuple[str, ...]
    source: str
