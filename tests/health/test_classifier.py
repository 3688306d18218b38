from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.config import Config
from phiscan.errors import ModelError
from phiscan.health.classifier import build_classifier, classify, load_model
from phiscan.health.text_detector import load_text_model
from phiscan.model import Document
from tests.screen.whole import plain

CLASSIFIER = build_classifier(Config())

# Written for this test, and in no training text.
NOTE = (
    "Clinic note. Tamsin is a 33-year-old woman who presents with three weeks of joint pain and fatigue. She "
    "denies fever or rash. She takes levothyroxine 50 mcg daily. On examination her wrists were swollen and "
    "tender. I ordered ESR, CRP and rheumatoid factor, and started naproxen 500 mg twice a day. Follow up in "
    "two weeks."
)
LETTER_FR = (
    "Cher docteur, j'ai vu ce patient de 61 ans pour une toux persistante et une dyspnée. Il est fumeur. "
    "L'auscultation montre des sibilances. "
    "La radiographie pulmonaire est normale. J'ai prescrit du "
    "salbutamol et une spirométrie. Je le reverrai dans un mois. Antécédents : hypertension, goutte."
)
LEAFLET = (
    "What is gout? Gout is a kind of arthritis caused by uric acid crystals. Symptoms "
    "include sudden pain and "
    "swelling of the big toe. Risk factors include obesity, alcohol and kidney disease. Your doctor may "
    "prescribe colchicine or allopurinol. People with gout should drink water. Lakeside Hospital, 12 Shore "
    "Road, 555-0134."
)
PRICES = (
    "Price list spring. Item, pack size, unit price. Allopurinol 100 mg, 100, 9.20. Colchicine 0.6 mg, 50, "
    "14.10. Naproxen 500 mg, 100, 8.80. Knee brace, 1, 32.00. Blood glucose strips, 50, 21.00. Discount for "
    "orders above 500. Sales: Mr. Colm Avery, 555-0188."
)
SPEECH = "My fellow citizens, the depression of trade is a wound that we shall heal; labour must be free."


def score(text: str) -> float:
    return classify(plain(text), CLASSIFIER).score


@pytest.mark.parametrize(
    "text",
    [
        NOTE,
        LETTER_FR,
        "Mrs. Oake rang. Her daughter is vomiting since last night. Told her to come in today.",
        "Rappelé M. Vinet : sa plaie est infectée, il prend ses antibiotiques depuis lundi.",
        "She tested HIV positive and asked that her husband is not told.",
    ],
)
def test_a_clinical_text_about_a_person_scores_above_the_threshold(text: str) -> None:
    assert score(text) >= 0.5


def test_blanks_to_fill_in_speak_against_a_record() -> None:
    filled = "Seizure record. Name: Oake  Room: 4  Given by: Ivo. Lorazepam for a seizure."
    blank = filled.replace("Oake", "______").replace("4", "____").replace("Ivo", "________")
    assert score(blank) < score(filled)


@pytest.mark.parametrize("text", [LEAFLET, PRICES, SPEECH, "", "asthma"])
def test_a_text_about_health_scores_below_the_threshold(text: str) -> None:
    assert score(text) < 0.5


def test_one_letter_in_a_long_file_is_not_averaged_away() -> None:
    filler = "The committee discussed the parking of bicycles and adjourned. " * 6000
    assert score(filler) < 0.1
    assert score(filler + "\n\n" + NOTE + "\n\n" + filler) >= 0.5


def test_terms_are_spans_of_the_document_and_say_no_text() -> None:
    document = Document(NOTE, (), "text/plain")
    result = classify(document, CLASSIFIER)
    found = {NOTE[hit.span.start : hit.span.end].lower() for hit in result.terms}
    assert {"joint pain", "fatigue", "fever", "levothyroxine", "naproxen"} <= found
    assert "Tamsin" not in repr(result)
    assert result.nearest_prototype in CLASSIFIER.prototype_names
    assert result.distance is not None
    assert 0 <= result.distance <= 2**0.5 + 1e-9


def test_the_shipped_prototypes_score_high_among_themselves() -> None:
    names = CLASSIFIER.prototype_names
    assert len(names) == len(set(names)) == len(CLASSIFIER.bags)
    assert len(names) >= 150


def test_every_k_in_the_model_file_has_a_threshold() -> None:
    for k in (1, 3, 5, 9):
        other = build_classifier(replace(Config(), k=k))
        assert other.knn.k == k
        assert 0 < other.knn.threshold_ < 1.42


def test_refuses_a_k_without_threshold() -> None:
    with pytest.raises(ModelError, match="thresholds: none for k = 50"):
        build_classifier(replace(Config(), k=50))


def test_refuses_a_damaged_model_file(tmp_path: Path) -> None:
    broken = tmp_path / "prototypes.json"
    broken.write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match=r"prototypes\.json: cannot be read as JSON"):
        load_model(broken)
    broken.write_text('{"format": 99}', encoding="utf-8")
    with pytest.raises(ModelError, match="format: expected 1"):
        load_model(broken)
    with pytest.raises(ModelError, match=r"missing\.npz"):
        load_text_model(tmp_path / "missing.npz")
