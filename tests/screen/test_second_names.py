"""The shipped second family: plain names, offsets in any script, and damaged weights."""

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.errors import ModelError
from phiscan.model import Document, EntityType
from phiscan.screen.ner import second_tagger as second_names
from phiscan.screen.ner.second_tagger import CHUNK_CHARS, FOLDER, LABELS, MAX_CHUNKS, WEIGHTS, SecondNames
from phiscan.text.chunks import chunks

SECOND = SecondNames.load()


def people(text: str) -> list[str]:
    found = SECOND.recognize(Document(text, (), "text/plain"))
    return [finding.span.of(text) for finding in found if finding.entity_type is EntityType.PERSON]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Yesterday I spoke with Margaret Holloway about her results.", ["Margaret Holloway"]),
        ("Patient: John Smith\nDate: 3 May 2019\n", ["John Smith"]),
        ("Please call Mr. Peter Walsh before noon.", ["Peter Walsh"]),
        ("Asthma is a long-term disease of the lungs.", []),
        ("The clinic is closed on Monday and opens again at nine.", []),
    ],
)
def test_plain_examples(text: str, names: list[str]) -> None:
    assert [any(name in found for found in people(text)) for name in names] == [True] * len(names)
    assert bool(people(text)) == bool(names)
    assert SECOND.finds_full_name(text) == bool(names)


def test_spans_are_code_points_behind_emoji_and_wide_gaps() -> None:
    odd = "\U0001f600\U0001f468\u200d\u2695\ufe0f  e\u0301  \U00010400"
    text = f"{odd} Patient: John Smith,  seen today \U0001f600.\n"
    (finding,) = [
        one
        for one in SECOND.recognize(Document(text, (), "text/plain"))
        if one.entity_type is EntityType.PERSON and "Smith" in one.span.of(text)
    ]
    assert finding.span.end == text.index("Smith") + len("Smith")
    far = "\U0001f600 plain words here.\n" * (CHUNK_CHARS // 10) + text  # in a later chunk
    assert any(name.endswith("John Smith") for name in people(far))


@given(st.text(max_size=200))
@settings(max_examples=40, deadline=None)
def test_spans_lie_within_any_text(text: str) -> None:
    for finding in SECOND.recognize(Document(text, (), "text/plain")):
        assert 0 <= finding.span.start < finding.span.end <= len(text)
        assert finding.span.of(text).strip()


@given(st.integers(0, 3 * CHUNK_CHARS), st.sampled_from(["a", "a ", "a\n", "\U0001f600"]))
@settings(max_examples=40, deadline=None)
def test_chunks_join_to_the_text(n_times: int, piece: str) -> None:
    text = piece * n_times
    cut = list(chunks(text, CHUNK_CHARS))
    assert "".join(part for _, part in cut) == text
    assert all(text.startswith(part, base) and len(part) <= CHUNK_CHARS for base, part in cut)


def test_a_long_text_is_read_in_part() -> None:
    asked: list[str] = []

    class Nobody:
        ents = ()

        def __init__(self, text: str) -> None:
            asked.append(text)

    assert not SecondNames(Nobody).finds_full_name("nobody here\n" * CHUNK_CHARS)
    assert 1 < len(asked) <= MAX_CHUNKS


def test_the_weights_are_small_and_hold_no_pickle() -> None:
    assert (FOLDER / WEIGHTS).stat().st_size < 10_000_000
    card = json.loads((FOLDER / LABELS).read_text(encoding="utf-8"))
    assert card["figures"]["presidio_synth_v2"]["person_recall"] > 0
    page = (FOLDER.parents[2] / "docs" / "reference" / "model-card-second-names.md").read_text(
        encoding="utf-8"
    )
    assert f"{card['figures']['presidio_synth_v2']['person_recall']:.1f}" in page


@pytest.mark.parametrize("harm", ["no labels", "cut", "another format", "other weights"])
def test_damaged_weights_are_named(tmp_path: Path, harm: str) -> None:
    for name in (WEIGHTS, LABELS):
        shutil.copy(FOLDER / name, tmp_path)
    labels, weights = tmp_path / LABELS, tmp_path / WEIGHTS
    card = json.loads(labels.read_text(encoding="utf-8"))
    if harm == "no labels":
        labels.unlink()
    elif harm == "cut":
        weights.write_bytes(weights.read_bytes()[:1000])
    else:
        card |= {"format": 99} if harm == "another format" else {"arrays": "0" * 64}
        labels.write_text(json.dumps(card), encoding="utf-8")
    with pytest.raises(ModelError, match="second_names"):
        SecondNames.load(tmp_path)


def test_spacy_is_not_loaded_before_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str) -> None:
        raise AssertionError(name)

    monkeypatch.setattr(second_names, "import_module", refuse)
    assert SecondNames.load() is not None
