"""The evidence of passages, which is counted for all of them at once."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from phiscan.decision.evidence import NAMES_OF_EVIDENCE, gather, proximity
from phiscan.health.features import Window
from phiscan.health.term_lexicon import load_lexicon
from phiscan.screen import screen
from tests.decision.test_decide import engine
from tests.screen.whole import plain

AT = {name: index for index, name in enumerate(NAMES_OF_EVIDENCE)}
CELL = re.compile(r" \| |\t|[;,](?=\S)|\|")
NOTE = (
    "Mrs Okafor has asthma.\nborn;12 March 1961\nThe clinic is open; call us.\nNora Velthuis | MRN 4471902\n"
)


def evidence_of(text: str) -> np.ndarray:
    document = plain(text)
    gathered = gather(document, screen(document, engine().screener), load_lexicon())
    return gathered.vectors(gathered.windows())


@given(
    st.text(alphabet="a |,;\t\n", max_size=40), st.lists(st.tuples(st.integers(0, 40), st.integers(0, 40)))
)
def test_the_separators_of_a_passage_are_those_that_a_search_in_it_finds(
    text: str, places: list[tuple[int, int]]
) -> None:
    document = plain(text)
    gathered = gather(document, screen(document, engine().cheap_screener), load_lexicon())
    windows = [Window(min(place), max(place), {}) for place in places]
    found = gathered.vectors(windows)[:, AT["cells"]]
    expected = [len(CELL.findall(text, window.start, window.end)) for window in windows]
    assert np.allclose(found, np.log1p(expected))


def test_a_passage_has_the_evidence_that_begins_in_it() -> None:
    found = evidence_of(NOTE)
    assert found[:, AT["full_name"]].any()
    assert found[:, AT["birth_date"]].max() == 1.0
    assert found[0, AT["name_by_health"]] > 0.5
    assert (found[:, AT["people"]] <= np.log1p(2)).all()


@given(
    st.lists(st.integers(0, 300), max_size=6, unique=True).map(sorted),
    st.lists(st.integers(0, 300), max_size=6, unique=True).map(sorted),
    st.integers(0, 300),
    st.integers(0, 300),
)
def test_proximity_is_that_of_the_nearest_pair_in_the_passage(
    names: list[int], terms: list[int], low: int, high: int
) -> None:
    pairs = np.array([(at, at + 5) for at in names], dtype=np.int64).reshape(-1, 2)
    starts = np.array(terms, dtype=np.int64)
    (found,) = proximity(pairs, starts, starts + 3, np.array([low]), np.array([high])).tolist()
    gaps = [
        max(term - (name + 5), name - (term + 3), 0)
        for name in names
        for term in terms
        if low <= name < high and low <= term < high
    ]
    assert np.isclose(found, np.exp(-min(gaps) / 80) if gaps else 0.0)


def test_who_wrote_a_mail_counts_for_no_passage_and_who_speaks_in_a_chat_does() -> None:
    mail = "From: Ines Morel\nTo: Paul Tremblay\nSubject: Flu\n\nThe flu vaccines are here.\n"
    chat = "sender: Ines Morel\ntext: they found a lymphoma in my neck\n"
    assert not evidence_of(mail)[:, AT["name"]].any()
    assert evidence_of(chat)[:, AT["name"]].any()
