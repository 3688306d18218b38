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
    "cell", [b"-1", b"1.5", b"many", b"NaN", b"3", b"+1", b"0_1", "\u0661".encode(), b"9" * 5000]
)
def test_refuses_what_is_not_a_count_in_range(tmp_path: Path, cell: bytes) -> None:
    table = read_table(_table(tmp_path, b"a\n" + cell + b"\n"))
    with pytest.raises(InputError, match="line 2, field a: expected a whole number from 0 to 2"):
        table.integers("a", high=2)


def test_never_repeats_what_stands_in_the_table(tmp_path: Path) -> None:
    for data in (b"Quenna Vandelune,canary\n1,2\n", b"a\ncanary\n", b"canary,canary\n1,2\n"):
        with pytest.raises(InputError) as caught:
            read_table(_table(tmp_path, data), ["a"]).integers("a")
        assert "canary" not in str(caught.value)
        assert "Quenna" not in str(caught.value)
