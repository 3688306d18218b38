"""Numbers that no rule finds are told by their surroundings: what is shown, counts, or is left alone."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from phiscan.errors import ModelError
from phiscan.model import Document, EntityType, Finding, PiiBit, Segment, Span
from phiscan.screen.id_classifier.classifier import (
    FORMAT,
    MAX_NUMBERS,
    AgeModel,
    NumberModel,
    learned_numbers,
    load_numbers,
)
from phiscan.screen.id_classifier.features import MAX_LINE_CHARS, NumberContext, ages, candidates
from tests.screen.whole import plain, screened, shipped

SOUND = {
    "format": FORMAT,
    "types": ["MRN"],
    "bias": [0.5, 0],
    "weights": {"a": [1, 1]},
    "ages": {"bias": 0, "weights": {}},
}
BIASED = {"b0=#": 6.0, "word=unit": 2.5}


def model(weights: dict[str, float], *, bias: float = -3.0) -> NumberModel:
    """Return a model of whether a number is somebody's; of two types the first is always the likelier."""
    rows = {name: (weight, 0.0, 0.0) for name, weight in weights.items()}
    ages = AgeModel(-3.0, {"right=F": 6.0, "word=turns": 3.5})
    return NumberModel((EntityType.DEVICE, EntityType.OTHER_ID), (bias, 1.0, 0.0), rows, ages)


def found(text: str, *others: Finding, weights: dict[str, float] | None = None) -> list[Finding]:
    return list(learned_numbers(plain(text), others, model(BIASED if weights is None else weights)))


def person(text: str, name: str) -> Finding:
    start = text.index(name)
    return Finding(
        Span(start, start + len(name)), EntityType.PERSON, "test", 0.9, frozenset({PiiBit.LAST_NAME})
    )


def features(text: str, number: str, *others: Finding) -> set[str]:
    start = text.index(number)
    assert (start, start + len(number)) in set(candidates(text))
    return set(NumberContext(text, others).features(start, start + len(number)))


def test_what_is_likely_counts_and_what_is_less_so_is_doubtful() -> None:
    sure, unsure = found("ref # 44187 and unit 8812\n", weights={"b0=#": 6.0, "word=unit": 3.5})
    assert (sure.span, sure.is_doubtful, sure.bits) == (Span(6, 11), False, {PiiBit.OTHER_ID})
    assert sure.entity_type is EntityType.DEVICE  # its type is a guess, and no characteristic
    assert (unsure.span, unsure.is_doubtful, unsure.bits) == (Span(21, 25), True, frozenset())
    assert [reason.kind for reason in sure.reasons] == ["learned"]
    assert [reason.kind for reason in unsure.reasons] == ["learned", "doubt"]


def test_what_is_unlikely_is_not_shown() -> None:
    assert not found("temperature 38.25, 1200 mL, form 44187\n")


def test_ages_are_told_by_their_surroundings_and_set_their_own_characteristic() -> None:
    sure, unsure = found("bed 4 Koch 93F, who turns 101 in May; sat 94, 97 steps\n")
    assert (sure.span, sure.entity_type, sure.bits) == (
        Span(11, 13), EntityType.AGE_OVER_89, {PiiBit.AGE_OVER_89},
    )  # fmt: skip
    assert (unsure.span, unsure.entity_type, unsure.bits) == (
        Span(26, 29), EntityType.AGE_OVER_89, frozenset(),
    )  # fmt: skip
    assert unsure.is_doubtful


def test_ages_push_no_number_out_of_those_that_are_looked_at() -> None:
    many = found("pulse: 93\n\n# 44187\n\n" * (MAX_NUMBERS - 100))
    assert len(many) == MAX_NUMBERS - 100
    assert {one.entity_type for one in many} == {EntityType.DEVICE}


def test_what_is_surely_a_number_is_no_doubtful_age() -> None:
    (one,) = found("turns # 101\n", weights={"b0=#": 8.0})
    assert one.entity_type is EntityType.DEVICE


def test_a_number_that_is_no_age_may_still_be_somebodys() -> None:
    (one,) = found("ref # 101, 4 h\n")
    assert (one.span, one.entity_type) == (Span(6, 9), EntityType.DEVICE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Koch 93F", ["93"]),
        ("age,91,M", ["91"]),
        ("90+, frail", ["90"]),
        ("she is 104.", ["104"]),
        ("92 ans", ["92"]),
        ("93-y-o", ["93"]),
        *((text, []) for text in ("BP 120/90", "90/60", "$95", "97.5", "94%", "95,000", "193", "89", "126")),
        *(
            (text, [])
            for text in ("93A4471", "B-95", "95-2210", "#91", "7,93", "97,5 kg", "1,101 beds", "$ 95")
        ),
        ("8/22/1929,94,5/1/2024", ["94"]),
        ("Roy,12,91,M", ["91"]),
    ],
)
def test_what_may_be_an_age_stands_alone_or_with_a_few_letters(text: str, expected: list[str]) -> None:
    assert [text[low:high] for low, high in ages(text)] == expected


def test_what_another_finding_has_is_left_to_it() -> None:
    other = Finding(Span(6, 11), EntityType.PHONE, "test", 0.9, frozenset({PiiBit.PHONE}))
    assert not found("ref # 44187\n", other)


def test_machine_formats_say_themselves_what_their_numbers_are() -> None:
    message = "MSH|^~\\&|A|B\rPID|1||9||Roy^Ann\rOBX|1|NM|# 44187||3.9\r"
    assert not found(message)
    fields = "Claim # 44187\n"
    segments = (Segment("a", 0, len(message)), Segment("a#fields", len(message), len(message + fields)))
    both = Document(message + fields, segments, "text/plain")
    assert not list(learned_numbers(both, (), model(BIASED)))


def test_of_very_many_numbers_every_nth_is_looked_at_and_the_findings_say_so() -> None:
    many = found("# 44187\n" * (2 * MAX_NUMBERS))
    assert len(many) == MAX_NUMBERS
    assert all("1 of 2" in reason.detail for one in many for reason in one.reasons if reason.kind == "cap")
    assert all(any(reason.kind == "cap" for reason in one.reasons) for one in many)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("4471", ["4471"]),
        ("24-0118", ["24-0118"]),
        ("W0712 24 118803", ["W0712 24 118803"]),
        ("PBC-5582013", ["PBC-5582013"]),
        ("X3K771", ["X3K771"]),
        ("ab12cd", ["ab12cd"]),
        ("two 12 of B2", []),
        ("x" * 50 + "1234", []),
        ("1" * 60, []),
        ("q5h", []),
        ("café 7", []),
    ],
)
def test_numbers_and_codes_are_looked_at(text: str, numbers: list[str]) -> None:
    text = f"the {text}, again"
    assert [text[low:high] for low, high in candidates(text)] == numbers


@given(st.text("Ab12-/.# ,é\n", max_size=40))
@example("Ab--111")
@example("ref./44187")
def test_the_same_is_looked_at_in_prose_and_in_tables(text: str) -> None:
    prose, table = f"{text}\n{'word ' * 200}", f"{text}\n{'1 ' * 200}"
    found = [[span for span in candidates(one) if span[1] <= len(text)] for one in (prose, table)]
    assert found[0] == found[1]


def test_features_tell_form_words_and_who_stands_beside() -> None:
    text = "Parking: for Ann Roy tag KX-4418 (red)\n"
    seen = features(text, "KX-4418", person(text, "Ann Roy"))
    assert seen >= {
        "shape=AA-0000", "form=A+-0+", "word=tag", "b0=tag", "a0=(", "label=parking", "on=P", "leftof=P",
        "people=1", "head of it=kx", "signs=-",
    }  # fmt: skip


def test_the_head_of_a_column_is_a_feature_of_its_numbers() -> None:
    text = "x\n\nname,claim,paid\nRoy,44187,20.50\nLee,44188,21.75\n"
    for written in (text, text.replace("\n", "\r\n")):
        assert {"head=claim", "cut=,"} <= features(written, "44188")
    assert "head=claim" not in features("no,table,here\n\nLee,44188,21.75\n", "44188")


def test_a_number_alone_on_its_line_has_the_words_above() -> None:
    assert {"alone", "above=requisition"} <= features("Requisition\n44187\n", "44187")


def test_what_was_asked_before_changes_nothing() -> None:
    text = f"{'word ' * 1000}tag 44187 of 55218 {'word ' * 1000}"
    start = text.index("55218")
    around = NumberContext(text, ())
    around.features(start - 9, start - 4)
    assert around.features(start, start + 5) == NumberContext(text, ()).features(start, start + 5)
    assert not any(one.startswith(("first=", "label=")) for one in features(text, "55218"))


def test_no_feature_holds_a_name() -> None:
    text = "Zebulon Quirke: tag 44187\nhere alone\nZebulon Quirke\n55218\n"
    people = [person(text, "Zebulon Quirke")]
    second = text.rindex("Zebulon")
    people.append(replace(people[0], span=Span(second, second + 14)))
    seen = features(text, "44187", *people) | features(text, "55218", *people)
    assert not any("zebu" in one or "quir" in one for one in seen)


def test_a_line_without_end_is_read_around_its_numbers() -> None:
    text = "tag 44187 " * MAX_LINE_CHARS
    assert "word=tag" in features(text, "44187")
    assert len(found(text, weights={"word=tag": 9.0})) > 1


def test_features_hold_no_number() -> None:
    seen = features("ref 778231 of 44187 on 5519\n", "44187")
    assert not any(number in one for one in seen for number in ("778231", "44187", "5519"))


def test_the_shipped_weights_find_what_no_rule_does() -> None:
    text = "Sac de sang, unité W04 5512 pour Mme Lavoie.\n"
    findings = screened(text).findings
    assert [one.span.of(text) for one in findings if one.source == "learned_numbers"] == ["W04 5512"]


def test_the_shipped_weights_leave_doses_prices_and_codes_alone() -> None:
    text = (
        "Give 500 mg twice, 1200 mL at 125 mL/h; Hb 112, K 4.1; J45.909, CPT 99213.\n"
        "Catalogue 44-2201: 12 boxes at $114.50, table 3, page 218 of 435. Form F-2207 (rev. 2021).\n"
    )
    findings = screened(text).findings
    assert not [one for one in findings if one.source == "learned_numbers" and not one.is_doubtful]


def test_the_cheap_screening_does_without() -> None:
    assert shipped().numbers is load_numbers()
    assert shipped().without_names().numbers is None


def test_sound_weights_are_read(tmp_path: Path) -> None:
    (tmp_path / "numbers.json").write_text(json.dumps(SOUND), encoding="utf-8")
    assert NumberModel.load(tmp_path).types == (EntityType.MRN,)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        json.dumps(SOUND | {"format": 0}),
        json.dumps(SOUND | {"weights": {"a": [1]}}),
        json.dumps(SOUND | {"bias": [0]}),
        json.dumps(SOUND | {"types": ["X"]}),
        json.dumps(SOUND | {"bias": [0, float("nan")]}),
        json.dumps(SOUND | {"weights": {"a": [1, float("inf")]}}),
        json.dumps(SOUND | {"ages": {"bias": 0}}),
        json.dumps(SOUND | {"ages": {"bias": float("nan"), "weights": {}}}),
        json.dumps(SOUND).replace("0.5", "1" * 400),
        "[" * 200_000,
    ],
)
def test_damaged_weights_are_told_in_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "numbers.json").write_text(content, encoding="utf-8")
    for _ in ("damaged", "gone"):
        with pytest.raises(ModelError, match=r"numbers\.json: expected the weights of the numbers"):
            NumberModel.load(tmp_path)
        (tmp_path / "numbers.json").unlink(missing_ok=True)
