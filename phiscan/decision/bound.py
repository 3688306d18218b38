"""A cheaply screened document to the highest P(PHI) that the expensive recognizers could still give it.

The cheap recognizers (rules, formats, health terms, the text detector) leave some inputs of P(PHI) open. Of
each passage those are set to the value with the highest log-odds that the expensive recognizers can bring
about:

- ``full_name``, ``name``: 1. A name may be found in any passage.
- ``name_by_health``, ``name_by_clinical``: 1 where the passage holds such a term, otherwise 0, for both
  measure the distance to one. Health terms are read from the whole text beforehand, and no name adds any.
- ``people``: at least one, whose weight is negative.
- ``record_number``: 1 where a number of five digits or more is no finding yet: such a number becomes one
  beside a name, or where its surroundings say so.
- ``role_name``, whose weight is negative, stays as it is: an expensive recognizer only adds.

Three inputs have no such maximum. The words of a passage and the text detector see names and numbers masked
by their types, and doubtful names are counted; these may rise together by ``allowance_of``, which was
measured, not derived: docs/decisions/0056. What a larger rise loses is estimated in
every scan from the audit sample, on which everything is computed.

The encoder adds to the log-odds of passages that name health alone (``PassageInputs.names_health``), which
no later recognizer changes, and at most ``PassageEncoder.highest``. It is asked before names are searched,
with the names as they are written; then ``ENCODER_ALLOWANCE`` is added, which was measured, too
(docs/experiments/2026-11-28-half-the-house.md).

Before the cheap recognizers, strong identifiers alone are known (``Screener.strong_identifiers``). Then
contact data, dates and organizations may add as well: ``STRONG_ALLOWANCE``
(docs/experiments/2026-11-28-strong-identifiers.md).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from phiscan.decision.evidence import NAMES_OF_EVIDENCE, Floats, counts_in
from phiscan.model import Finding
from phiscan.text.automata import Rare
from phiscan.text.intervals import is_taken, merged

# Log-odds that words, text detector and doubtful names may add together. In a short text, a name or two are a
# large part of the words; searching it costs next to nothing.
ALLOWANCE: Final = 1.0
SHORT_TEXT_ALLOWANCE: Final = 4.0
SHORT_CHARS: Final = 600
STRONG_ALLOWANCE: Final = 1.5  # at least, while only strong identifiers are known
TEXT_ALLOWANCE: Final = 0.5  # and how far the text detector's log-odds may then rise
ENCODER_ALLOWANCE: Final = (1.5, 1.75)  # once the encoder was asked; while only strong identifiers are known
ENCODER_CHARS: Final = 1000  # of a text for which it is: names in a shorter one cost less than asking

_AT: Final = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
_OF_NAME: Final = (_AT["full_name"], _AT["name"])
# With the letters that OCR takes for digits.
_NUMBER: Final = Rare(
    re.compile(r"(?<![\w.,])[A-Z]{0,3}-?\d(?:[ -]?[\dOoIlSB]){4,}(?![\w%]|[.,]\d)", re.ASCII),
    r"(?:\A|[^0-9A-Za-z_.,])[A-Z]{0,3}-?[0-9](?:[ -]?[0-9OoIlSB]){4}",
)
_ONE_PERSON: Final = float(np.log1p(1))


def allowance_of(n_chars: int, least: float = ALLOWANCE) -> float:
    """Return what inputs without a maximum may add to the log-odds of such a text; ``least``: at least."""
    return max(SHORT_TEXT_ALLOWANCE if n_chars < SHORT_CHARS else ALLOWANCE, least)


def with_maximum(vectors: Floats, has_number: npt.NDArray[np.bool_]) -> Floats:
    """Return the evidence of passages with a full name beside each kind of health term that they hold.

    ``has_number``: whether a number that may be one of a record is in each passage.
    """
    most = vectors.copy()
    most[:, list(_OF_NAME)] = 1.0
    most[:, _AT["name_by_health"]] = vectors[:, _AT["concepts"]] > 0
    most[:, _AT["name_by_clinical"]] = vectors[:, _AT["clinical"]] > 0
    most[:, _AT["people"]] = np.maximum(vectors[:, _AT["people"]], _ONE_PERSON)
    most[:, _AT["record_number"]] = np.maximum(vectors[:, _AT["record_number"]], has_number)
    return most


def hold_numbers(
    text: str, findings: Sequence[Finding], places: Sequence[tuple[int, int]]
) -> npt.NDArray[np.bool_]:
    """Tell of each place ``[start, end)`` in a text whether a number is there that no finding covers."""
    taken = merged((one.span.start, one.span.end) for one in findings)
    starts = [match.start() for match in _NUMBER.finditer(text) if not is_taken(*match.span(), taken)]
    low, high = np.array(places, dtype=np.int64).reshape(-1, 2).T
    return counts_in(np.array(starts, dtype=np.int64), low, high) > 0
