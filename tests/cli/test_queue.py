"""The review queue in the terminal: what it prints, what it decides, what it refuses."""

import csv
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from phiscan import cli
from phiscan.classify.decision import TABLE
from phiscan.cli.queue_explain import CASES
from phiscan.model import Verdict
from phiscan.review.store import Store
from tests.review.results import NOW, SHARE, failed, finding, later, referred, scan, source, url_of

Run = Callable[..., str]
CANARIES = ("613-555-0199", "Ann Ex", "046 454 286", "Zanthoria")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PHISCAN_HOME", str(folder))
    for name in ("PHISCAN_DATABASE", "PHISCAN_CONFIG"):
        monkeypatch.delenv(name, raising=False)
    return folder


@pytest.fixture
def scanned(home: Path) -> Path:
    with Store.open(url_of(home / "phiscan.db"), create=True) as store:
        scan(store)
    return home


def run(*arguments: str, status: int = 0, stdin: str = "") -> str:
    """Run the program as its users do, errors and exit status as ``main`` makes them."""
    result = CliRunner().invoke(_main, arguments, input=stdin)
    assert result.exit_code == status, result.output
    return result.stderr if status else result.stdout


class _Main:
    """Lets the test runner call ``main``, which turns errors into one line and a status."""

    name = "phiscan"

    def main(self, args: list[str], **_: object) -> None:
        import sys  # noqa: PLC0415

        before, sys.argv = sys.argv, ["phiscan", *args]
        try:
            cli.main()
        finally:
            sys.argv = before


_main = _Main()


def lines(text: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in text.splitlines()]


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
        "findings": 2,
        "detectors": {"patterns": True, "names": True, "text": False},
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


def test_export_of_one_scan(scanned: Path) -> None:
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        scan(store, [referred("new.txt", root=b"/other")], root=b"/other", minutes=5)
    assert len(lines(run("queue", "export", "--json"))) == 3
    assert [row["path"] for row in lines(run("queue", "export", "--scan", "2"))] == ["new.txt"]


def test_csv_runs_no_formula_and_shows_hidden_characters(home: Path) -> None:
    names = [
        "=1+cmd|'x'!A0",
        " +1.txt",
        "@x.txt",
        "-2.txt",
        "a\u202egpj.exe",
        "tab\there",
        "plain.txt",
    ]
    with Store.open(url_of(home / "phiscan.db"), create=True) as store:
        scan(store, [referred(name) for name in names])
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
    assert "FirstName LastName PhoneNumber" in text
    assert "1 to 2 of 2; 2 undecided." in text
    assert "1 to 1 of 2; 2 undecided." in run("queue", "list", "--limit", "1")
    whole = json.loads(run("queue", "list", "--json"))
    assert (whole["n"], whole["undecided"], [item["file"] for item in whole["items"]]) == (2, 2, [1, 6])


def test_list_of_nothing_says_so(home: Path) -> None:
    Store.open(url_of(home / "phiscan.db"), create=True).close()
    assert run("queue", "list") == "Nothing to decide.\n"
    assert json.loads(run("queue", "list", "--json")) == {"n": 0, "undecided": 0, "offset": 0, "items": []}


def test_a_file_name_is_never_markup_or_a_terminal_command(home: Path) -> None:
    with Store.open(url_of(home / "phiscan.db"), create=True) as store:
        scan(store, [referred("[bold]x[/bold]\x1b[2J\u202e\u200b.txt")])
    for text in (run("queue", "list"), run("queue", "show", "1")):
        assert "[bold]x[/bold]\\x1b[2J\\u202e\\u200b.txt" in text
        assert "\x1b" not in text
        assert "\u202e" not in text


def test_show_explains_the_referral_in_plain_words(scanned: Path) -> None:
    assert scanned.is_dir()
    text = run("queue", "show", "a/letter.txt")
    for words in (
        "Decision: referred.",
        "Identifiers: FirstName, LastName, PhoneNumber",
        "Equation 4: satisfied",
        "Nearest stored example: letter, 1 bit away",
        "Health score: 0.80, above the threshold 0.50; nearest example: referral letter, distance 0.600",
        "Health terms: asthma (2)",
        "Detectors: patterns says PHI, names says PHI, text says not PHI",
        "People at risk, an estimate: 3",
        "2 findings: PHONE 1, PERSON 1",
        "999-999-9999",
        "#p1, characters 0 to 12; score 0.90: rule us.phone.1 (0.60), context phone_words (0.90)",
        "scan.zip!/a.pdf: encrypted",
        "Nobody has decided yet.",
    ):
        assert words in text, words


def test_show_says_what_a_near_miss_lacks_and_why_a_file_was_not_read(scanned: Path) -> None:
    assert scanned.is_dir()
    assert "Equation 4: lacks 4 bits, for example FirstName, SIN" in run("queue", "show", "b/minutes.txt")
    assert "It was not screened: failed, corrupt. zip: no end record" in run("queue", "show", "b/broken.docx")


def test_show_cuts_a_long_list_and_says_so(home: Path) -> None:
    found = tuple(finding("613-555-0199", start=20 * n) for n in range(9))
    with Store.open(url_of(home / "phiscan.db"), create=True) as store:
        scan(store, [replace(referred("x"), findings=found)])
    assert "and 6 more; --limit 0 shows all" in run("queue", "show", "1", "--limit", "3")
    assert run("queue", "show", "1", "--limit", "0").count("999-999-9999") == 9


def test_every_case_of_the_decision_table_has_words() -> None:
    assert {row.case for row in TABLE} <= set(CASES)


def test_decides_by_path_and_by_number(scanned: Path) -> None:
    text = run(
        "queue", "decide", "a/letter.txt", "6", "--verdict", "phi", "--reviewer", "ada", "--reason", "letter"
    )
    assert text == "2 decided by ada; 0 in the queue still undecided\n"
    assert {row["verdict"] for row in lines(run("queue", "export", "--json"))} == {"phi"}
    assert "phi  ada  letter" in run("queue", "show", "1")
    run("queue", "decide", "1", "--verdict", "not_phi", "--reviewer", "bea")
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        assert [d.verdict for d in store.item(1).decisions] == [Verdict.PHI, Verdict.NOT_PHI]


def test_says_when_a_decided_file_is_not_in_the_queue(scanned: Path) -> None:
    assert scanned.is_dir()
    result = CliRunner().invoke(
        _main, ["queue", "decide", "b/minutes.txt", "--verdict", "phi", "--reviewer", "a"]
    )
    assert result.exit_code == 0
    assert "b/minutes.txt: decided, although it is not in the queue (clear)" in result.stderr


def test_decides_many_from_verdicts_and_labels(scanned: Path, tmp_path: Path) -> None:
    verdicts = tmp_path / "truth.jsonl"
    given = [
        {"path": "a/letter.txt", "label": "phi", "spans": []},
        {"path": "/share/c/referral.txt", "label": "health_only"},
        {"path": "a/staff.csv", "label": "pii_only"},
        {"path": "nowhere.txt", "verdict": "phi"},
    ]
    verdicts.write_text("\n".join(map(json.dumps, given)) + "\n\n")
    arguments = ["queue", "decide", "--from", str(verdicts), "--reviewer", "ada", "--json"]
    first = json.loads(run(*arguments))
    assert first == {"decided": 2, "already_decided_so": 0, "not_in_the_queue": 2, "undecided": 0}
    again = json.loads(run(*arguments))
    assert again == {"decided": 0, "already_decided_so": 2, "not_in_the_queue": 2, "undecided": 0}
    assert [row["verdict"] for row in lines(run("queue", "export", "--json"))] == ["phi", "not_phi"]
    text = run(
        "queue", "decide", "--from", "-", "--reviewer", "bea", stdin='{"path": "x", "verdict": "unsure"}'
    )
    assert text == "0 decided by bea; 0 in the queue still undecided\n1 not in the queue: left alone\n"
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        assert store.verify_audit().n_rows == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ('{"path": "a", "verdict": "phi"}\nnot json', "line 2: expected a JSON object"),
        ('["a"]', "line 1: expected a JSON object"),
        ('{"verdict": "phi"}', "line 1: field path: expected the path of a file"),
        ('{"path": "a"}', "line 1: field label: expected one of phi, pii_only, health_only, neither"),
        ('{"path": "a", "verdict": "maybe"}', "line 1: field verdict: expected one of phi, not_phi, unsure"),
        ('{"path": "a", "verdict": ["phi"]}', "line 1: field verdict: expected one of"),
        (
            '{"path": "a", "verdict": "phi"}\n{"path": "a", "label": "neither"}',
            "line 2: field path: expected one verdict per file",
        ),
        ("[" * 100_000, "line 1: expected a JSON object"),
        ("\udcff", "byte 0: expected UTF-8"),
    ],
)
def test_refuses_a_bad_file_of_verdicts_whole(
    scanned: Path, tmp_path: Path, content: str, words: str
) -> None:
    verdicts = tmp_path / "bad.jsonl"
    verdicts.write_bytes(content.encode("utf-8", "surrogateescape"))
    message = run("queue", "decide", "--from", str(verdicts), "--reviewer", "ada", status=2)
    assert re.fullmatch(rf"phiscan: {re.escape(str(verdicts))}: {re.escape(words)}.*\n", message)
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        assert store.verify_audit().n_rows == 0


def test_refuses_a_relative_path_under_two_roots(scanned: Path) -> None:
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        scan(store, [referred("a/letter.txt", root=b"/other")], root=b"/other", minutes=5)
    message = run(
        "queue",
        "decide",
        "--from",
        "-",
        "--reviewer",
        "a",
        stdin='{"path": "a/letter.txt", "verdict": "phi"}',
        status=2,
    )
    assert message == "phiscan: -: line 1: field path: 2 files have it; expected an absolute path\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["decide", "1", "--reviewer", "a"], "expected either FILE... with --verdict, or --from FILE"),
        (["decide", "--verdict", "phi", "--reviewer", "a"], "expected either FILE... with --verdict"),
        (["decide", "1", "--from", "x", "--verdict", "phi", "--reviewer", "a"], "expected either FILE..."),
        (
            ["decide", "--from", "nowhere.jsonl", "--reviewer", "a"],
            "nowhere.jsonl: cannot be read: No such file",
        ),
        (
            ["decide", "nowhere", "--verdict", "phi", "--reviewer", "a"],
            "nowhere: no such file in the database",
        ),
        (["decide", "1", "--verdict", "phi", "--reviewer", " "], "reviewer: expected a name"),
        (
            ["decide", "4", "--verdict", "phi", "--reviewer", "a"],
            "cannot be decided: its content was never read",
        ),
        (["show", "nowhere"], "nowhere: no such file in the database"),
        (["assign", "1", "--to", "bea", "--by", ""], "by: expected a name"),
        (["export", "--scan", "99"], "scan 99: there is no such scan"),
        (["list", "--scan", "99"], "scan 99: there is no such scan"),
    ],
)
def test_refuses_in_one_line(scanned: Path, arguments: list[str], words: str) -> None:
    assert scanned.is_dir()
    message = run("queue", *arguments, status=2)
    assert message.startswith("phiscan: ")
    assert words in message
    assert message.count("\n") == 1


def test_refuses_when_there_is_no_database(home: Path) -> None:
    message = run("queue", "list", status=2)
    missing = "no such database; `phiscan init` or `phiscan scan` makes one"
    assert message == f"phiscan: sqlite:///{home}/phiscan.db: {missing}\n"
    assert not home.exists()


def test_assigns(scanned: Path) -> None:
    assert scanned.is_dir()
    assert run("queue", "assign", "1", "6", "--to", "bea", "--by", "ada") == "2 assigned to bea\n"
    assert "for bea" in run("queue", "list")
    assert json.loads(run("queue", "assign", "1", "--to", "", "--by", "ada", "--json")) == {
        "assigned": 1,
        "to": "",
    }


def test_no_value_is_in_the_database_or_in_anything_printed(home: Path) -> None:
    found = tuple(finding(value, start=30 * n) for n, value in enumerate(CANARIES))
    with Store.open(url_of(home / "phiscan.db"), create=True) as store:
        scan(store, [replace(referred("x.txt"), findings=found), failed("y.txt")])
        store.decide(1, Verdict.PHI, reviewer="ada", now=NOW)
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


def test_verifies_the_audit_log(scanned: Path) -> None:
    run("queue", "decide", "1", "--verdict", "phi", "--reviewer", "ada")
    count, head = run("audit", "verify").splitlines()
    assert count == "1 entry, all in order"
    noted = head.removeprefix("head ")
    run("queue", "decide", "1", "--verdict", "unsure", "--reviewer", "ada")
    assert run("audit", "verify", "--head", noted)
    assert json.loads(run("audit", "verify", "--json"))["entries"] == 2
    message = run("audit", "verify", "--head", "0" * 63 + "1", status=2)
    assert message == (
        f"phiscan: sqlite:///{scanned}/phiscan.db: audit log is not whole: entry 3: "
        "the noted hash is not in the log: it was rewritten or cut off\n"
    )
    result = CliRunner().invoke(_main, ["audit", "verify", "--json", "--head", "ff"])
    assert result.exit_code == 2
    assert json.loads(result.stdout)["ok"] is False


def test_a_changed_file_comes_back_undecided(scanned: Path) -> None:
    run("queue", "decide", "1", "6", "--verdict", "not_phi", "--reviewer", "ada")
    with Store.open(url_of(scanned / "phiscan.db")) as store:
        changed = replace(referred("a/letter.txt", content="new"), source=source("a/letter.txt", mtime_ns=7))
        scan(store, [changed], unchanged=["c/referral.txt"], minutes=int((later(5) - NOW).seconds / 60))
    assert [
        item["path"] for item in json.loads(run("queue", "list", "--verdict", "undecided", "--json"))["items"]
    ] == ["a/letter.txt"]
    assert "(about an earlier content)" in run("queue", "show", "1")
