"""k-anonymity and l-diversity of tables, against counts made by hand."""

import json
from pathlib import Path

from phiscan.model import Document, Segment
from phiscan.patients.risk import TableRisk, table_risks
from tests.cli.program import run

HEAD = "Name,Date of birth,Postal code,Sex,Diagnosis\n"
ROWS = (
    ("Ann Roy", "1956-03-12", "K7L 3N6", "F", "asthma"),
    ("Bea Roy", "12 March 1956", "k7l3n6", "f", "asthma"),
    ("Cy Li", "1960-01-01", "K7L 3N6", "M", "asthma"),
    ("Di Li", "1960-01-01", "K7L 3N6", "M", "migraine"),
    ("Ed Oh", "1970-01-01", "K7L 3N6", "M", "gout"),
)


def _document(rows: list[str]) -> Document:
    segments, at = [], 0
    for number, row in enumerate(rows, 1):
        segments.append(Segment(f"#row{number}", at, at + len(row)))
        at += len(row) + 1
    return Document("\n".join(rows), tuple(segments), "text/csv")


def _written(*columns: int) -> list[str]:
    labels = HEAD.strip().split(",")
    return [" | ".join(f"{labels[n]}: {row[n]}" for n in columns) for row in ROWS]


def test_groups_are_counted_over_normal_forms() -> None:
    assert table_risks(_document(["a | b", *_written(0, 1, 2, 3, 4)])) == [
        TableRisk("#row2", 5, ("birth_date", "postal_code", "sex"), k=1, n_unique=1, l_diversity=1)
    ]
    assert table_risks(_document(_written(2, 3))) == [
        TableRisk("#row1", 5, ("postal_code", "sex"), k=2, n_unique=0, l_diversity=None)
    ]
    (two,) = table_risks(_document([*_written(3, 4)[2:], "Sex: M | Diagnosis: gout"]))
    assert (two.k, two.l_diversity) == (4, 3)


def test_a_table_without_quasi_identifiers_has_no_risk() -> None:
    assert table_risks(_document(_written(0, 4))) == []
    assert table_risks(_document(["Dear Ann", "Sex: F | Age: 3"])) == []
    assert table_risks(Document("", (), "text/plain")) == []


def test_two_tables_of_a_document_are_two() -> None:
    other = ["Age: 31 | Test: glucose", "Age: 32 | Test: glucose"]
    found = table_risks(_document([*_written(1, 2), *other]))
    assert [(risk.n_rows, risk.quasi_identifiers) for risk in found] == [
        (5, ("birth_date", "postal_code")),
        (2, ("age",)),
    ]


def test_the_command_prints_counts_and_no_value(tmp_path: Path) -> None:
    path = tmp_path / "list.csv"
    path.write_text(HEAD + "".join(",".join(row) + "\n" for row in ROWS))
    shown = run("patients", "risk", str(path))
    assert "5 rows, 20% unique on birth date + postal code + sex (k = 1, l = 1)" in shown
    assert not any(value in shown for row in ROWS for value in row[:3])
    (table,) = json.loads(run("patients", "risk", str(path), "--json"))["tables"]
    assert (table["n_rows"], table["n_unique"], table["unique_share"]) == (5, 1, 0.2)
