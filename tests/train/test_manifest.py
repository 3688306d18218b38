"""The manifest of the training texts lists every file, and says what is marked in it."""

import tomllib

import pytest

from phiscan.errors import InputError
from training.corpora.marked_texts import FOLDER, marks_numbers, own_texts

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
