"""The command `accesslog`: what it prints, for people and for programs."""

from pathlib import Path

import pytest

from phiscan.store.identity import create_key
from tests.cli.program import answer, invoke, run
from tests.crawl.test_access_logs import HEAD

OPENED = f"{HEAD}\n  Zanzibar|10.0.0.7|s|pread|ok|/share/a/letter.txt\n"


@pytest.fixture
def log(scanned: Path) -> str:
    create_key(scanned / "key")
    path = scanned.parent / "audit.log"
    path.write_text(f"{OPENED}noise\n")
    return str(path)


def test_output_has_the_published_shape(log: str) -> None:
    for schema, arguments in (
        ("accesslog-show", ("accesslog", "show", "a/letter.txt")),
        ("accesslog-import", ("accesslog", "import", log, log)),
        ("accesslog-show", ("accesslog", "show", "a/letter.txt")),
        ("queue-show", ("queue", "show", "a/letter.txt")),
    ):
        answer(schema, *arguments)


def test_says_what_was_imported_and_whether_a_file_was_opened(log: str) -> None:
    assert run("accesslog", "show", "a/letter.txt") == "No log covers it.\n"
    lines = run("accesslog", "import", log).splitlines()
    assert lines[0].endswith(
        "samba; 1 records, 1 openings, 1 of files of the database, 0 by accounts that are left out"
    )
    assert lines[1].startswith("  new: 1 (")
    assert lines[2].startswith("  covers /share from 2026-11-20 ")
    assert lines[3] == "  not understood: 1 lines or records"
    assert run("accesslog", "show", "a/letter.txt").startswith("Openings: 1. Different accounts: 1, ")
    assert "\n  Openings: 1. Different" in run("queue", "show", "a/letter.txt")
    assert run("accesslog", "show", "c/referral.txt").startswith(
        "Not opened in the time that logs cover: Samba"
    )


def test_a_log_that_cannot_be_read_costs_no_other_one(log: str, tmp_path: Path) -> None:
    (tmp_path / "noise").write_text("noise\n")
    result = invoke("accesslog", "import", "/none.log", "/dev/null", str(tmp_path / "noise"), log)
    assert (result.exit_code, result.stdout.splitlines()[0]) == (2, "/dev/null: empty")
    assert "  new: 1 (" in result.stdout
    missing, noise = result.stderr.splitlines()
    assert missing == "/none.log: cannot be read: No such file or directory"
    assert noise.endswith(
        "/noise: no access log that phiscan knows; --kind names one of samba, windows, cloudtrail, m365, s3"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("show",), "expected FILE or --incident"),
        (("show", "a/letter.txt", "--incident", "1"), "expected FILE or --incident"),
        (("show", "--incident", "4"), "incident 4: there is none of this number"),
    ],
)
def test_refuses_in_one_line(log: str, arguments: tuple[str, ...], message: str) -> None:
    assert Path(log).exists()
    assert run("accesslog", *arguments, status=2).startswith(f"phiscan: {message}")
