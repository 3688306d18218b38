"""Score inputs made to break the reader, or to make it say what it read."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from phiscan.cli import app
from phiscan.errors import InputError

CANARY = "Zebulon Quarkwhistle"


def _refuse(arguments: list[str]) -> str:
    result = CliRunner().invoke(app, ["score", *arguments])
    assert isinstance(result.exception, InputError), (result.output, result.exception)
    message = str(result.exception)
    assert "\n" not in message
    assert "Quarkwhistle" not in message + result.output
    return message


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"id": "1", "spans": ' + "[" * 50_000,
        json.dumps({"id": "1\nforged: line", "text": "", "spans": []}),
        json.dumps({"id": "\ud800", "text": "", "spans": []}),
        json.dumps({"id": "1", "text": CANARY, "spans": [[0, 5, CANARY + "\n"]]}),
        json.dumps({"id": "1", "text": CANARY, "spans": [[0, 10**400, "ID"]]}),
        '{"id": "1", "text": "' + CANARY + '", "spans": [[0, ' + "9" * 10_000 + ', "ID"]]}',
        '{"id": "1", "text": "' + CANARY + '", "spans": [[NaN, Infinity, "ID"]]}',
        json.dumps({"id": "1", "text": CANARY, "spans": {CANARY: 1}}),
        "\x00",
        CANARY,
    ],
    ids=range(11),
)
def test_json_lines_are_refused_in_one_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    assert "a.jsonl" in _refuse(["spans", "--gold", str(path), "--system", str(path), "--format", "jsonl"])


BOMB = "<!DOCTYPE a [<!ENTITY a '" + "x" * 1000 + "'><!ENTITY b '" + "&a;" * 1000 + "'>]>"


@pytest.mark.parametrize(
    "content",
    [
        BOMB + "<RECORD ID='1'><TEXT>&b;</TEXT></RECORD>",
        "<?xml version='1.0'?>" + BOMB + "<RECORD ID='1'><TEXT>&b;</TEXT></RECORD>",
        "<RECORD ID='1'><TEXT>" + "<PHI TYPE='ID'>" * 5_000 + CANARY,
        "<RECORD ID='1&#10;2'><TEXT>" + CANARY + "</TEXT></RECORD>",
        "<RECORD ID='1'><TEXT>" + CANARY + "<?php x?></TEXT></RECORD>",
        "<RECORD ID='1'><TEXT>" + CANARY + "</TEXT>",
        "<d><TEXT>" + CANARY + "</TEXT><TAGS><ID start='-1' end='3'/></TAGS></d>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><RECORD ID='1'><TEXT/></RECORD>",
    ],
    ids=range(8),
)
def test_xml_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.xml"
    path.write_text(content, encoding="utf-8")
    assert "a.xml" in _refuse(["spans", "--gold", str(path), "--system", str(path), "--format", "i2b2"])


def test_overlapping_and_repeated_spans_are_scored_not_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    spans = [[0, 5, "ID"], [0, 5, "ID"], [2, 9, "DATE"], [4, 6, "ID"]]
    path.write_text(json.dumps({"id": "1", "text": "abcdefghij", "spans": spans}), encoding="utf-8")
    files = ["--gold", str(path), "--system", str(path)]
    result = CliRunner().invoke(app, ["score", "spans", *files, "--format", "jsonl", "--json"])
    assert json.loads(result.stdout)["instance"]["correct"] == 4


def test_thousands_of_spans_on_top_of_each_other_are_refused(tmp_path: Path) -> None:
    text = "x" * 6_000
    gold, system = tmp_path / "g.jsonl", tmp_path / "s.jsonl"
    gold.write_text(json.dumps({"id": "1", "text": text, "spans": [[0, k, "ID"] for k in range(1, 3_000)]}))
    system.write_text(json.dumps({"id": "1", "spans": [[0, k, "ID"] for k in range(3_000, 6_000)]}))
    message = _refuse(["spans", "--gold", str(gold), "--system", str(system), "--format", "jsonl"])
    assert "on top of each other" in message


@pytest.mark.parametrize("document", ["a\nb", "a\u2028b"])
def test_names_cannot_forge_lines(tmp_path: Path, document: str) -> None:
    tree, labels = tmp_path / "t.csv", tmp_path / "l.csv"
    tree.write_text("child,parent\na,b\n", encoding="utf-8")
    labels.write_text(f'document,label\n"{document}",a\n', encoding="utf-8")
    files = ["--tree", str(tree), "--gold", str(labels), "--system", str(labels)]
    assert "expected the name of a document" in _refuse(["hierarchy", *files])
