"""Upper bound of P(PHI) for a document that only the cheap recognizers have screened.

The cheap recognizers (rules, formats, health terms, the text detector) leave some inputs of P(PHI) unknown.
In each passage these are set to the value with the highest log-odds that the expensive recognizers could
produce:

- ``full_name``, ``name``: 1. A name may be found in any passage.
- ``name_by_health``, ``name_by_clinical``: 1 where the passage holds such a term, otherwise 0, since both
  measure the distance to one. All health terms are known already, and names add none.
- ``people``: at least one, whose weight is negative.
- ``record_number``: 1 where a number of five digits or more is not yet a finding: such a number becomes one
  near a name, or by its context.
- ``role_name``, whose weight is negative, is unchanged: an expensive recognizer only adds findings.

Three inputs have no such maximum: the words of a passage and the text detector, which read names and numbers
masked by type, and the count of doubtful names. Together they may add ``allowance_of``, which was measured,
not derived: docs/experiments/2026-11-26-cascade.md. The loss by larger increases is estimated in every scan
from the audit sample, on which all recognizers run.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from phiscan.decision.evidence import NAMES_OF_EVIDENCE, DocumentEvidence, Floats, Positions
from phiscan.decision.model import PhiModel, inputs_of
from phiscan.decision.text_scores import TextScores
from phiscan.model import Finding
from phiscan.screen.resolution import is_taken, merged

# Log-odds that words, text detector and doubtful names may add together. In a short text, one or two names
# are a large part of the words, and the expensive recognizers cost little.
ALLOWANCE: Final = 1.0
SHORT_TEXT_ALLOWANCE: Final = 4.0
SHORT_CHARS: Final = 600

_AT: Final = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
_OF_NAME: Final = (_AT["full_name"], _AT["name"])
# With the letters that OCR takes for digits.
_NUMBER: Final = re.compile(r"(?<![\w.,])[A-Z]{0,3}-?\d(?:[ -]?[\dOoIlSB]){4,}(?![\w%]|[.,]\d)", re.ASCII)
_ONE_PERSON: Final = float(np.log1p(1))


def highest_log_odds(
    model: PhiModel, evidence: DocumentEvidence, text: TextScores, findings: Sequence[Finding]
) -> float:
    """Return the highest possible log-odds of a document's strongest passage.

    Args:
        model: the weights, at the prevalence of the share.
        evidence: from the findings of the cheap recognizers.
        text: the text detector's scores, with these findings masked.
        findings: those of the cheap recognizers; numbers in them are known.
    """
    numbers = _unclassified_numbers(evidence.document.text, findings)
    passages = evidence.passages
    rows = np.array([_row(model, evidence, passage, text.document, numbers) for passage in passages])
    return model.highest(rows, passages, text, evidence.message) + allowance_of(len(evidence.document.text))


def allowance_of(n_chars: int) -> float:
    """Return the log-odds that the inputs without a maximum may add, by the length of the text."""
    return SHORT_TEXT_ALLOWANCE if n_chars < SHORT_CHARS else ALLOWANCE


def _row(
    model: PhiModel, evidence: DocumentEvidence, passage: tuple[int, int], text: float, numbers: Positions
) -> Floats:
    window = evidence.window(*passage)
    vector = with_maximum(evidence.vector(window), has_number=numbers.count(*passage) > 0)
    n_chars, n_text_chars = passage[1] - passage[0], len(evidence.document.text)
    return inputs_of(model.words_log_odds(evidence, window), vector, n_chars, text, n_text_chars)


def with_maximum(vector: Floats, *, has_number: bool) -> Floats:
    """Return the evidence of a passage, as if a full name were next to each kind of health term in it.

    ``has_number``: the passage holds a number that may be a record number.
    """
    most = vector.copy()
    most[list(_OF_NAME)] = 1.0
    most[_AT["name_by_health"]] = float(vector[_AT["concepts"]] > 0)
    most[_AT["name_by_clinical"]] = float(vector[_AT["clinical"]] > 0)
    most[_AT["people"]] = max(float(vector[_AT["people"]]), _ONE_PERSON)
    most[_AT["record_number"]] = max(float(vector[_AT["record_number"]]), float(has_number))
    return most


def _unclassified_numbers(text: str, findings: Sequence[Finding]) -> Positions:
    """Return the offsets of numbers that no finding covers."""
    taken = merged((one.span.start, one.span.end) for one in findings)
    starts = [match.start() for match in _NUMBER.finditer(text) if not is_taken(*match.span(), taken)]
    return Positions(np.array(starts, dtype=np.int64))
