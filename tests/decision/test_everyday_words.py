"""Lines without a health term whose words tell of health: scores, passages, damage."""

from pathlib import Path

import numpy as np
import pytest

from phiscan.decision.decide import Gathered
from phiscan.decision.everyday_words import WORDS_FILE, EverydayWords, load_everyday_words
from phiscan.decision.passages import units_of
from phiscan.errors import ModelError
from phiscan.health.word_hashes import BUCKET_BITS, Words, buckets_of
from phiscan.screen import screen
from phiscan.text.word_tokens import tokenize
from tests.decision.test_decide import engine
from tests.screen.whole import plain

TELLS = "Rota for May\n\nJanet Broom is off, she can't leave the ward yet.\nKeys are in the tin.\n"
OF_NOBODY = "Rota for May\n\nJanet Broom is on the tills, the shop opens at nine.\nKeys are in the tin.\n"
NAMED = "Rota for May\n\nJanet Broom has asthma, she can't leave the ward yet.\n"


def gathered(text: str) -> Gathered:
    document, one = plain(text), engine()
    return one.decider.gather(document, screen(document, one.screener), one.classifier)


def words_of(text: str) -> Words:
    tokens = tokenize(text)
    return Words(tokens.starts, tokens.hashes)


def test_a_score_is_the_sum_of_weights_over_the_root_of_the_number_of_words() -> None:
    draw = np.random.default_rng(3)
    single, pairs = draw.normal(0, 1, (2, 1 << BUCKET_BITS)).astype(np.float32)
    model = EverydayWords(single, pairs, 0.0)
    text = "She is off again\nfour\n\nwith her back, poor thing"
    starts, ends = units_of(text)
    expected = []
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        one, two = buckets_of(words_of(text[start:end]))
        expected.append((single[one].sum() + pairs[two].sum()) / np.sqrt(len(one)))
    np.testing.assert_allclose(model.scores(words_of(text), starts, ends), expected, atol=1e-4)
    assert model.scores(words_of(""), *units_of("")).shape == (0,)
    assert model.scores(words_of("..."), *units_of("...")).tolist() == [0.0]


def test_a_line_that_tells_of_health_is_a_passage_that_the_encoder_may_raise() -> None:
    found = gathered(TELLS)
    assert found.passages.everyday.tolist() == [TELLS.index("Janet")]
    assert not len(found.passages.reading.health.starts)
    chosen = [
        TELLS[low:high]
        for (low, high), names in zip(found.inputs.places, found.inputs.names_health, strict=True)
        if names
    ]
    assert TELLS.split("\n")[2] in chosen
    other = gathered(OF_NOBODY)
    assert not len(other.passages.everyday)
    assert not other.inputs.names_health.any()


def test_a_text_with_a_health_term_has_its_terms_alone() -> None:
    found = gathered(NAMED)
    assert not len(found.passages.everyday)
    assert found.passages.health_places().tolist() == [NAMED.index("asthma")]
    assert found.inputs.names_health.any()


def test_damaged_weights_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / WORDS_FILE.name
    for content in (b"", b"no archive", WORDS_FILE.read_bytes()[:200]):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=r"everyday_words\.npz: cannot be read as the weights"):
            load_everyday_words(path)
