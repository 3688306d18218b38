"""What a worker may say of a file: results that cannot be its own are the failure of the file."""

import json
from dataclasses import replace

import pytest

from phiscan.model import (
    EntityType,
    FailReason,
    FileResult,
    Outcome,
    SourceFile,
    Span,
    StoredFinding,
    UnreadPart,
)
from phiscan.model.plain_values import dumps, from_plain, to_plain
from phiscan.pipeline.processed import Processed
from phiscan.pipeline.workers.acceptance import DETAIL, accepted

HASH = "ab" * 32
SOURCE = SourceFile(
    b"/share", b"letter.txt", 10, 0, 0, 1, 1, owner="ward7", duplicates=("cd" * 32 + " text",)
)
FINDING = StoredFinding(Span(0, 5), "", EntityType.PERSON, "names", 0.9, (), "Xxxxx", HASH)
RESULT = FileResult(SOURCE, Outcome.SCREENED, media_type="text", content_hash=HASH, findings=(FINDING,))


@pytest.mark.parametrize(
    "changed",
    [
        {"source": replace(SOURCE, path=b"another.txt")},
        {"source": replace(SOURCE, root=b"/")},
        {"outcome": Outcome.UNCHANGED},
        {"outcome": Outcome.SKIPPED, "reason": "ignored"},
        {"outcome": Outcome.FAILED, "reason": "all is well", "findings": ()},
        {"content_hash": "../../etc/passwd"},
        {"is_copy": True},
        {"findings": (replace(FINDING, preview="Okafor"),)},
        {"findings": (replace(FINDING, identity="Okafor"),)},
        {"findings": (replace(FINDING, locator="x" * 100_001),)},
        {"detail": "x" * 100_001},
        {"unread": (UnreadPart("x" * 100_001, FailReason.CORRUPT),)},
    ],
)
def test_what_cannot_be_a_result_of_the_file_is_its_failure(changed: dict[str, object]) -> None:
    answer = Processed(replace(RESULT, **changed), ())  # type: ignore[arg-type]
    found = accepted(SOURCE, answer)
    assert found.result == FileResult(SOURCE, Outcome.FAILED, reason=FailReason.CRASHED, detail=DETAIL)
    assert found.seconds == ()


@pytest.mark.parametrize("stage", ["\x1b[2J", "", "extract\nall is well"])
def test_names_of_stages_are_words(stage: str) -> None:
    assert accepted(SOURCE, Processed(RESULT, ((stage, 1.0),))).result.detail == DETAIL
    assert accepted(SOURCE, Processed(RESULT, (("extract", -1.0),))).result.detail == DETAIL


def test_the_file_is_the_one_that_was_given() -> None:
    forged = replace(RESULT, source=replace(SOURCE, owner="nobody", size=0))
    found = accepted(SOURCE, Processed(forged, (("extract", 0.5),)))
    assert found.result == RESULT
    assert found.result.source is SOURCE
    assert found.seconds == (("extract", 0.5),)


def test_a_copy_is_one_of_the_contents_that_the_worker_was_given() -> None:
    copy = FileResult(SOURCE, Outcome.SCREENED, content_hash="cd" * 32, media_type="text", is_copy=True)
    assert accepted(SOURCE, Processed(copy, ())).result == copy


def test_a_result_is_the_same_after_the_way_from_the_worker() -> None:
    answer = Processed(RESULT, (("a", 1.0),))
    assert from_plain(Processed, json.loads(dumps(to_plain(Processed, answer)))) == answer


@pytest.mark.parametrize(
    ("hint", "plain"),
    [
        (int, "1"),
        (int, 2**63),
        (float, "1"),
        (float, float("nan")),
        (float, float("inf")),
        (str, 1),
        (bytes, "zz"),
        (bool, 1),
        (None, 0),
        (tuple[int, ...], {"0": 1}),
        (tuple[int, str], [1]),
        (Outcome, "unheard of"),
        (Span, [5, 1]),
        (Span, [1, 2, 3]),
        (int | str | Span, [3, 1]),
        (int | str | Span, [-1, 1]),
        (dict[str, int], [["a"]]),
    ],
)
def test_values_of_another_type_are_refused(hint: object, plain: object) -> None:
    with pytest.raises((TypeError, ValueError)):
        from_plain(hint, plain)


def test_half_a_character_becomes_a_question_mark_and_offsets_stay() -> None:
    assert from_plain(str, "a\ud800\u00e9") == "a?\u00e9"
