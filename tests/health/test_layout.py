import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.health.text_detector import N_BUCKETS, N_NGRAMS, features, layout_words, masked


def words(text: str) -> dict[str, int]:
    return {word.split(":")[0]: int(word.split(":")[1]) for word in layout_words(masked(text, []))}


PROSE = "He went to the shop and bought bread.\nThen he came home again and slept."
FORM = "Name: Ada\nAge: 40\nReason: cough\n\nPlan: rest\n"
TABLE = "a;b;c;d\n1;2;3;4\n5;6;7;8\n"
MAIL = "From: a\nTo: b\nSubject: c\n\nHello there.\n"
COLUMNS = "Bread        3.10\nMilk         2.20\n"


@pytest.mark.parametrize(
    ("what", "text"),
    [("labels", FORM), ("rows", TABLE), ("headers", MAIL), ("columns", COLUMNS)],
)
def test_each_layout_says_what_it_is(what: str, text: str) -> None:
    assert words(text)[what] > words(PROSE)[what] == 0


def test_the_layout_words_are_those_that_the_weights_were_learned_with() -> None:
    assert words(FORM) == {
        "labels": 5, "rows": 0, "columns": 0, "bullets": 0, "numbered": 0, "indented": 0, "sentences": 0,
        "headers": 0, "short": 5, "digits": 2, "marks": 0, "length": 0, "longest": 0, "lines": 2,
    }  # fmt: skip


def test_prose_ends_in_full_stops() -> None:
    assert words(PROSE)["sentences"] == 5 > words(FORM)["sentences"] == 0


def test_the_last_line_may_lack_its_end() -> None:
    assert layout_words(masked(FORM, [])) == layout_words(masked(FORM.rstrip("\n"), []))


def test_layout_does_not_ask_what_is_masked() -> None:
    # The same lines with letters or with masks for a value: the same words.
    assert words("Name: ###\nborn ####") == words("Name: Ada\nborn Adam")


def test_an_empty_text_has_no_layout() -> None:
    assert layout_words(masked("", [])) == layout_words(masked("\n\n\n", [])) == ()


@settings(deadline=None)
@given(st.text(alphabet="ab0:;|#,.-> \t\n", max_size=200))
def test_any_text_has_one_level_of_each(text: str) -> None:
    found = layout_words(masked(text, []))
    assert len(found) == len({word.split(":")[0] for word in found})
    buckets, _ = features(masked(text, []))
    assert (buckets[buckets >= N_NGRAMS] < N_BUCKETS).all()
