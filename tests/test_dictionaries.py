"""The dictionary file format."""

from pathlib import Path

import pytest

from phiscan.errors import DictionaryError
from phiscan.lexicon.dictionary import load_dictionary

HEADER = "# source: us\n# licence: CC0\n# version: 1\n# date: 2026-01-01\n# normalisation: none\n"


def _load(tmp_path: Path, text: str) -> tuple[tuple[str, ...], ...]:
    path = tmp_path / "terms.txt"
    path.write_text(text, encoding="utf-8")
    return load_dictionary(path).rows


def test_reads_header_and_columns(tmp_path: Path) -> None:
    path = tmp_path / "terms.txt"
    path.write_text(HEADER + "asthme\tC1\nfièvre\tC2\n", encoding="utf-8")
    dictionary = load_dictionary(path)
    assert dictionary.name == "terms"
    assert dictionary.header["licence"] == "CC0"
    assert dictionary.terms == ("asthme", "fièvre")
    assert dictionary.rows[1] == ("fièvre", "C2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("asthma\n", "expected the header lines source"),
        (HEADER + "a\tb\nc\n", "line 7: expected 2 tab-separated columns"),
        (HEADER + "a\n# late: header\n", "line 7: expected '# key: value' lines only at the top"),
        ("# no colon\n", "line 1"),
    ],
)
def test_names_the_line_of_a_mistake(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(DictionaryError, match=message):
        _load(tmp_path, text)


def test_names_a_file_that_is_missing_or_not_text(tmp_path: Path) -> None:
    with pytest.raises(DictionaryError, match="cannot be read"):
        load_dictionary(tmp_path / "no.txt")
    (tmp_path / "bad.txt").write_bytes(b"\xff")
    with pytest.raises(DictionaryError, match="byte 0: expected UTF-8"):
        load_dictionary(tmp_path / "bad.txt")


def test_loads_every_shipped_dictionary() -> None:
    files = sorted((Path(__file__).parent.parent / "dictionaries").glob("*.txt"))
    assert files
    for path in files:
        assert load_dictionary(path).rows, path.name
