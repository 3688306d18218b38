from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.config import Config
from phiscan.errors import ModelError
from phiscan.health import word_hashes
from phiscan.health.classifier import PATIENT_MODEL_FILE, build_classifier, classify
from phiscan.health.features import Window, read
from phiscan.health.patient_classifier import PatientModel, load_patient_model
from phiscan.health.word_hashes import LENGTH, N_BUCKETS, Words, passage_features, word_features, words_of
from tests.screen.whole import plain

CLASSIFIER = build_classifier(Config())
LEXICON = CLASSIFIER.lexicon

# Written for this test, and in no training text.
ROUND = (
    "Surgical rounds, 4 March. Mr. Ilesanmi came back to us on Sunday with a fever and pus from the wound. "
    "Dr. Gagne opened it at the bedside; the culture grew staphylococcus and he is on cefazolin. His wife is "
    "worried about the diabetes. We spoke for ten minutes and agreed to keep him until Friday."
)
LECTURE = (
    "Slide 14. Wound infection after bowel surgery: what the trials say. Gagne and colleagues randomised 412 "
    "patients to cefazolin alone or with metronidazole; infection fell from 14% to 9%. Diabetes doubled the "
    "risk. Take-home: give the first dose within an hour of incision, keep the patient warm. Questions for "
    "the group on the next slide."
)


def words(text: str) -> Words:
    return words_of(text, read(text, LEXICON), LEXICON, [Window(0, len(text), {})])


def features(text: str) -> dict[int, float]:
    buckets, values = word_features(words(text), 0, len(text))
    return dict(zip(buckets.tolist(), values.tolist(), strict=True))


def told(text: str) -> float:
    return classify(plain(text), CLASSIFIER).score


def test_rounds_on_a_patient_tell_of_one_and_a_lecture_of_the_same_illness_does_not() -> None:
    assert told(ROUND) >= 0.5 > told(LECTURE)


def test_what_detector_b_asks_reads_no_words() -> None:
    other = PatientModel(np.zeros(N_BUCKETS, dtype=np.float32), {}, -9.0, "test-1")
    document = plain(ROUND)
    without_words = replace(CLASSIFIER, patient_model=other)
    with_words, without = (classify(document, one) for one in (CLASSIFIER, without_words))
    assert with_words.by_concepts == without.by_concepts > 0
    assert with_words.score > 0.5 > without.score


def test_which_illness_and_how_much_is_not_read() -> None:
    assert features("She has asthma and takes 40 pills.") == features("She has angina and takes 7 pills.")
    assert features("She has asthma and takes 40 pills.") != features("He has asthma and takes 40 pills.")


def test_a_term_of_several_words_is_one_word() -> None:
    text = "chest pain since June"
    found = words(text)
    assert [text[at:].split(maxsplit=1)[0] for at in found.starts.tolist()] == ["chest", "since", "June"]


def test_case_accents_and_plurals_are_folded() -> None:
    assert features("Les ÉTUDES cliniques") == features("les etude clinique")


@given(st.text(max_size=400))
def test_any_text_has_a_finite_row_of_one_length(text: str) -> None:
    buckets, values = word_features(words(text), 0, len(text))
    assert np.isfinite(values).all()
    assert ((buckets >= 0) & (buckets < N_BUCKETS)).all()
    assert not len(values) or np.sqrt((values**2).sum()) == pytest.approx(LENGTH, rel=1e-4)


def test_only_words_that_begin_in_the_window_count() -> None:
    text = "alpha beta gamma delta"
    found = words(text)
    inside, _ = word_features(found, 6, 16)
    alone, _ = word_features(words("beta gamma"), 0, 10)
    assert inside.tolist() == alone.tolist()
    assert not len(word_features(found, 100, 200)[0])


@given(
    st.lists(st.sampled_from(["alpha", "beta", "gamma", "7"]), max_size=40).map(" ".join),
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=12),
    st.integers(1, 30),
)
def test_passages_counted_together_have_the_features_of_each_counted_alone(
    text: str, places: list[tuple[int, int]], n_at_once: int
) -> None:
    found = words(text)
    bounds = np.sort(np.array(places, dtype=np.int64).reshape(-1, 2), axis=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(word_hashes, "_WORDS_AT_ONCE", n_at_once)
        together = list(passage_features(found, bounds[:, 0], bounds[:, 1]))
    assert len(together) == len(places)
    for (buckets, values), (start, end) in zip(together, bounds.tolist(), strict=True):
        inside = found.hashes[(found.starts >= start) & (found.starts < end)]
        single = np.unique(inside >> np.uint64(64 - word_hashes.BUCKET_BITS), return_counts=True)
        alone = word_features(found, start, end)
        assert buckets[: len(single[0])].tolist() == single[0].tolist()
        assert np.allclose(
            values[: len(single[0])] / values[:1], (1 + np.log(single[1])) / (1 + np.log(single[1][:1]))
        )
        assert (buckets.tolist(), values.tolist()) == (alone[0].tolist(), alone[1].tolist())


def test_of_a_long_text_only_what_is_near_its_windows_is_read() -> None:
    text = "word " * 60_000
    reading = read(text, LEXICON)
    near = words_of(text, reading, LEXICON, [Window(260_000, 262_100, {})])
    assert len(near.starts) < len(words(text).starts)
    both = [word_features(found, 260_000, 262_100)[0].tolist() for found in (near, words(text))]
    assert both[0] == both[1]
    assert not len(words_of(text, reading, LEXICON, []).starts)


@pytest.mark.parametrize(
    ("damage", "expected"),
    [
        ({"words": np.full(N_BUCKETS, np.nan)}, "words: expected 262144 finite numbers"),
        ({"words": np.zeros(10, np.float32)}, "words: expected 262144 finite numbers"),
        ({"intercept": np.zeros(3)}, "cannot be read"),
        (b"", "cannot be read as a model of words"),
        (b"no archive", "cannot be read as a model of words"),
        (b"PK\x03\x04 cut short", "cannot be read as a model of words"),
    ],
)
def test_a_damaged_model_is_named(
    tmp_path: Path, damage: bytes | dict[str, np.ndarray], expected: str
) -> None:
    path = tmp_path / "patient_classifier.npz"
    if isinstance(damage, bytes):
        path.write_bytes(damage)
    else:
        with np.load(PATIENT_MODEL_FILE) as file:
            np.savez_compressed(path, **{**{name: file[name] for name in file.files}, **damage})
    with pytest.raises(ModelError, match=rf"patient_classifier\.npz: {expected}"):
        load_patient_model(path)


def test_a_score_is_the_sum_of_words_and_cues() -> None:
    text = "alpha beta"
    weights = np.zeros(N_BUCKETS, dtype=np.float32)
    buckets, values = word_features(words(text), 0, len(text))
    weights[buckets[0]] = 2.0
    model = PatientModel(weights, {"cue:dose": 3.0}, -1.0, "test-1")
    window = Window(0, 1000, {"cue:dose": 1})
    total = -1.0 + 2.0 * float(values[0]) + 3.0 * np.log(2.0)
    assert model.score(words(text), window) == pytest.approx(1 / (1 + np.exp(-total)), abs=1e-5)
