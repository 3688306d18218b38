"""What a worker may say of a file: results that cannot be its own are the failure of the file."""

import ast
import json
import re
from dataclasses import fields, replace
from pathlib import Path

import pytest

import phiscan
from phiscan.config import MESSAGES_OF_CARE, Limits
from phiscan.decision.decide import PATH_CASE
from phiscan.decision.evidence import NAMES_OF_EVIDENCE
from phiscan.decision.reasons import MESSAGES, WORDS
from phiscan.extract.registry import READERS
from phiscan.model import (
    NOT_COVERED,
    EntityType,
    FailReason,
    FileResult,
    Outcome,
    Reason,
    Referral,
    Search,
    SourceFile,
    Span,
    StoredFinding,
    UnreadPart,
)
from phiscan.model.plain_values import dumps, from_plain, to_plain
from phiscan.pipeline.workers.acceptance import DETAIL, accepted
from phiscan.report.words import CASES
from phiscan.sandbox.answers import technical
from phiscan.sandbox.worker_process import too_little_memory
from phiscan.screen.prototypes import load_prototypes
from phiscan.screen.rules.definitions import load_rules

PACKAGE = Path(phiscan.__file__).parent

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
        {"media_type": "Amara Okafor"},
        {"labels": (("Okafor", "Secret"),)},
        {"labels": (("2096f6a2-d2f7-48be-b329-b73aaa526e5d", "Okafor, 1961-02-03"),)},
        {"unread": (UnreadPart("x" * 100_001, FailReason.CORRUPT),)},
    ],
)
def test_what_cannot_be_a_result_of_the_file_is_its_failure(changed: dict[str, object]) -> None:
    answer = replace(RESULT, **changed)  # type: ignore[arg-type]
    found = accepted(SOURCE, answer)
    assert found == FileResult(SOURCE, Outcome.FAILED, reason=FailReason.CRASHED, detail=DETAIL)
    assert found.seconds == ()


@pytest.mark.parametrize("stage", ["\x1b[2J", "", "extract\nall is well"])
def test_names_of_stages_are_words(stage: str) -> None:
    assert accepted(SOURCE, replace(RESULT, seconds=((stage, 1.0),))).detail == DETAIL
    assert accepted(SOURCE, replace(RESULT, seconds=(("extract", -1.0),))).detail == DETAIL


def test_the_file_is_the_one_that_was_given() -> None:
    forged = replace(RESULT, source=replace(SOURCE, owner="nobody", size=0))
    found = accepted(SOURCE, replace(forged, seconds=(("extract", 0.5),)))
    assert found == RESULT
    assert found.source is SOURCE
    assert found.seconds == (("extract", 0.5),)


def test_a_copy_is_one_of_the_contents_that_the_worker_was_given() -> None:
    copy = FileResult(SOURCE, Outcome.SCREENED, content_hash="cd" * 32, media_type="text", is_copy=True)
    assert accepted(SOURCE, copy) == copy


def test_a_result_is_the_same_after_the_way_from_the_worker() -> None:
    answer = replace(RESULT, seconds=(("a", 1.0),))
    assert from_plain(FileResult, json.loads(dumps(to_plain(FileResult, answer)))) == answer


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


NAME = "Amara Okafor, 1961-02-03"


def test_texts_of_a_result_are_technical_ones_or_dropped() -> None:
    pair = ((NAME, 1.0), ("words", 2.0))
    forged = replace(
        RESULT,
        detail=NAME,
        case=NAME,
        nearest_prototype=NAME,
        health_prototype=NAME,
        reasons=pair,
        evidence=((NAME, 1), ("n_people", 2)),
        detectors=((NAME, True), ("text", True)),
        detector_probabilities=pair,
        finding_counts=((NAME, 1), ("MRN", 1)),
        unread=(
            UnreadPart("a.zip!/b", FailReason.CORRUPT, NAME),
            UnreadPart("c", FailReason.CORRUPT, "cut short"),
        ),
    )
    found = accepted(SOURCE, forged)
    assert "Okafor" not in repr(found)
    assert (found.reasons, found.evidence) == (pair[1:], (("n_people", 2),))
    assert (found.detectors, found.finding_counts) == ((("text", True),), (("MRN", 1),))
    assert [part.detail for part in found.unread] == ["", "cut short"]


def test_every_name_that_the_program_gives_is_a_technical_one() -> None:
    prototypes = json.loads((PACKAGE / "health" / "data" / "prototypes.json").read_text())
    named = re.findall(r'"([a-z_0-9]+/\d+)"', json.dumps(prototypes))
    names = {
        *(PATH_CASE, NOT_COVERED, *MESSAGES_OF_CARE, *CASES),
        *WORDS,
        *MESSAGES,
        *NAMES_OF_EVIDENCE,
        *(f"input {name}" for name in NAMES_OF_EVIDENCE),
        *(one.value for kind in (EntityType, Search, Referral) for one in kind),
        *(one.name for one in load_prototypes()),
        *READERS,
        *named,
        "reviewed/12",
    }
    assert len(named) > 100
    assert {name for name in names if not technical(name)} == set()


@pytest.mark.parametrize(
    "detail",
    [
        too_little_memory(2**31),
        "examined in 17 of 22 windows; 500 of 2,500 findings kept",
        "not screened: 97 % of its text (97 of 100 characters)",
        "not read: about 30 % of its rows, more than limits.text_chars of text",
        "the name promises application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        *(f"limits.{one.name}" for one in fields(Limits)),
    ],
)
def test_details_with_numbers_are_technical_ones(detail: str) -> None:
    assert technical(detail) == detail


DETAILS = {"fail", "ExtractError", "Fault"}


def test_every_detail_in_the_code_consists_of_listed_words() -> None:
    missing = set()
    for path in [*(PACKAGE / "extract").rglob("*.py"), *(PACKAGE / "sandbox").rglob("*.py")]:
        nodes = list(ast.walk(ast.parse(path.read_text())))
        given = {
            target.id: node.value
            for node in nodes
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            called = node.func if isinstance(node, ast.Call) else None
            if getattr(called, "attr", getattr(called, "id", "")) not in DETAILS:
                continue
            for one in node.args[1:]:  # type: ignore[attr-defined]
                value = given.get(one.id, one) if isinstance(one, ast.Name) else one
                values = [part.value for part in ast.walk(value) if isinstance(part, ast.Constant)]
                missing |= {text for text in values if isinstance(text, str) and not technical(f"1 {text}")}
    assert missing == {"detail", "g"}  # the name of a field, and a format


def test_every_label_and_name_of_a_rule_is_accepted() -> None:
    rules = load_rules()
    labels = {label for words in rules.contexts.values() for label in (*words.labels, *words.headers)}
    assert "n° de téléphone" in labels
    for name in ("(0010,0010)", *labels, *(rule.id for rule in rules.rules)):
        found = replace(FINDING, source=name, reasons=(Reason("label", name, 0.5),))
        (taken,) = accepted(SOURCE, replace(RESULT, findings=(found,))).findings
        assert taken == found or "," in name  # which is dropped: "city, state"


@pytest.mark.parametrize("name", ["a\nlabel", "x" * 301, NAME])
def test_a_name_that_no_rule_has_is_dropped_and_its_finding_stays(name: str) -> None:
    found = replace(FINDING, source=name, reasons=(Reason("label", name, 0.5),))
    (taken,) = accepted(SOURCE, replace(RESULT, findings=(found,))).findings
    assert taken == replace(FINDING, source="", reasons=(Reason("label", "", 0.5),))
