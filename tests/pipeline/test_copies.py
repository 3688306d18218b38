"""Equal content is screened once and reported wherever it lies; what went away or moved is recorded."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from phiscan.model import FILE_NAME, EntityType, FileResult, Outcome, SourceFile, Span, StoredFinding
from phiscan.pipeline.copies import MAX_NAMED, MAX_WAITING, Copies
from tests.pipeline.harness import ToolHere

_CHILDREN = ("finding", "health_term", "unread_part")


def _rows(tool_here: ToolHere, path: str) -> dict[str, list[tuple[Any, ...]]]:
    """Return what stands of a file, without what belongs to its place."""
    with sqlite3.connect(tool_here.home / "phiscan.db") as database:
        (number,) = database.execute(
            "SELECT max(e.id) FROM examination e JOIN file f ON f.id = e.file_id WHERE f.display = ?", [path]
        ).fetchone()
        kept = (
            "outcome, media_type, content_hash, n_chars, vector, hamming, n_findings, health_score, referral"
        )
        rows = {
            "examination": database.execute(
                f"SELECT {kept} FROM examination WHERE id = ?",  # noqa: S608 (our own names)
                [number],
            ).fetchall()
        }
        for table in _CHILDREN:
            found = database.execute(f"SELECT * FROM {table} WHERE examination_id = ?", [number]).fetchall()  # noqa: S608
            rows[table] = [row[1:] for row in found]
    return rows


@pytest.mark.slow
def test_a_copy_has_all_that_was_found_in_the_first(tool_here: ToolHere, share: Path) -> None:
    referred = next(p for p in sorted(share.rglob("*.txt")) if "diabetes" in p.read_text())
    name = str(referred.relative_to(share))
    shutil.copy(referred, share / "a copy beside it.txt")
    shutil.copy(referred, share / "zz.txt")
    first = tool_here.scan(share)
    assert (first["screened"], first["copies"]) == (22, 2)
    assert _rows(tool_here, "zz.txt") == _rows(tool_here, name) == _rows(tool_here, "a copy beside it.txt")
    assert _rows(tool_here, name)["finding"]
    shutil.copy(referred, share / "later.txt")
    second = tool_here.scan(share)
    assert (second["screened"], second["copies"], second["unchanged"]) == (1, 1, 22)
    assert _rows(tool_here, "later.txt") == _rows(tool_here, name)
    assert second["people_at_risk"] == first["people_at_risk"]  # the same people, at one more place


_IN_ITS_NAME = StoredFinding(Span(0, 1), FILE_NAME, EntityType.PERSON, "names.file", 0.6, (), "X", "0" * 64)


def _source(name: str, size: int = 100) -> SourceFile:
    return SourceFile(b"/share", name.encode(), size, 0, 0, 0, 0)


def _screened(source: SourceFile, content: str, *, is_copy: bool = False) -> FileResult:
    return FileResult(source, Outcome.SCREENED, content_hash=content, media_type="t", is_copy=is_copy)


def test_one_of_a_size_is_screened_at_a_time_until_contents_differ() -> None:
    copies = Copies(lambda _sizes: {})
    a, b, c, d = (_source(name) for name in "abcd")
    assert copies.admit(a) == a
    assert copies.admit(b) is None
    assert copies.admit(c) is None
    copies.record(_screened(a, "one"))
    (freed,) = copies.freed()
    assert (freed, freed.duplicates) == (b, ("one t",))
    copies.record(_screened(b, "one", is_copy=True))
    (freed,) = copies.freed()
    assert freed == c
    assert copies.admit(d) is None
    copies.record(_screened(c, "two"))  # a second content of this size: nobody waits any more
    (freed,) = copies.freed()
    assert freed.duplicates == ("one t", "two t")
    assert copies.admit(_source("e")) is not None
    copies.record(_screened(d, "two", is_copy=True))
    assert not copies.is_waiting


def test_a_file_is_never_the_copy_of_one_after_it_in_the_crawl() -> None:
    # Results are recorded in the order of the crawl: the first of a content must be there before its copy.
    copies = Copies(lambda _sizes: {})
    first, *kept_back, beyond = (_source(f"{number:03}") for number in range(MAX_WAITING + 2))
    copies.admit(first)
    assert [copies.admit(source) for source in kept_back] == [None] * MAX_WAITING
    assert copies.admit(beyond) == beyond  # too many wait: this one does not
    copies.record(_screened(first, "one"))
    copies.record(_screened(beyond, "two"))
    freed = list(copies.freed())
    assert freed == kept_back
    assert {source.duplicates for source in freed} == {("one t",)}
    later = copies.admit(_source("later"))
    assert later is not None
    assert later.duplicates == ("one t", "two t")


def test_files_that_are_named_for_people_do_not_wait_for_each_other_for_long() -> None:
    copies = Copies(lambda _sizes: {})
    sources = [_source(f"{number:03}") for number in range(MAX_WAITING)]
    running = [source for source in sources if copies.admit(source)]
    assert running == sources[:1]
    rounds = 0
    while running:
        rounds += 1
        for source in running:
            copies.record(replace(_screened(source, source.display), findings=(_IN_ITS_NAME,)))
        running = list(copies.freed())
    assert rounds == MAX_NAMED + 2  # one by one at first, then all that wait


def test_a_failed_file_lets_the_next_one_go() -> None:
    copies = Copies(lambda _sizes: {})
    copies.admit(_source("a"))
    assert copies.admit(_source("b")) is None
    copies.record(FileResult(_source("a"), Outcome.FAILED, reason="corrupt"))
    assert [source.duplicates for source in copies.freed()] == [()]
    copies.record(FileResult(_source("b"), Outcome.FAILED, reason="corrupt"))
    assert not copies.is_waiting
