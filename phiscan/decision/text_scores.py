"""Masked document to the text detector's log-odds of the whole and of each passage alone."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from phiscan.health.text_detector import TextModel


@dataclass(frozen=True, slots=True)
class TextScores:
    """Log-odds by the text detector; those of a passage are computed on first use and cached."""

    model: TextModel = field(repr=False)
    codes: npt.NDArray[np.uint32] = field(repr=False)  # of the masked text
    document: float  # of the whole text
    _by_passage: dict[tuple[int, int], float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, model: TextModel, codes: npt.NDArray[np.uint32]) -> TextScores:
        """Return the scores of a masked text."""
        return cls(model, codes, model.decide(codes))

    def passage(self, start: int, end: int) -> float:
        """Return the log-odds of ``[start, end)`` as a text by itself."""
        if (start, end) not in self._by_passage:
            self._by_passage[start, end] = self.model.log_odds(self.codes[start:end])
        return self._by_passage[start, end]
