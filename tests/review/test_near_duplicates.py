"""Groups of near-duplicates: copies and near ones, never drifting, made anew when contents change."""

from dataclasses import replace

import numpy as np
import pytest

from phiscan.model import Span
from phiscan.pipeline.signature import N_VALUES as MADE
from phiscan.pipeline.signature import signature
from phiscan.review.store import Store
from phiscan.review.worklist.near_duplicates import N_VALUES
from tests.review.desk import agrees_with_the_truth, line
from tests.review.results import KEY, clear, referred, scan


def word(start: str, *numbers: int) -> str:
    """Return a word without digits for some numbers; words with digits are masked."""
    return start + "".join(chr(ord("a") + int(digit)) for number in numbers for digit in f"x{number}"[1:])


WORDS = [word("word", n) for n in range(400)]
LETTER = " ".join(WORDS)
NEAR = " ".join(["Torvald", *WORDS[1:390], "Quenna", *WORDS[391:]])
OTHER = " ".join(reversed(WORDS))


def test_writer_and_reader_agree_on_the_size() -> None:
    assert MADE == N_VALUES


def groups(store: Store, texts: dict[str, str], **more: str) -> dict[str, int | None]:
    """Scan files with these texts (content by text, unless said) and return the group of each."""
    scan(
        store,
        [
            replace(referred(name, content=more.get(name, str(hash(text)))), signature=signature(text, KEY))
            for name, text in texts.items()
        ],
    )
    return {name: line(store, store.find(name)).group_id for name in texts}


def test_copies_and_near_duplicates_are_one_group(store: Store) -> None:
    found = groups(store, {"a": LETTER, "b": OTHER, "c": NEAR, "d": LETTER})
    assert found == {"a": 1, "b": None, "c": 1, "d": 1}
    members = store.desk.group(1, viewer="ana")
    first = members[0].content_hash
    same = [(one.path, one.content_hash == first) for one in members]
    assert same == [("a", True), ("c", False), ("d", True)]
    assert members[1].similarity > 0.9
    assert agrees_with_the_truth(store)


def test_copies_without_words_are_a_group_too(store: Store) -> None:
    assert groups(store, {"a": "", "b": "..."}, a="same", b="same") == {"a": 1, "b": 1}


def test_a_group_does_not_drift(store: Store) -> None:
    """Each text changes a tenth of the one before: the last has little in common with the first."""
    texts, words = {}, list(WORDS)
    for step in range(8):
        texts[f"{step}"] = " ".join(words)
        words[step * 40 : step * 40 + 30] = [word("new", step) + word("z", n) for n in range(30)]
    found = groups(store, texts)
    assert found["0"] == found["1"] == 1
    assert found["7"] != 1
    for number in {group for group in found.values() if group is not None}:
        assert min(one.similarity for one in store.desk.group(number, viewer="")) >= 0.8


def test_a_changed_file_leaves_its_group(store: Store) -> None:
    groups(store, {"a": LETTER, "b": LETTER, "c": OTHER})
    assert line(store, 2).n_group == 2
    scan(
        store,
        [replace(referred("b", content="other"), signature=signature(OTHER, KEY))],
        unchanged=["a", "c"],
        minutes=1,
    )
    assert [line(store, number).group_id for number in (1, 2, 3)] == [None, 2, 2]
    scan(store, [clear("b")], unchanged=["a", "c"], minutes=2)
    assert [line(store, number).group_id for number in (1, 3)] == [None, None]
    assert agrees_with_the_truth(store)


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8, 0.95])
def test_signatures_agree_as_far_as_the_texts_do(share: float) -> None:
    agreed, truth = [], []
    for number in range(30):
        words = [word("w", number) + word("z", n) for n in range(600)]
        cut = int(600 * share)
        first, second = words, [*words[:cut], *(word("x", number) + word("z", n) for n in range(600 - cut))]
        sets = [{tuple(text[n : n + 3]) for n in range(len(text) - 2)} for text in (first, second)]
        truth.append(len(sets[0] & sets[1]) / len(sets[0] | sets[1]))
        a, b = (np.frombuffer(signature(" ".join(text), KEY), "<u4") for text in (first, second))
        agreed.append(float((a == b).mean()))
    # 30 texts of 64 values: the standard error of the mean is at most 0.012.
    assert np.mean(agreed) == pytest.approx(np.mean(truth), abs=0.05)


FORM = (
    "Dear {name}, your appointment at the breast screening clinic is on {day} at {time}. Please bring this"
    " letter and your health card {number} with you. If you have had surgery or take medication for your"
    " heart, tell the nurse when you arrive, and call us if you cannot come. The clinic is on the second"
    " floor of the east wing."
)
LEAFLET = FORM.replace("breast screening clinic", "diabetes education centre").replace(
    "surgery", "an amputation"
)
LEAFLET = LEAFLET.replace(
    "second floor of the east wing", "ground floor beside the pharmacy in the new building"
)


def form_letter(text: str, name: str, day: str, time: str, number: str) -> bytes:
    written = text.format(name=name, day=day, time=time, number=number)
    spans = [Span(at, at + len(value)) for value in (name, day, number) for at in [written.index(value)]]
    return signature(written, KEY, spans)


def test_form_letters_that_differ_in_name_day_and_number_are_one_group(store: Store) -> None:
    signatures = {
        "a": form_letter(FORM, "Torvald Karrowick", "3 May 2026", "9:30", "1234-567-890"),
        "b": form_letter(FORM, "Quenna Ostriba", "Monday, 17 June 2026", "14:00", "9876543210"),
        "c": form_letter(FORM, "Ommery van der Vandelune", "1 July", "8:15", "5555 555 555 AB"),
        "d": form_letter(LEAFLET, "Torvald Karrowick", "3 May 2026", "9:30", "1234-567-890"),
    }
    scan(store, [replace(referred(name), signature=made) for name, made in signatures.items()])
    found = {name: line(store, store.find(name)).group_id for name in signatures}
    assert found == {"a": 1, "b": 1, "c": 1, "d": None}


def test_texts_of_little_else_but_values_are_not_alike() -> None:
    one, other = "Ann Roe 12 34 56", "Bob Poe 65 43 21"
    assert signature(one, KEY, [Span(0, 7)]) != signature(other, KEY, [Span(0, 7)])


def test_another_key_gives_another_signature() -> None:
    one, other = (np.frombuffer(signature(LETTER, key), "<u4") for key in (KEY, b"j" * 32))
    assert int((one == other).sum()) <= 1


def test_case_and_punctuation_do_not_matter_but_order_does() -> None:
    assert signature("Chest pain, since Monday.", KEY) == signature("chest PAIN since monday", KEY)
    assert signature("chest pain since monday", KEY) != signature("monday since pain chest", KEY)
    assert signature("pain", KEY) != signature("chest", KEY)
    assert signature("\udcff odd", KEY)
