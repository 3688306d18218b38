"""The highest P(PHI) that names could still bring about is never below what they do bring about."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.decision.bound import raised
from phiscan.decision.evidence import NAMES_OF_EVIDENCE
from phiscan.decision.model import inputs_of, load_phi_model
from phiscan.health import classify
from phiscan.model import Document, Segment
from phiscan.screen import screen
from tests.decision.test_decide import ORDINARY, PATIENTS, engine

AT = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
MODEL = load_phi_model()


def highest(vector: np.ndarray, words: float, text: float) -> float:
    rows = inputs_of(words, vector, 400, text)[None]
    return MODEL.highest(rows, "")


@given(
    words=st.floats(-8, 4),
    text=st.floats(-4, 4),
    concepts=st.integers(0, 6),
    clinical=st.integers(0, 6),
    has_number=st.booleans(),
    name=st.sampled_from(["none", "part", "full"]),
    n_people=st.integers(1, 9),
    near=st.floats(0, 1),
    number_found=st.booleans(),
    role_names=st.integers(0, 3),
)
def test_no_name_and_no_number_brings_more_than_the_bound(
    *,
    words: float,
    text: float,
    concepts: int,
    clinical: int,
    has_number: bool,
    name: str,
    n_people: int,
    near: float,
    number_found: bool,
    role_names: int,
) -> None:
    cheap = np.zeros(len(NAMES_OF_EVIDENCE))
    cheap[AT["concepts"]] = np.log1p(concepts)
    cheap[AT["clinical"]] = np.log1p(min(clinical, concepts))
    found = cheap.copy()
    if name != "none":
        found[AT["name"]] = 1.0
        found[AT["full_name"]] = float(name == "full")
        found[AT["people"]] = np.log1p(n_people)
        found[AT["name_by_health"]] = near * (concepts > 0)
        found[AT["name_by_clinical"]] = near * (min(clinical, concepts) > 0)
    found[AT["role_name"]] = np.log1p(role_names)
    found[AT["record_number"]] = float(number_found and has_number)
    bound = highest(raised(cheap, has_number=has_number), words, text)
    assert highest(found, words, text) <= bound + 1e-9


@pytest.mark.parametrize("patient", PATIENTS)
@pytest.mark.parametrize("times", [0, 1, 8])
def test_a_text_that_is_referred_is_searched(patient: str, times: int) -> None:
    text = f"{ORDINARY * times}{patient}\n\n{ORDINARY * times}"
    document = Document(text, (Segment("", 0, len(text)),), "text/plain")
    one = engine()

    health = classify(document, one.classifier)
    found = screen(document, one.cheap_screener)
    assert one.decider.might_refer(document, found, health, one.classifier)


def test_ordinary_text_is_not_searched() -> None:
    text = ORDINARY * 4
    document = Document(text, (Segment("", 0, len(text)),), "text/plain")
    one = engine()

    health = classify(document, one.classifier)
    assert not one.decider.might_refer(document, screen(document, one.cheap_screener), health, one.classifier)
