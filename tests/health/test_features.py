from __future__ import annotations

from phiscan.health.features import STRIDE_CHARS, WINDOW_CHARS, read, windows
from phiscan.health.patient_classifier import CueModel, densities
from phiscan.health.term_lexicon import load_lexicon

LEXICON = load_lexicon()


def only_window(text: str) -> dict[str, int]:
    (window,) = windows(read(text, LEXICON), LEXICON)
    return window.counts


def test_notes_negation_and_relatives_beside_the_plain_count() -> None:
    counts = only_window("She denies any chest pain. Family history of breast cancer. She has asthma today.")
    assert counts["sx:chest-pain"] == 1
    assert counts["neg:any"] == 1
    assert counts["fam:any"] >= 1
    assert counts["dx:asthma"] == 1


def test_notes_whose_health_is_spoken_of_in_the_same_sentence() -> None:
    counts = only_window("My asthma. A cough. Your rash is gone. Mrs. Doe has eczema. I was away; fever.")
    assert (counts["near:first"], counts["near:your"], counts["near:title"]) == (1, 1, 1)


def test_counts_amounts_of_money_but_not_every_number() -> None:
    assert only_window("Asthma test $12, physiotherapy 40 $, asthma visit 2")["cue:money"] == 2
    assert "cue:money" not in only_window("asthma, physiotherapy, peak flow 400, 40")


def test_tells_one_patient_from_patients() -> None:
    assert "cue:person" in only_window("This patient took metformin.")
    counts = only_window("These patients took metformin.")
    assert "cue:person" not in counts
    assert counts["cue:people"] == 1


def test_counts_kinds_of_concepts() -> None:
    counts = only_window("asthma, metformin, appendectomy")
    assert (counts["kind:dx"], counts["kind:rx"], counts["kind:px"]) == (1, 1, 1)


def test_a_text_without_health_words_has_no_window() -> None:
    assert windows(read("The committee met on Tuesday.", LEXICON), LEXICON) == []
    assert windows(read("", LEXICON), LEXICON) == []


def test_windows_overlap_and_cover_a_long_text() -> None:
    text = ("filler words here " * 400) + "she has asthma and takes metformin" + (" filler words here" * 400)
    found = windows(read(text, LEXICON), LEXICON)
    at = text.index("asthma")
    assert all(window.start <= at < window.end <= window.start + WINDOW_CHARS for window in found)
    assert 1 <= len(found) <= -(-WINDOW_CHARS // STRIDE_CHARS)


def test_person_score_rises_with_reports_and_falls_with_advice() -> None:
    model = CueModel({"cue:report": 1.0, "cue:generic": -1.0}, 0.0)
    (told,) = windows(read("She complains of cough and denies fever.", LEXICON), LEXICON)
    (advice,) = windows(read("Symptoms include cough and fever. Ask your doctor.", LEXICON), LEXICON)
    assert model.score(told) > 0.5 > model.score(advice)
    assert all(value >= 0 for value in dict(densities(told)).values())
