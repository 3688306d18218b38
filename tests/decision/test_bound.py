"""The highest P(PHI) that names could still bring about is never below what they do bring about."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.decision.bound import with_maximum
from phiscan.decision.evidence import NAMES_OF_EVIDENCE
from phiscan.decision.model import inputs_of, load_phi_model
from phiscan.health.classifier import TEXT_MODEL_FILE, classify
from phiscan.health.text_detector import TextScores, load_text_model
from phiscan.pipeline.engine import Engine
from phiscan.screen import screen
from tests.decision.test_decide import ORDINARY, PATIENTS, engine
from tests.screen.whole import plain

AT = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
MODEL = load_phi_model()
TEXT_MODEL = load_text_model(TEXT_MODEL_FILE)


def highest(vector: np.ndarray, words: float, text: float, n_text_chars: int) -> float:
    rows = inputs_of(np.array([words]), vector[None], np.array([np.log1p(4.0)]), text, n_text_chars)
    scores = TextScores(TEXT_MODEL, np.full(400, ord("#"), dtype=np.uint32), text)
    found = MODEL.prior + MODEL.strongest(rows, [(0, 400)], scores)[0].log_odds
    assert MODEL.reaches(found - 1e-9, rows, [(0, 400)], scores, "")
    assert not MODEL.reaches(found + 1e-9, rows, [(0, 400)], scores, "")
    return found


def might_refer(text: str, one: Engine) -> bool:
    document = plain(text)
    found = screen(document, one.cheap_screener)
    gathered = one.decider.gather(document, found, one.classifier)
    margin = gathered.text.document - one.classifier.text_model.threshold
    return one.decider.might_refer(gathered, classify(document, one.classifier), found.findings, margin)


@given(
    st.builds(
        SimpleNamespace,
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
        n_text_chars=st.integers(20, 2000),
    )
)
def test_no_name_and_no_number_brings_more_than_the_bound(of: SimpleNamespace) -> None:
    cheap = np.zeros(len(NAMES_OF_EVIDENCE))
    cheap[AT["concepts"]] = np.log1p(of.concepts)
    cheap[AT["clinical"]] = np.log1p(min(of.clinical, of.concepts))
    found = cheap.copy()
    if of.name != "none":
        found[AT["name"]] = 1.0
        found[AT["full_name"]] = float(of.name == "full")
        found[AT["people"]] = np.log1p(of.n_people)
        found[AT["name_by_health"]] = of.near * (of.concepts > 0)
        found[AT["name_by_clinical"]] = of.near * (min(of.clinical, of.concepts) > 0)
    found[AT["role_name"]] = np.log1p(of.role_names)
    found[AT["record_number"]] = float(of.number_found and of.has_number)
    most = with_maximum(cheap[None], np.array([of.has_number]))[0]
    bound = highest(most, of.words, of.text, of.n_text_chars)
    assert highest(found, of.words, of.text, of.n_text_chars) <= bound + 1e-9


@pytest.mark.parametrize("patient", PATIENTS)
@pytest.mark.parametrize("times", [0, 1, 8])
def test_a_text_that_is_referred_is_searched(patient: str, times: int) -> None:
    assert might_refer(f"{ORDINARY * times}{patient}\n\n{ORDINARY * times}", engine())


def test_ordinary_text_is_not_searched() -> None:
    assert not might_refer(ORDINARY * 4, engine())


@pytest.mark.parametrize(
    "line",
    [
        "Vaccination of cattle against rabies reduces fever and diarrhea in herds.",
        "The play is about a king who dies of fever.",
        "Chapter 3 describes diabetes, asthma and cancer for students of biology.",
    ],
)
def test_names_are_searched_where_the_encoder_says_that_the_words_are_of_a_person(line: str) -> None:
    """Its highest value alone would have every text searched that names an illness."""
    text = f"{ORDINARY * 3}{line}\n\n{ORDINARY * 3}"
    one = engine()
    encoder = one.decider.encoder
    convinced = replace(one, decider=replace(one.decider, encoder=replace(encoder, intercept=20.0)))

    assert not might_refer(text, one)
    assert might_refer(text, convinced)
