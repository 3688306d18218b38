"""Rules with a trigger find around many triggers what they find around each, and each match once."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.screen.rules import recognizer
from tests.screen.whole import plain, rules

ADDRESSES = ("a.b@example.org", "x@mail.clinic.example.org", f"{'l' * 40}@{'d' * 40}.{'e' * 12}.example.org")
PARTS = (
    "clinic.example.org",
    "a.b@example.org",
    "www.example.org/x,y",
    "12 Elm Street",
    "lives at 14 Birch",
    " ",
    ", ",
    "\n",
)


def triggered(text: str) -> list[tuple[str, int, int]]:
    found = rules().recognize(plain(text))
    reach = {one.rule.id for one in rules().rules if one.reach}
    return sorted((one.source, one.span.start, one.span.end) for one in found if one.source in reach)


@given(st.lists(st.sampled_from(PARTS), max_size=30).map("".join))
def test_no_match_is_found_twice(text: str) -> None:
    found = triggered(text)
    assert len(set(found)) == len(found)


@given(st.lists(st.sampled_from(ADDRESSES), min_size=1, max_size=20))
def test_each_address_of_a_list_is_found_whole(words: list[str]) -> None:
    text = "\n".join(f"<{word}>" for word in words)
    found = {text[start:end] for source, start, end in triggered(text) if source == "email.1"}
    assert found == set(words)


@pytest.mark.parametrize("n_others", [0, 300])
def test_a_rule_that_most_triggers_do_not_match_still_finds_the_one(n_others: int) -> None:
    text = "room 12 North, bed 7 East. " * n_others + "She lives at 44 Birchmount, alone."
    (found,) = [one for one in triggered(text) if one[0] == "address.lives.1"]
    assert text[found[1] : found[2]].startswith("44 Birchmount")


def test_the_timeout_of_a_match_does_not_count_the_time_of_its_consumer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recognizer, "TIMEOUT_S", 0.05)
    text = "12 Main Street " * 20
    found = 0
    for _ in rules().recognize(plain(text)):
        found += 1
        began = process_time()
        while process_time() - began < 0.1:
            pass
        if found == 3:
            break
    assert found == 3
