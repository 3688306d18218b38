"""The marked texts that are learned from, and the manifest that lists them."""

import json
import re
import tomllib
from pathlib import Path

import pytest

from phiscan.errors import InputError
from phiscan.model import EntityType
from training.corpora.documents import Labelled
from training.corpora.marked_texts import (
    FOLDER,
    KINDS,
    NUMBERS,
    Texts,
    copies,
    marks_numbers,
    own_texts,
    parsed,
    read_marked,
    unmarked,
    written,
)
from training.names.folds import Fold
from training.names.train import Settings, corpora, hashes_of


def test_every_mark_of_the_texts_is_whole_and_holds_a_name() -> None:
    texts = [parsed(text) for _, _, text in own_texts()]
    assert len(texts) > len(written()) > 1500
    for path in FOLDER.glob("*.txt"):
        text = path.read_text(encoding="utf-8")
        kinds = [*KINDS, *NUMBERS, *EntityType] if marks_numbers(path.stem) else KINDS
        assert not re.search("[⟦⟧]", re.sub(rf"⟦(?:{'|'.join(kinds)})\|[^⟦⟧|\n]+⟧", "", text)), path.name
    for text in texts:
        reach = 0
        for start, end, _ in text.spans:
            assert reach <= start < end <= len(text.text)
            assert text.text[start:end] == text.text[start:end].strip()
            assert any(char.isalnum() for char in text.text[start:end])
            reach = end


def test_ids_of_the_texts_are_theirs_alone() -> None:
    ids = [
        head
        for path in FOLDER.glob("*.txt")
        for head in re.findall(r"^===== (.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(ids) == len(set(ids)) == len(list(own_texts()))


def test_a_tenth_of_the_texts_is_held_out() -> None:
    held, others = written(held_out=True), written(held_out=False)
    assert sorted(text.text for text in [*held, *others]) == sorted(text.text for text in written())
    assert 0.07 < len(held) / len(others) < 0.14


def test_marks_are_taken_out_of_a_text() -> None:
    text = parsed("⟦P|Ann Roy⟧ of ⟦L|Gimli⟧, at ⟦O|the Bay⟧,\n⟦A|R0C 1B0⟧ [P|x]")
    assert text.text == "Ann Roy of Gimli, at the Bay,\nR0C 1B0 [P|x]"
    assert [(text.text[a:b], label) for a, b, label in text.spans] == [
        ("Ann Roy", "PER"), ("Gimli", "LOC"), ("the Bay", "ORG"), ("R0C 1B0", "ADR"),
    ]  # fmt: skip


def test_marks_of_numbers_are_no_names_and_stand_where_they_stood() -> None:
    marked = "⟦P|Ann Roy⟧, chart ⟦MRN|44-18⟧, born ⟦D|3 May 1931⟧ (⟦Y|93 y⟧), bed 93"
    plain, marks = unmarked(marked)
    assert parsed(marked) == Labelled(plain, ((0, 7, "PER"),))
    assert [(plain[start:end], kind) for start, end, kind in marks] == [
        ("Ann Roy", "P"), ("44-18", "MRN"), ("3 May 1931", "DATE"), ("93 y", "AGE_OVER_89"),
    ]  # fmt: skip


def test_marked_texts_of_a_site_are_read_without_dates_and_without_overlaps(tmp_path: Path) -> None:
    path = tmp_path / "ours.jsonl"
    record = {
        "id": "a",
        "text": "Dr. Ann Roy, Gimli, 2 May",
        "spans": [[20, 25, "DATE"], [4, 11, "HEALTH_PROFESSIONAL"], [8, 11, "PERSON"], [13, 18, "LOCATION"]],
    }
    path.write_text(json.dumps(record) + "\n", encoding="utf-8")
    assert list(read_marked(path)) == [Labelled(record["text"], ((4, 11, "PER"), (13, 18, "LOC")))]


@pytest.mark.parametrize(
    "line",
    [
        "{",
        "[]",
        '{"id": "2", "text": "Ann"}',
        '{"id": "2", "text": "Ann", "spans": [[0, 9, "PERSON"]]}',
        '{"id": "2", "text": 1, "spans": []}',
        '{"text": "Ann", "spans": []}',
    ],
)
def test_a_line_that_is_no_marked_text_is_named_without_its_text(tmp_path: Path, line: str) -> None:
    path = tmp_path / "ours.jsonl"
    path.write_text('{"id": "1", "text": "Ann", "spans": [[0, 3, "PERSON"]]}\n' + line, encoding="utf-8")
    with pytest.raises(InputError, match=r"ours\.jsonl: line 2[:,]") as raised:
        list(read_marked(path))
    assert "Ann" not in str(raised.value)
    with pytest.raises(InputError, match=r"gone\.jsonl: expected JSON lines of marked texts"):
        list(read_marked(tmp_path / "gone.jsonl"))


def test_copies_have_other_people_at_their_marks() -> None:
    pytest.importorskip("faker")
    text = parsed("⟦P|Quenby Draskovin⟧ of ⟦L|Gimli⟧ came.")
    first, *others = copies([text], 9, 1)
    assert first == text
    assert len(others) == 8
    assert all("draskovin" not in copy.text.lower() for copy in others)
    assert any(copy.text.isupper() for copy in others)
    for copy in others:
        (_, person, _), (_, _, place) = copy.spans
        assert person < len(copy.text)
        assert place == "LOC"
        assert all(copy.text[a:b].strip() == copy.text[a:b] != "" for a, b, _ in copy.spans)
        assert copy.text[copy.spans[1][0]].lower() == "g"


def test_texts_of_a_site_are_trained_on_and_stand_in_the_hashes(tmp_path: Path) -> None:
    pytest.importorskip("faker")
    path = tmp_path / "ours.jsonl"
    path.write_text('{"id": "q", "text": "Quenby came.", "spans": [[0, 6, "PERSON"]]}\n', encoding="utf-8")
    texts, settings = Texts(marked=(path,)), Settings(n_documents=50, n_copies=1)
    own = [text for source, text in corpora(settings, Fold(), texts) if source == "marked"]
    assert own == [*written(), Labelled("Quenby came.", ((0, 6, "PER"),))]
    assert "marked/ours.jsonl" in hashes_of(texts)
    other = tmp_path / "other" / "ours.jsonl"
    with pytest.raises(InputError, match=r"ours\.jsonl: expected a name that no other file"):
        hashes_of(Texts(marked=(path, other)))
    fold = [text for source, text in corpora(settings, Fold(held_out=True), Texts()) if source == "marked"]
    assert fold == written(held_out=False)


MANIFEST = FOLDER.parent / "manifest.toml"


def test_every_file_has_an_entry_with_its_number_of_texts() -> None:
    listed = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))["texts"]
    counted: dict[str, int] = {}
    for source, _, _ in own_texts():
        counted[source] = counted.get(source, 0) + 1
    assert {source: entry["n_texts"] for source, entry in listed.items()} == counted
    assert all(set(entry["marks"]) <= {"names", "numbers"} for entry in listed.values())
    assert {"names" in entry["learned_by"] for entry in listed.values() if "numbers" in entry["marks"]} == {
        False
    }


def test_a_file_without_an_entry_is_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"manifest\.toml: field unlisted: expected an entry"):
        marks_numbers("unlisted")
