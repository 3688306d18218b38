"""The review queue in the terminal: what it lists, explains and exports, and that no value shows."""

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from phiscan.model import Span, StoredTerm, Verdict
from phiscan.review.store import Store
from tests.cli.program import lines, run
from tests.empty_database import new_store
from tests.review.results import NOW, SHARE, failed, finding, referred, scan

Record = Callable[..., None]
CANARIES = ("613-555-0199", "Ann Ex", "046 454 286", "Zanthoria")


def test_export_gives_the_objects_of_the_contract(scanned: Path) -> None:
    assert scanned.is_dir()
    assert lines(run("queue", "export", "--json"))[0] == {
        "path": "a/letter.txt",
        "outcome": "screened",
        "reason": "",
        "decision": "referred",
        "pii": ["FirstName", "LastName", "PhoneNumber"],
        "hamming": 0,
        "health": 0.8,
        "people": 3,
        "people_interval": None,
        "findings": 2,
        "detectors": {"patterns": True, "names": True, "text": False},
        "detector_probability": {"patterns": None, "names": None, "text": None},
        "probability": None,
        "second_look": False,
        "language": None,
        "covered": True,
        "by_name": False,
        "labels": [],
        "verdict": None,
        "reviewer": None,
    }


def test_export_has_the_queue_or_every_crawled_file(scanned: Path) -> None:
    assert scanned.is_dir()
    assert [row["path"] for row in lines(run("queue", "export", "--json"))] == [
        "a/letter.txt",
        "c/referral.txt",
    ]
    rows = {str(row["path"]): row for row in lines(run("queue", "export", "--json", "--all"))}
    assert sorted(rows) == sorted(result.source.display for result in SHARE)
    broken = rows["b/broken.docx"]
    assert (broken["outcome"], broken["reason"]) == ("failed", "corrupt")
    for name in ("decision", "hamming", "health", "people", "findings"):
        assert broken[name] is None
    assert broken["detectors"] == {"patterns": None, "names": None, "text": None}
    assert rows["b/minutes.txt"]["decision"] == "clear"


def test_export_has_the_interval_of_the_people_and_each_detectors_probability(home: Path) -> None:
    alone = (("patterns", 0.5), ("names", 0.25))
    with new_store(home / "phiscan.db") as store:
        counted = referred("a.csv", n_people=75_000)
        scan(store, [replace(counted, people_interval=(71_000, 79_500), detector_probabilities=alone)])
    (row,) = lines(run("queue", "export", "--json"))
    assert row["people_interval"] == [71_000, 79_500]
    assert row["detector_probability"] == {"patterns": 0.5, "names": 0.25, "text": None}
    (item,) = json.loads(run("queue", "list", "--json"))["items"]
    assert item["people_interval"] == [71_000, 79_500]
    assert item["detector_probability"] == {"patterns": 0.5, "names": 0.25}
    assert "75,000 (95% interval 71,000 to 79,500)" in run("queue", "show", "a.csv")


def test_export_of_one_scan(store: Store) -> None:
    scan(store, [referred("new.txt", root=b"/other")], root=b"/other", minutes=5)
    assert len(lines(run("queue", "export", "--json"))) == 3
    assert [row["path"] for row in lines(run("queue", "export", "--scan", "2"))] == ["new.txt"]


def test_csv_runs_no_formula_and_shows_hidden_characters(record: Record) -> None:
    names = [
        "=1+cmd|'x'!A0",
        " +1.txt",
        "@x.txt",
        "-2.txt",
        "a\u202egpj.exe",
        "tab\there",
        "plain.txt",
    ]
    record(*map(referred, names))
    table = list(csv.DictReader(io.StringIO(run("queue", "export", "--format", "csv"))))
    assert {row["path"] for row in table} == {
        "'=1+cmd|'x'!A0", "' +1.txt", "'@x.txt", "'-2.txt", "a\\u202egpj.exe", "tab\\x09here", "plain.txt",
    }  # fmt: skip
    assert table[0]["patterns"] == "1"
    assert table[0]["verdict"] == ""


def test_list_shows_the_riskiest_first_and_how_many_there_are(scanned: Path) -> None:
    assert scanned.is_dir()
    text = run("queue", "list")
    assert text.index("a/letter.txt") < text.index("c/referral.txt")
    assert "name, phone" in text
    assert "1 to 2 of 2; 2 undecided." in text
    assert "1 to 1 of 2; 2 undecided." in run("queue", "list", "--limit", "1")
    whole = json.loads(run("queue", "list", "--json"))
    assert (whole["n"], whole["undecided"], [item["file"] for item in whole["items"]]) == (2, 2, [1, 6])


def test_a_name_without_its_folder_is_answered_with_the_paths_that_end_so(scanned: Path) -> None:
    assert scanned.is_dir()
    said = run("queue", "show", "letter.txt", status=2)
    assert said.endswith("shows; did you mean a/letter.txt?\n")


def test_list_of_nothing_says_so(home: Path) -> None:
    new_store(home / "phiscan.db").close()
    assert run("queue", "list").startswith("Nothing to decide: no scan yet; `phiscan scan FOLDER`")
    assert json.loads(run("queue", "list", "--json")) == {"n": 0, "undecided": 0, "offset": 0, "items": []}


def test_a_file_name_is_never_markup_or_a_terminal_command(record: Record) -> None:
    record(referred("[bold]x[/bold]\x1b[2J\u202e\u200b.txt"))
    for text in (run("queue", "list"), run("queue", "show", "1")):
        assert "[bold]x[/bold]\\x1b[2J\\u202e\\u200b.txt" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_show_explains_the_referral_in_plain_words(scanned: Path) -> None:
    assert scanned.is_dir()
    text = run("queue", "show", "a/letter.txt")
    for words in (
        "Decision: referred.",
        "Identifiers: name, phone",
        "Concept of PHI: satisfied",
        "Nearest stored example: letter, 1 detail away",
        "Health score: 0.80, above its own threshold of 0.50; nearest example: referral letter",
        "Health terms: asthma (2)",
        "Detectors: patterns says PHI, names says PHI, text says not PHI",
        "People at risk, an estimate: 3",
        "2 findings: phone 1, name 1",
        "999-999-9999",
        "#p1, characters 0 to 12; score 0.90: rule us.phone.1 (0.60), context phone_words (0.90)",
        "scan.zip!/a.pdf: encrypted",
        "Not decided yet.",
    ):
        assert words in text, words


def test_show_says_what_a_near_miss_lacks_and_why_a_file_was_not_read(scanned: Path) -> None:
    assert scanned.is_dir()
    shown = run("queue", "show", "b/minutes.txt")
    assert "Concept of PHI: lacks 4 identifying details, for example FirstName, SIN" in shown
    assert "It was not screened: failed, corrupt. zip: no end record" in run("queue", "show", "b/broken.docx")


def test_show_cuts_a_long_list_and_says_so(record: Record) -> None:
    found = tuple(finding("613-555-0199", start=20 * n) for n in range(9))
    record(replace(referred("x"), findings=found))
    assert "and 6 more; --limit 0 shows all" in run("queue", "show", "1", "--limit", "3")
    assert run("queue", "show", "1", "--limit", "0").count("999-999-9999") == 9


def test_refuses_when_there_is_no_database(home: Path) -> None:
    message = run("queue", "list", status=2)
    missing = "no such database; `phiscan init` or `phiscan scan` makes one"
    assert message == f"phiscan: sqlite:///{home}/phiscan.db: {missing}\n"
    assert not home.exists()


def test_no_value_is_in_the_database_or_in_anything_printed(home: Path) -> None:
    found = tuple(finding(value, start=30 * n) for n, value in enumerate(CANARIES))
    with new_store(home / "phiscan.db") as store:
        scan(store, [replace(referred("x.txt"), findings=found), failed("y.txt")])
        store.decide_all([(1, Verdict.PHI)], reviewer="ada", now=NOW)
        printed = "".join(
            run("queue", *arguments)
            for arguments in (
                ["list"], ["list", "--json"], ["show", "1"], ["show", "1", "--json"],
                ["export", "--all"], ["export", "--all", "--format", "csv"],
            )
        )  # fmt: skip
        left = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    for canary in CANARIES:
        assert canary not in printed
        for encoding in ("utf-8", "utf-16-le"):
            assert canary.encode(encoding).lower() not in left.lower()
    assert b"9999" in left or b"999-999-9999" in left


def test_into_a_pipe_goes_one_line_per_file_without_trailing_spaces(record: Record) -> None:
    record(referred("long/" * 60 + "name.txt"), referred("short.txt"))
    head, *files, _empty, _foot = run("queue", "list").splitlines()
    assert head.split() == ["no.", "risk", "people", "P(PHI)", "health", "verdict", "file", "identifiers"]
    assert len(files) == 2
    assert all(line == line.rstrip() for line in files)


def test_show_names_the_commonest_terms_and_counts_the_rest(record: Record) -> None:
    terms = tuple(StoredTerm(f"term{n:02}", n + 1, Span(n, n + 1), "") for n in range(15))
    record(replace(referred("x"), terms=terms))
    text = run("queue", "show", "1")
    assert "Health terms: term14 (15), term13 (14)," in text
    assert "term03 (4) and 3 more" in text
