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
by their types, and doubtful names are counted; these may rise together by ``rise_of``, which was measured,
not derived: docs/experiments/2026-11-26-cascade.md. What a larger rise loses is estimated in every scan from
the audit sample, on which everything is computed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import numpy as np

from phiscan.decision.evidence import NAMES_OF_EVIDENCE, DocumentEvidence, Floats, Places
from phiscan.decision.model import PhiModel, inputs_of
from phiscan.decision.text_scores import TextScores
from phiscan.model import Finding
from phiscan.text.intervals import is_taken, merged

# Log-odds that words, text detector and doubtful names may add together. In a short text, a name or two are a
# large part of the words; searching it costs next to nothing.
RISE: Final = 1.0
RISE_OF_SHORT: Final = 4.0
SHORT_CHARS: Final = 600

_AT: Final = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
_OF_NAME: Final = (_AT["full_name"], _AT["name"])
# With the letters that OCR takes for digits.
_NUMBER: Final = re.compile(r"(?<![\w.,])[A-Z]{0,3}-?\d(?:[ -]?[\dOoIlSB]){4,}(?![\w%]|[.,]\d)", re.ASCII)
_ONE_PERSON: Final = float(np.log1p(1))


def highest_log_odds(
    model: PhiModel, evidence: DocumentEvidence, text: TextScores, findings: Sequence[Finding]
) -> float:
    """Return the log-odds that the strongest passage of a document can reach at most.

    Args:
        model: the weights, at the prevalence of the share.
        evidence: gathered from what the cheap recognizers found.
        text: what the text detector says of the document, with that masked.
        findings: those of the cheap recognizers, whose numbers are known already.
    """
    numbers = _open_numbers(evidence.document.text, findings)
    places = evidence.passages
    rows = np.array([_row(model, evidence, place, text.document, numbers) for place in places])
    return model.highest(rows, places, text, evidence.message) + rise_of(len(evidence.document.text))


def rise_of(n_chars: int) -> float:
    """Return how much the inputs without a maximum may add to the log-odds of a text of this length."""
    return RISE_OF_SHORT if n_chars < SHORT_CHARS else RISE


def _row(
    model: PhiModel, evidence: DocumentEvidence, place: tuple[int, int], text: float, numbers: Places
) -> Floats:
    window = evidence.window(*place)
    vector = raised(evidence.vector(window), has_number=numbers.count(*place) > 0)
    n_text_chars = len(evidence.document.text)
    return inputs_of(model.words_log_odds(evidence, window), vector, place[1] - place[0], text, n_text_chars)


def raised(vector: Floats, *, has_number: bool) -> Floats:
    """Return the evidence of a passage with a full name beside each kind of health term that it holds.

    ``has_number``: a number that may be one of a record is in it.
    """
    most = vector.copy()
    most[list(_OF_NAME)] = 1.0
    most[_AT["name_by_health"]] = float(vector[_AT["concepts"]] > 0)
    most[_AT["name_by_clinical"]] = float(vector[_AT["clinical"]] > 0)
    most[_AT["people"]] = max(float(vector[_AT["people"]]), _ONE_PERSON)
    most[_AT["record_number"]] = max(float(vector[_AT["record_number"]]), float(has_number))
    return most


def _open_numbers(text: str, findings: Sequence[Finding]) -> Places:
    """Return where numbers stand that no finding covers."""
    taken = merged((one.span.start, one.span.end) for one in findings)
    starts = [match.start() for match in _NUMBER.finditer(text) if not is_taken(*match.span(), taken)]
    return Places(np.array(starts, dtype=np.int64))
