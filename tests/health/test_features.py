import pytest

from phiscan.health.features import STRIDE_CHARS, WINDOW_CHARS, read, windows
from phiscan.health.patient_classifier import CueModel, densities
from phiscan.health.term_lexicon import load_lexicon

LEXICON = load_lexicon()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Negation and relatives stand beside the plain count.
        (
            "She denies any chest pain. Family history of breast cancer. She has asthma today.",
            {"sx:chest-pain": 1, "neg:any": 1, "fam:any": 1, "dx:asthma": 1},
        ),
        # Whose health is spoken of in the same sentence.
        (
            "My asthma. A cough. Your rash is gone. Mrs. Doe has eczema. I was away; fever.",
            {"near:first": 1, "near:your": 1, "near:title": 1},
        ),
        # Amounts of money, but not every number.
        ("Asthma test $12, physiotherapy 40 $, asthma visit 2", {"cue:money": 2}),
        ("asthma, physiotherapy, peak flow 400, 40", {"cue:money": 0}),
        # One patient and patients.
        ("This patient took metformin.", {"cue:person": 1, "cue:people": 0}),
        ("These patients took metformin.", {"cue:person": 0, "cue:people": 1}),
        ("asthma, metformin, appendectomy", {"kind:dx": 1, "kind:rx": 1, "kind:px": 1}),
    ],
)
def test_counts_concepts_and_what_is_said_of_them(text: str, expected: dict[str, int]) -> None:
    (window,) = windows(read(text, LEXICON), LEXICON)
    assert {name: window.counts.get(name, 0) for name in expected} == expected


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
