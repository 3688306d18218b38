import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.text.word_tokens import CHUNK_CHARS, tokenize, tokenized


def word_hash(word: str) -> int:
    return int(tokenize(word).hashes[0])


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("allergy", "allergies", True),
        ("rash", "rashes", True),
        ("fracture", "Fractures", True),
        ("diabète", "DIABETES", True),
        ("disease", "diseases", True),
        ("biopsy", "biopsies", True),
        ("metformin", "metformine", True),
        ("virus", "viru", False),
        ("mass", "mas", False),
        ("cold", "colt", False),
        ("as", "a", False),
    ],
)
def test_folds_inflection_case_and_accents_and_keeps_other_words_apart(
    one: str, other: str, same: bool
) -> None:
    assert (word_hash(one) == word_hash(other)) is same


def test_drops_the_possessive_but_not_a_bare_s() -> None:
    assert len(tokenize("Crohn's disease").hashes) == 2
    assert len(tokenize("Crohn\u2019s disease").hashes) == 2
    assert len(tokenize("plan s disease").hashes) == 3


@pytest.mark.parametrize(
    ("text", "joined"),
    [
        ("chest pain", True),
        ("chest-pain", True),
        ("chest\npain", True),
        ("chest. Pain", False),
        ("chest\n\npain", False),
        ("chest | pain", False),
        ("chest, pain", False),
        ("chest: pain", False),
        ("q.d", True),
    ],
)
def test_joins_words_of_one_phrase_only(text: str, joined: bool) -> None:
    assert bool(tokenize(text).joined[0]) is joined


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
@settings(max_examples=150, deadline=None)
def test_finds_runs_of_letters_and_digits_of_any_text(text: str) -> None:
    tokens = tokenize(text)
    spans = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    plain = (
        [match.span() for match in re.finditer("[a-z0-9]+", text)]
        if text.isascii() and text.islower()
        else []
    )
    assert not plain or {span for span in spans if span[1] - span[0] > 1} >= {
        span for span in plain if span[1] - span[0] > 1
    }


def test_cuts_long_texts_between_words_and_loses_nothing() -> None:
    text = "asthma cough " * (CHUNK_CHARS // 4)
    parts = tokenized(text)
    assert len(parts) > 1
    assert [part.offset for part in parts[1:]] == [part.offset + part.n_chars for part in parts[:-1]]
    assert sum(part.n_chars for part in parts) == len(text)
    assert all(part.n_chars <= CHUNK_CHARS for part in parts)
    assert sum(len(part.tokens.starts) for part in parts) == len(text.split())
