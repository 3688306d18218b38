"""Patterns that are searched each by its own automaton match as one automaton of all of them would."""

from hypothesis import given
from hypothesis import strategies as st

from phiscan.text.automata import Alternatives, automaton, spans

_PARTS = ("a", "b", "ab", "a+b", r"\ba", r"b\b", "(?:ab)+", "c?", "bc|c", "[ab]{2,3}c", r"\d+", "é", "éa")
_PATTERNS = st.lists(st.sampled_from(_PARTS), min_size=1, max_size=5)


def _found(patterns: list[str], raw: bytes) -> list[tuple[int, int]]:
    search, position, found = Alternatives(patterns).search(raw), 0, []
    while (match := search.after(position)) is not None:
        found.append(match)
        position = match[1] if match[1] > position else position + 1
    return found


@given(patterns=_PATTERNS, text=st.text(alphabet="abc1é ", max_size=30))
def test_alternatives_match_as_one_pattern_of_all_does(patterns: list[str], text: str) -> None:
    raw = text.encode()
    assert _found(patterns, raw) == list(spans(automaton("|".join(patterns)), raw))


def test_a_search_that_goes_back_into_its_last_match_finds_what_begins_there() -> None:
    search = Alternatives(["abc", "bc", "c"]).search(b"abc abc")
    assert search.after(0) == (0, 3)
    assert search.after(1) == (1, 3)
    assert search.after(2) == (2, 3)
    assert search.after(3) == (4, 7)
    assert search.after(7) is None
