"""Reading the CSV tables of the estimate and score commands."""

from pathlib import Path

import pytest

from phiscan.cli.tables import read_table
from phiscan.errors import InputError


def _table(tmp_path: Path, data: bytes) -> Path:
    path = tmp_path / "t.csv"
    path.write_bytes(data)
    return path


def test_reads_columns_by_name_and_strips(tmp_path: Path) -> None:
    table = read_table(_table(tmp_path, b'\xef\xbb\xbfa, count\r\n x ,3\r\n\r\n"y,z",4\r\n'), ["a", "count"])
    assert table.column("a") == ("x", "y,z")
    assert table.integers("count") == (3, 4)
    assert table.lines == (2, 4)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "line 1: expected a header, found an empty file"),
        (b"a,b\n1\n", "line 2: expected 2 fields, found 1"),
        (b"a,a\n1,2\n", "line 1: expected every column name once"),
        (b"b\n1\n", "line 1: expected a column 'a' among the 1 there"),
        (b"a\n\xff\n", "expected UTF-8"),
        (b'a\n"open\n', "expected CSV"),
    ],
)
def test_names_file_and_line_of_a_mistake(tmp_path: Path, data: bytes, message: str) -> None:
    path = _table(tmp_path, data)
    with pytest.raises(InputError, match=message) as caught:
        read_table(path, ["a"])
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    "cell", [b"-1", b"1.5", b"many", b"NaN", b"3", b"+1", b"0_1", "\u0661".encode(), b"9" * 5000]
)
def test_refuses_what_is_not_a_count_in_range(tmp_path: Path, cell: bytes) -> None:
    table = read_table(_table(tmp_path, b"a\n" + cell + b"\n"))
    with pytest.raises(InputError, match="line 2, field a: expected a whole number from 0 to 2"):
        table.integers("a", high=2)


def test_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no.csv: cannot be read"):
        read_table(tmp_path / "no.csv")


def test_never_repeats_what_stands_in_the_table(tmp_path: Path) -> None:
    for data in (b"Quenna Vandelune,canary\n1,2\n", b"a\ncanary\n", b"canary,canary\n1,2\n"):
        with pytest.raises(InputError) as caught:
            read_table(_table(tmp_path, data), ["a"]).integers("a")
        assert "canary" not in str(caught.value)
        assert "Quenna" not in str(caught.value)
