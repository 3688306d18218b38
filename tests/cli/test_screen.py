import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phiscan.cli import rules
from phiscan.config import Config
from phiscan.screen.rules.definitions import RuleSet, load_rules
from tests.cli.program import as_published, refused, run
from tests.large.made_files import write_csv

TEXT = "Patient: Anna Kowalczyk\nDOB: 1962-03-14\nTel 613-555-0199\nDiabetes mellitus, on metformin."


def screened(*texts: str) -> list[Any]:
    lines = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, text in enumerate(texts))
    printed = run("screen", "-", "--json", stdin=lines)
    return [as_published("screen", line) for line in printed.splitlines()]


def test_screen_answers_the_contract_line_by_line() -> None:
    answers = screened(TEXT, "", "😀 nothing")
    assert [answer["id"] for answer in answers] == [0, 1, 2]
    spans = {(span["type"], TEXT[span["start"] : span["end"]]) for span in answers[0]["spans"]}
    assert {("PERSON", "Anna Kowalczyk"), ("DATE_OF_BIRTH", "1962-03-14"), ("PHONE", "613-555-0199")} <= spans
    assert answers[0]["hamming"] == 0
    assert {"FirstName", "LastName", "PhoneNumber"} <= set(answers[0]["pii"])
    assert answers[1]["spans"] == []
    assert answers[1]["decision"] == "clear"
    answer = answers[0]
    assert list(answer["detectors"]) == list(answer["detector_probability"]) == ["patterns", "names", "text"]
    assert all(0 < alone < 1 for alone in answer["detector_probability"].values())
    assert answer["unread"] == []
    assert answer["people_interval"] is None


@pytest.mark.slow
def test_screen_reads_a_long_text_in_windows_as_a_scan_does(tmp_path: Path) -> None:
    path = tmp_path / "export.csv"
    write_csv(path, 4_000)
    text = path.read_text(encoding="utf-8")
    (answer,) = screened(text)
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
    for line in (
        *("not json", "[]", '{"id": 1}', '{"id": 1, "text": 5}', '{"text": "x"}', "1" * 5000),
        *('{"id": NaN, "text": "a"}', '{"id": 1e999, "text": "a"}', '{"id": "\\ud800", "text": "a"}'),
    ):
        said = run("screen", stdin=f"{good}\n{line}\n", status=2)
        assert said == f"phiscan: {expected}\n"


def test_screen_refuses_a_missing_file(tmp_path: Path) -> None:
    assert "cannot be read" in refused("screen", str(tmp_path / "none"), "--json")


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
    ids = [rule["id"] for rule in json.loads(run("rules", "list", "--json"))["rules"]]
    assert "ca.sin.1" in ids
    assert run("rules", "check").startswith(f"{len(ids)} rules and their ")


@pytest.mark.usefixtures("few_rules")
def test_rules_check_refuses_a_site_rule_that_does_not_work(tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text(
        "[[rule]]\nid = 'site.x.1'\nentity_type = 'MRN'\nsummary = 's'\npattern = 'Q9'\nscore = 0.8\n"
        "source = 's'\nexamples = ['none']\ncounterexamples = ['none']\n",
        encoding="utf-8",
    )
    config = tmp_path / "phiscan.toml"
    config.write_text(f"extra_patterns = ['{tmp_path / 'site.toml'}']\n", encoding="utf-8")
    said = refused("--config", str(config), "rules", "check")
    assert "site.x.1: example 1: expected a finding" in said
