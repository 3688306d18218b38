from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from phiscan.cli import app, rules
from phiscan.config import Config
from phiscan.errors import InputError, RuleError
from phiscan.screen.rules.definitions import RuleSet, load_rules
from tests.large.made_files import write_csv

SCHEMA = Path(__file__).resolve().parents[2] / "docs" / "reference" / "schemas" / "screen.json"
TEXT = "Patient: Anna Kowalczyk\nDOB: 1962-03-14\nTel 613-555-0199\nDiabetes mellitus, on metformin."


def test_screen_answers_the_contract_line_by_line() -> None:
    lines = "\n".join(json.dumps({"id": i, "text": text}) for i, text in enumerate([TEXT, "", "😀 nothing"]))
    result = CliRunner().invoke(app, ["screen", "-", "--json"], input=lines, catch_exceptions=False)
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    for answer in answers:
        jsonschema.validate(answer, schema)
    spans = {(span["type"], TEXT[span["start"] : span["end"]]) for span in answers[0]["spans"]}
    assert {("PERSON", "Anna Kowalczyk"), ("DATE_OF_BIRTH", "1962-03-14"), ("PHONE", "613-555-0199")} <= spans
    assert answers[0]["hamming"] == 0
    assert {"FirstName", "LastName", "PhoneNumber"} <= set(answers[0]["pii"])
    assert answers[1]["spans"] == []
    assert answers[1]["decision"] == "clear"


def test_screen_says_what_each_detector_says() -> None:
    line = json.dumps({"id": 1, "text": TEXT})
    result = CliRunner().invoke(app, ["screen", "-", "--json"], input=line, catch_exceptions=False)
    answer = json.loads(result.stdout)
    assert list(answer["detectors"]) == list(answer["detector_probability"]) == ["patterns", "names", "text"]
    assert all(0 < alone < 1 for alone in answer["detector_probability"].values())
    assert answer["unread"] == []
    assert answer["people_interval"] is None


@pytest.mark.slow
def test_screen_reads_a_long_text_in_windows_as_a_scan_does(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    write_csv(path, 4_000)
    text = path.read_text(encoding="utf-8")
    line = json.dumps({"id": "long", "text": text})
    result = CliRunner().invoke(app, ["screen", "-", "--json"], input=line, catch_exceptions=False)
    answer = json.loads(result.stdout)
    jsonschema.validate(answer, json.loads(SCHEMA.read_text(encoding="utf-8")))
    assert answer["decision"] == "referred"
    low, high = answer["people_interval"]
    assert low <= answer["people"] <= high
    (unread,) = answer["unread"]
    assert unread["locator"] == "#rest"
    assert unread["detail"].startswith("not screened:")
    charts = [span for span in answer["spans"] if span["type"] == "MRN"]
    assert charts
    assert all(text[span["start"] : span["end"]].isdecimal() for span in charts)


def test_screen_names_a_bad_line_without_quoting_it() -> None:
    expected = 'standard input: line 2: expected a JSON object with "id" and a text in "text"'
    good = json.dumps({"id": 1, "text": "x"})
    for line in ("not json", "[]", '{"id": 1}', '{"id": 1, "text": 5}', '{"text": "x"}'):
        with pytest.raises(InputError) as caught:
            CliRunner().invoke(app, ["screen"], input=f"{good}\n{line}\n", catch_exceptions=False)
        assert str(caught.value) == expected


def test_screen_refuses_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        CliRunner().invoke(app, ["screen", str(tmp_path / "none"), "--json"], catch_exceptions=False)


@pytest.fixture
def few_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the rules of one number and those of the site: tests/test_rules.py checks all of ours."""

    def load(config: Config) -> RuleSet:
        found = load_rules(config)
        return replace(
            found, rules=tuple(one for one in found.rules if one.id.startswith(("ca.sin", "site.")))
        )

    monkeypatch.setattr(rules, "load_rules", load)


@pytest.mark.usefixtures("few_rules")
def test_rules_list_and_check() -> None:
    listed = CliRunner().invoke(app, ["rules", "list", "--json"], catch_exceptions=False)
    ids = [rule["id"] for rule in json.loads(listed.stdout)["rules"]]
    assert "ca.sin.1" in ids
    checked = CliRunner().invoke(app, ["rules", "check"], catch_exceptions=False)
    assert checked.stdout.startswith(f"{len(ids)} rules and their ")


@pytest.mark.usefixtures("few_rules")
def test_rules_check_refuses_a_site_rule_that_does_not_work(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(
        "[[rule]]\nid = 'site.x.1'\nentity_type = 'MRN'\nsummary = 's'\npattern = 'Q9'\nscore = 0.8\n"
        "source = 's'\nexamples = ['none']\ncounterexamples = ['none']\n",
        encoding="utf-8",
    )
    config = tmp_path / "phiscan.toml"
    config.write_text(f"extra_patterns = ['{tmp_path / 'site.toml'}']\n", encoding="utf-8")
    with pytest.raises(RuleError, match=r"site\.x\.1: example 1: expected a finding"):
        CliRunner().invoke(app, ["--config", str(config), "rules", "check"], catch_exceptions=False)
