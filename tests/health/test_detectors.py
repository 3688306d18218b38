from __future__ import annotations

import re
from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.config import Config
from phiscan.health.classifier import build_classifier, classify
from phiscan.health.detectors import DETECTORS, by_names, by_patterns, text_margin
from phiscan.health.text_detector import (
    LAYOUT_VALUE,
    MAX_PIECES,
    N_BUCKETS,
    N_NGRAMS,
    PIECE_CHARS,
    features,
    masked,
    pieces,
)
from phiscan.model import (
    Document,
    EntityType,
    Finding,
    HealthScore,
    PiiBit,
    PiiVector,
    Screening,
    Span,
    TermHit,
)
from training.decision.features import detect

CLASSIFIER = build_classifier(Config())
NOTE = "Mr. Ardal Finnerty, MRN 4471902, has asthma, gout, anemia and a cough. He takes metformin."


def finding(kind: EntityType, bit: PiiBit, word: str) -> Finding:
    at = NOTE.index(word)
    return Finding(Span(at, at + len(word)), kind, "test", 0.9, frozenset({bit}))


def screened(*findings: Finding) -> Screening:
    bits = frozenset(bit for item in findings for bit in item.bits)
    return Screening(findings, PiiVector(bits), 1, (), "", 0, 1)


RECORD = finding(EntityType.MRN, PiiBit.MRN, "4471902")
PERSON = finding(EntityType.PERSON, PiiBit.LAST_NAME, "Finnerty")
DOCUMENT = Document(NOTE, (), "text/plain")
HEALTH = classify(DOCUMENT, CLASSIFIER)


def test_verdicts_have_the_names_of_the_contract() -> None:
    verdicts = detect(DOCUMENT, screened(RECORD, PERSON), HEALTH, CLASSIFIER)
    assert tuple(name for name, _ in verdicts) == DETECTORS == ("patterns", "names", "text")
    assert all(type(verdict) is bool for _, verdict in verdicts)


def marks(margin: float | None) -> bool:
    return margin is not None and margin >= 0


def test_a_looks_at_patterns_and_terms_alone() -> None:
    assert marks(by_patterns(DOCUMENT, screened(RECORD), HEALTH))
    assert not marks(by_patterns(DOCUMENT, screened(PERSON), HEALTH))
    assert marks(by_patterns(DOCUMENT, screened(RECORD), HealthScore(0.0, None, "", HEALTH.terms)))
    assert not marks(by_patterns(DOCUMENT, screened(RECORD), HealthScore(1.0, 0.1, "x", ())))


def test_b_looks_at_names_and_distance_alone() -> None:
    assert marks(by_names(screened(PERSON), HealthScore(0.1, 0.5, "x", (), by_concepts=0.9)))
    assert not marks(by_names(screened(RECORD), HealthScore(0.9, 0.5, "x", HEALTH.terms, by_concepts=0.9)))
    assert not marks(by_names(screened(PERSON), HealthScore(0.9, 0.5, "x", HEALTH.terms, by_concepts=0.4)))


def test_c_does_not_see_what_a_and_b_rest_on() -> None:
    # The same layout with other names, numbers and health words of the same length: the same verdict.
    swap = {
        "Ardal": "Odran",
        "Finnerty": "Quigleyo",
        "4471902": "9982233",
        "asthma": "angina",
        "gout": "rash",
    }
    other = NOTE
    for old, new in swap.items():
        other = other.replace(old, new)
    spans = [hit.span for hit in HEALTH.terms] + [PERSON.span, RECORD.span, Span(4, 9)]
    assert np.array_equal(masked(NOTE, spans), masked(other, spans))
    again = HealthScore(0.0, None, "", tuple(TermHit(hit.span, "other:concept") for hit in HEALTH.terms))
    seen = screened(RECORD, PERSON)
    assert text_margin(DOCUMENT, seen, HEALTH, CLASSIFIER) == text_margin(DOCUMENT, seen, again, CLASSIFIER)


def test_weights_are_small_and_complete() -> None:
    assert CLASSIFIER.text_model.weights.shape == (N_BUCKETS,)
    assert np.isfinite(CLASSIFIER.text_model.weights).all()


@given(st.text(max_size=300))
@settings(max_examples=80, deadline=None)
def test_n_grams_of_any_text_have_length_one_and_layout_words_one_value(text: str) -> None:
    buckets, values = features(masked(text, []))
    assert len(buckets) == len(values) == len(set(buckets.tolist()))
    assert ((buckets >= 0) & (buckets < N_BUCKETS)).all()
    n_grams = values[buckets < N_NGRAMS]
    assert not len(n_grams) or np.isclose(np.linalg.norm(n_grams), 1.0, atol=1e-4)
    assert np.allclose(values[buckets >= N_NGRAMS], LAYOUT_VALUE)


@given(st.text(alphabet="aA0#: \n\u00e9\u2013", max_size=60))
@settings(max_examples=60, deadline=None)
def test_n_grams_are_counted_as_when_the_weights_were_learned(text: str) -> None:
    # The same by plain integers, one run of characters at a time.
    codes = [min(ord(letter), 0x250) for letter in re.sub("#+", "#", text.replace("A", "a"))]
    seen: Counter[int] = Counter()
    for size in (3, 5):
        for start in range(len(codes) - size + 1):
            key = size
            for code in codes[start : start + size]:
                key = (key * 0x9E3779B1 % 2**64) ^ code
            seen[(key * 0xBF58476D1CE4E5B9 % 2**64) >> 48] += 1
    buckets, values = features(masked(text, []))
    assert buckets[buckets < N_NGRAMS].tolist() == sorted(seen)
    expected = np.log1p([seen[bucket] for bucket in sorted(seen)])
    assert np.allclose(values[buckets < N_NGRAMS] * np.linalg.norm(expected), expected, rtol=1e-5)


def test_a_long_text_is_judged_by_a_bounded_number_of_pieces() -> None:
    cut = pieces(masked("a " * PIECE_CHARS * 100, []))
    assert len(cut) == MAX_PIECES
    assert all(0 < len(piece) <= PIECE_CHARS for piece in cut)
    assert len(pieces(masked("", []))) == 1
