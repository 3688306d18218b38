import re
from pathlib import Path

import pytest

from phiscan.config import data_dir
from phiscan.errors import DictionaryError
from phiscan.health.term_lexicon import (
    CUE_FILE,
    HEALTH_FILES,
    LABEL_FILE,
    LOOKALIKES_FILE,
    TITLE_FILE,
    WORDS_FILE,
    load_lexicon,
)
from phiscan.health.terms import JointMatcher
from phiscan.health.topics import chapter_of, label_of, topic_of, topics
from phiscan.language import using
from phiscan.lexicon.dictionary import load_dictionary

LEXICON = load_lexicon()
HEALTH = JointMatcher.of((LEXICON.health,))


def concepts(text: str) -> list[str]:
    hits = HEALTH.match(text)[0]
    return [LEXICON.health.terms_[index].concept for index in hits.terms.tolist()]


@pytest.mark.parametrize(
    ("text", "concept"),
    [
        ("She has HTN.", "abbr:htn"),
        ("history of high blood pressure", "dx:hypertension"),
        ("haute pression depuis 2010", "dx:hypertension"),
        ("on Lipitor 20 mg", "rx:atorvastatin"),
        ("amoxicilline 500 mg", "rx:amoxicillin"),
        ("SOB on exertion, cough", "sx:shortness-of-breath"),
        ("shortness of breath", "sx:shortness-of-breath"),
        ("essoufflement", "sx:shortness-of-breath"),
        ("was diagnosed with Crohn's disease", "dx:crohns-disease"),
        ("underwent a laparoscopic cholecystectomy", "px:cholecystectomy"),
        ("HbA1c 7.9", "lab:hemoglobin-a1c"),
        ("Dx E11.9", "icd:E11"),
        ("idées suicidaires", "mh:suicidal-ideation"),
    ],
)
def test_knows_how_people_write(text: str, concept: str) -> None:
    assert concept in concepts(text)


@pytest.mark.parametrize(
    ("text", "is_counted"),
    [
        ("Mr. Crohn called about the invoice", False),
        ("Patricia Crohn", False),
        ("P. Crohn", False),
        ("Crohn, Patricia", False),
        ("CROHN, PATRICIA", False),
        ("Last name: Crohn", False),
        ("Dr. Hashimoto signed the order", False),
        ("Patricia has Crohn's", True),
        ("Crohn's since 2001", True),
        ("known Parkinson's and Alzheimer's", True),
        ("hashimoto", True),
        ("Patricia Crohn has Crohn's disease", True),
        ("a cold winter in the mountains", False),
        ("hearing about foreign aids to trade", False),
        ("the mole under the lawn", False),
        ("a depression of prices", False),
        ("the table of contents", False),
        ("culture and heritage", False),
        ("the Labour party", False),
        ("we stress that the deadline stands", False),
    ],
)
def test_a_disease_does_not_count_in_a_name_nor_an_ambiguous_word_alone(text: str, is_counted: bool) -> None:
    assert bool(concepts(text)) == is_counted


def test_a_number_that_fell_is_no_injury() -> None:
    assert concepts("asthma; pressure fell from 150 to 120") == ["dx:asthma"]
    assert concepts("asthma; fell from a ladder") == ["dx:asthma", "sx:fell-down"]


@pytest.mark.parametrize("name", [*HEALTH_FILES, CUE_FILE])
def test_every_dictionary_has_well_formed_rows(name: str) -> None:
    dictionary = load_dictionary(data_dir("dictionaries") / f"{name}.txt")
    assert dictionary.rows
    for term, concept, code, _flags, language in dictionary.rows:
        assert re.fullmatch(r"(cue|dx|sx|lay|mh|rx|px|lab|body|spec|abbr|icd):[A-Za-z0-9-]+", concept), (
            concept
        )
        assert re.fullmatch(r"-|[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?", code), code
        assert language in {"en", "fr", "-"}
        assert any(map(str.isalnum, term)), term


def test_most_dictionary_forms_find_themselves() -> None:
    terms = LEXICON.health.terms_
    alone = [term for term in terms if not term.context]
    missed = [term.text for term in alone[::7] if len(HEALTH.match(term.text)[0].terms) == 0]
    assert len(missed) <= 0.002 * len(alone[::7]), missed


@pytest.mark.parametrize(
    ("name", "row", "expected"),
    [
        ("health_body", "wingbone\tbody:ankle\t-\tsometimes\ten\n", "expected term"),
        (LABEL_FILE, "body:wing\twing\taile\n", "expected a known concept"),
    ],
)
def test_refuses_a_row_that_is_none(tmp_path: Path, name: str, row: str, expected: str) -> None:
    for each in (*HEALTH_FILES, CUE_FILE, LABEL_FILE, LOOKALIKES_FILE, TITLE_FILE, WORDS_FILE):
        (tmp_path / f"{each}.txt").write_bytes((data_dir("dictionaries") / f"{each}.txt").read_bytes())
    with (tmp_path / f"{name}.txt").open("a", encoding="utf-8") as stream:
        stream.write(row)
    with pytest.raises(DictionaryError, match=rf"{name}\.txt: line \d+: {expected}"):
        load_lexicon(tmp_path)


def test_concepts_have_chapters_and_labels() -> None:
    assert topic_of("dx:hypertension") == "Circulatory system"
    assert topic_of("icd:C50") == "Neoplasms"
    assert topic_of("rx:metformin") == ""
    assert label_of("dx:hypertension") == "hypertension"
    assert label_of("no:such-concept") == "no:such-concept"
    assert topics(["dx:asthma", "dx:asthma", "dx:hypertension", "rx:metformin"]) == (
        ("Respiratory system", 2),
        ("Circulatory system", 1),
    )
    assert chapter_of("O9A.1") == "Pregnancy, childbirth and the puerperium"
    assert chapter_of("nonsense") == ""


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("pain in the right foot, fracture", "ankle or foot"),
        ("fracture of the thumb", "elbow, wrist, hand or finger"),
        ("serum magnesium low", "calcium, magnesium or phosphate"),
        ("asthma", "asthma"),
        ("Dx J45.2", "asthma"),
        ("ischemia of the foot", "ischemia"),
        ("cardiac asthma", "heart failure"),
        ("fracture of femur", "fracture of femur"),
        ("Dx G20", "Parkinson's disease"),
        ("twisted her knee", "knee injury"),
    ],
)
def test_a_group_of_several_things_is_not_shown_by_its_first_form(text: str, label: str) -> None:
    assert label in {label_of(concept) for concept in concepts(text)}


def test_every_group_label_is_in_both_languages() -> None:
    rows = load_dictionary(data_dir("dictionaries") / f"{LABEL_FILE}.txt").rows
    assert len(rows) > 100
    assert len({row[0] for row in rows}) == len(rows)
    assert all(row[1].strip() and row[2].strip() for row in rows)


def test_labels_are_in_the_language_of_the_page() -> None:
    with using("fr"):
        assert [label_of(concept) for concept in ("body:ankle", "dx:measles", "icd:J45", "no:such")] == [
            *("cheville ou pied", "rougeole", "asthma", "no:such")
        ]
    assert label_of("dx:measles") == "measles"


def test_every_word_that_is_an_abbreviation_as_well_is_one_of_the_lists() -> None:
    folder = data_dir("dictionaries")
    cased = {
        row[0]
        for name in (*HEALTH_FILES, CUE_FILE)
        for row in load_dictionary(folder / f"{name}.txt").rows
        if "case" in row[3].split(",")
    }
    rows = load_dictionary(folder / f"{WORDS_FILE}.txt").rows
    assert {row[0] for row in rows} <= cased
    assert {row[1] for row in rows} == {"capitals", "small"}


@pytest.mark.parametrize("name", ["ordinary_words", "ordinary_words_fr"])
def test_no_frequent_word_is_taken_for_another_words_term(name: str) -> None:
    words = {row[0] for row in load_dictionary(data_dir("dictionaries") / f"{LOOKALIKES_FILE}.txt").rows}
    ordinary = {row[0] for row in load_dictionary(data_dir("dictionaries") / f"{name}.txt").rows}
    assert [word for word in sorted(words & ordinary) if concepts(word)] == []


@pytest.mark.parametrize(
    ("text", "n_terms"),
    [
        ("create table car (boss text, intern text)", 0),
        ("the car was lent to the intern", 0),
        ("créat 88, caries", 2),
        ("c/o pain in the knee, s/p fall", 4),
        ("C o p, h\no, N v, S %P, f_u", 0),
        ("R\x00o C\x00\x00s", 0),
        ("N/V since Monday; D/C home; fever", 3),
    ],
)
def test_a_form_is_counted_only_as_it_is_written(text: str, n_terms: int) -> None:
    assert len(HEALTH.match(text)[0].terms) == n_terms, concepts(text)
