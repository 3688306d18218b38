"""Deciding and assigning in the terminal, what is refused, and the log of it."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.model import Verdict
from phiscan.review.store import Store
from tests.cli.program import invoke, lines, refused, run
from tests.review.results import KEY, NOW, later, referred, scan, source

pytestmark = pytest.mark.usefixtures("scanned")


def test_decides_by_path_and_by_number(store: Store) -> None:
    given = ("--verdict", "phi", "--reviewer", "ada", "--reason", "letter")
    text = run("queue", "decide", "a/letter.txt", "6", *given)
    assert text == "2 decided by ada; 0 in the queue still undecided\n"
    assert {row["verdict"] for row in lines(run("queue", "export", "--json"))} == {"phi"}
    assert "phi  ada  letter" in run("queue", "show", "1")
    run("queue", "decide", "1", "--verdict", "not_phi", "--reviewer", "bea")
    assert [d.verdict for d in store.item(1).decisions] == [Verdict.PHI, Verdict.NOT_PHI]


def test_a_note_keeps_no_identifier_of_the_file(scanned: Path) -> None:
    (scanned / "key").write_text(KEY.hex() + "\n")
    (scanned / "key").chmod(0o600)
    note = "Ann Ex says: 613 555 0199 is the ward"
    run("queue", "decide", "1", "--verdict", "phi", "--reviewer", "ada", "--note", note)
    assert "[PERSON] says: [PHONE] is the ward" in run("queue", "show", "1")


def test_says_when_a_decided_file_is_not_in_the_queue() -> None:
    result = invoke("queue", "decide", "b/minutes.txt", "--verdict", "phi", "--reviewer", "a")
    assert result.exit_code == 0
    assert "b/minutes.txt: decided, although it is not in the queue (clear)" in result.stderr


def test_decides_many_from_verdicts_and_labels(store: Store, tmp_path: Path) -> None:
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
    nothing = {"decided": 0, "already_decided_so": 0, "not_in_the_queue": 2, "in_dispute": 0, "undecided": 0}
    assert first == {**nothing, "decided": 2}
    again = json.loads(run(*arguments))
    assert again == {**nothing, "already_decided_so": 2}
    assert [row["verdict"] for row in lines(run("queue", "export", "--json"))] == ["phi", "not_phi"]
    unsure = '{"path": "x", "verdict": "unsure"}'
    text = run("queue", "decide", "--from", "-", "--reviewer", "bea", stdin=unsure)
    assert text == "0 decided by bea; 0 in the queue still undecided\n1 not in the queue: left alone\n"
    assert store.verify_audit().n_rows == 2


def test_what_awaits_a_blind_second_verdict_is_undecided_to_everybody(store: Store) -> None:
    run("queue", "policy", "--second-review", "1", "--by", "lea")
    before = run("queue", "show", "1"), run("queue", "list", "--json"), run("queue", "export")
    run("queue", "decide", "1", "--verdict", "phi", "--reviewer", "ada", "--note", "secret of ada")
    assert (run("queue", "show", "1"), run("queue", "list", "--json"), run("queue", "export")) == before
    assert len(json.loads(run("queue", "list", "--verdict", "undecided", "--json"))["items"]) == 2
    assert "secret of ada" in run("queue", "show", "1", "--unblind", "olga")
    assert lines(run("queue", "export", "--unblind", "olga"))[0]["verdict"] == "phi"
    assert "expected the name" in run("queue", "show", "1", "--unblind", " ", status=2)
    logged = [(one.actor, one.details["value"]) for one in store.users.log(action="export").entries]
    assert logged == [("olga", "queue, unblinded"), ("olga", "file 1, unblinded")]
    assert store.verify_audit().ok


def test_a_verdict_in_the_terminal_is_the_blind_second_one_and_settles_no_dispute(
    store: Store, tmp_path: Path
) -> None:
    run("queue", "policy", "--second-review", "1", "--by", "lea")
    run("queue", "decide", "1", "6", "--verdict", "phi", "--reviewer", "ada")
    verdicts = tmp_path / "verdicts.jsonl"
    verdicts.write_text('{"path": "a/letter.txt", "verdict": "not_phi"}')
    given = ("queue", "decide", "--from", str(verdicts), "--json", "--reviewer")
    nothing = {"decided": 0, "already_decided_so": 0, "not_in_the_queue": 0, "in_dispute": 0, "undecided": 1}
    assert json.loads(run(*given, "bea")) == {**nothing, "decided": 1}
    assert json.loads(run(*given, "bea")) == {**nothing, "already_decided_so": 1}
    assert json.loads(run(*given, "cid")) == {**nothing, "in_dispute": 1}
    refused = run("queue", "decide", "6", "1", "--verdict", "phi", "--reviewer", "cid", status=2)
    assert "a/letter.txt: two people disagree about it; a lead who is neither settles it" in refused
    (pair,) = store.desk.ratings()  # cid's verdict on 6 was not written either
    assert (pair.first_reviewer, pair.second_reviewer) == ("ada", "bea")
    assert store.item(1).verdict is Verdict.PHI


def test_a_file_of_the_random_sample_is_shown_without_what_was_found(store: Store) -> None:
    store.desk.draw_sample(n_queued=1, n_unreferred=1, by="lea", now=NOW)
    numbers = [str(item.file_id) for item in store.desk.items(viewer="", now=NOW).items if item.blind]
    shown = [json.loads(run("queue", "show", number, "--json")) for number in numbers]
    assert [(one["blind"], one["decision"], one["people"], one["found"]) for one in shown] == [
        (True, None, None, [])
    ] * 2
    assert all("to be judged blind" in run("queue", "show", number) for number in numbers)
    assert "Decision: " in run("queue", "show", numbers[0], "--unblind", "olga")


def test_decides_the_random_sample_once_it_is_opened(store: Store, tmp_path: Path) -> None:
    run("queue", "draw", "--queued", "0", "--unreferred", "2", "--by", "lea")
    verdicts = tmp_path / "sample.jsonl"
    paths = ("a/staff.csv", "b/minutes.txt")
    verdicts.write_text("\n".join(json.dumps({"path": path, "verdict": "not_phi"}) for path in paths))
    given = ("queue", "decide", "--from", str(verdicts), "--reviewer", "ada", "--json")
    assert "you have not opened it" in run(*given, status=2)
    alone = ("queue", "decide", paths[0], "--verdict", "phi", "--reviewer", "ada")
    assert "you have not opened it" in run(*alone, status=2)
    assert "expected at most one" in run(*given, "--opened", "--by-name", status=2)
    assert json.loads(run(*given, "--by-name"))["decided"] == 2
    named = json.loads(run("queue", "left", "--json"))
    assert (named["judged_by_name"], named["missed_in_rest"]["upper"]) == (2, 2)
    assert json.loads(run(*given, "--opened"))["decided"] == 2
    opened = json.loads(run("queue", "left", "--json"))
    assert (opened["judged_by_name"], opened["missed_in_rest"]["upper"]) == (0, 0)
    assert json.loads(run(*given, "--opened"))["already_decided_so"] == 2
    assert [one.details["file"] for one in store.users.log(action="reveal").entries] != []
    assert store.verify_audit().ok


def test_left_says_what_the_bounds_do_not_cover() -> None:
    found = json.loads(run("queue", "left", "--json"))
    assert (found["undecided"], found["found"], found["arrived_since_sample"]) == (2, 0, None)
    assert (found["left_in_list"]["upper"], found["left_in_list"]["expected"]) == (2, None)
    assert "no random sample was drawn" in found["left_in_list"]["reason"]
    assert (found["unread"], found["open_disputes"], found["safe"]) == (1, 0, False)
    text = run("queue", "left")
    assert "Left in the list: at most 2 of 2 referred files" in text
    assert "Missed in the rest: at most 2 of 2 files" in text
    assert json.loads(run("estimate", "elusion", "--review", "--json")) == found


def test_refuses_a_bad_file_of_verdicts_whole(store: Store, tmp_path: Path) -> None:
    verdicts = tmp_path / "bad.jsonl"
    for content, words in (
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
        ("\udcff", "line 1: expected UTF-8"),
    ):
        verdicts.write_bytes(content.encode("utf-8", "surrogateescape"))
        message = run("queue", "decide", "--from", str(verdicts), "--reviewer", "ada", status=2)
        assert re.fullmatch(rf"phiscan: {re.escape(str(verdicts))}: {re.escape(words)}.*\n", message)
    assert store.verify_audit().n_rows == 0


def test_refuses_a_relative_path_under_two_roots(store: Store) -> None:
    scan(store, [referred("a/letter.txt", root=b"/other")], root=b"/other", minutes=5)
    given = ("queue", "decide", "--from", "-", "--reviewer", "a")
    message = run(*given, stdin='{"path": "a/letter.txt", "verdict": "phi"}', status=2)
    expected = "line 1: field path: 2 files have it; expected an absolute path"
    assert message == f"phiscan: standard input: {expected}\n"


def test_refuses_in_one_line() -> None:
    for arguments, words in (
        (["decide", "1", "--reviewer", "a"], "expected either FILE... with --verdict, or --from FILE"),
        (["decide", "--verdict", "phi", "--reviewer", "a"], "expected either FILE... with --verdict"),
        (["decide", "1", "--from", "x", "--verdict", "phi", "--reviewer", "a"], "expected either FILE..."),
        (["decide", "--from", "none.jsonl", "--reviewer", "a"], "none.jsonl: cannot be read: No such file"),
        (["decide", "nowhere", "--verdict", "phi", "--reviewer", "a"], "nowhere: no such file"),
        (["decide", "1", "--verdict", "phi", "--reviewer", " "], "reviewer: expected a name"),
        (["decide", "4", "--verdict", "phi", "--reviewer", "a"], "its content was never read"),
        (["show", "nowhere"], "nowhere: no such file"),
        (["assign", "1", "--to", "bea", "--by", ""], "by: expected a name"),
        (["export", "--scan", "99"], "scan 99: there is no such scan"),
        (["list", "--scan", "99"], "scan 99: there is no such scan"),
    ):
        assert words in refused("queue", *arguments)


def test_assigns() -> None:
    assert run("queue", "assign", "1", "6", "--to", "bea", "--by", "ada") == "2 assigned to bea\n"
    assert "for bea" in run("queue", "list")
    taken = json.loads(run("queue", "assign", "1", "--to", "", "--by", "ada", "--json"))
    assert taken == {"assigned": 1, "to": ""}


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
    result = invoke("audit", "verify", "--json", "--head", "ff")
    assert result.exit_code == 2
    assert json.loads(result.stdout)["ok"] is False


def test_a_changed_file_comes_back_undecided(store: Store) -> None:
    run("queue", "decide", "1", "6", "--verdict", "not_phi", "--reviewer", "ada")
    changed = replace(referred("a/letter.txt", content="new"), source=source("a/letter.txt", mtime_ns=7))
    scan(store, [changed], unchanged=["c/referral.txt"], minutes=int((later(5) - NOW).seconds / 60))
    undecided = json.loads(run("queue", "list", "--verdict", "undecided", "--json"))["items"]
    assert [item["path"] for item in undecided] == ["a/letter.txt"]
    assert "(about an earlier content)" in run("queue", "show", "1")
