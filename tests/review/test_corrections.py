"""Corrections of spans and topics: bound to what was seen, the last word stands, gold can be scored."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from phiscan.cli import app
from phiscan.errors import ConflictError, InputError
from phiscan.model import EntityType, Span
from phiscan.review.decisions.learning import Mark
from phiscan.review.store import Store
from tests.review.desk import line, scanned
from tests.review.results import NOW, later, referred, scan

pytestmark = pytest.mark.usefixtures("database")

PHONE = (0, 13, "PHONE")
PERSON = (40, 46, "PERSON")


@pytest.fixture
def seen(store: Store) -> int:
    """The examination of one file with a phone number at 0 to 13 and a name at 40 to 46."""
    number = scanned(store, 1)[0]
    assert number == 1
    return store.desk.item(1, viewer="ana", now=NOW).examination_id


def correct(store: Store, seen: int, mark: Mark, **more: object) -> None:
    store.desk.correct(1, mark, seen=seen, reviewer="ana", now=NOW, **more)


def gold(store: Store) -> list[tuple[tuple[int, int, str], ...]]:
    return [one.gold for one in store.desk.gold()]


def test_only_what_was_gone_through_is_gold(store: Store, seen: int) -> None:
    correct(store, seen, Mark.SPURIOUS, position=0)
    assert gold(store) == []
    store.desk.complete_spans(1, seen=seen, reviewer="ana", now=NOW)
    assert gold(store) == [(PERSON,)]
    (one,) = store.desk.gold()
    assert (one.path, one.system) == ("letters/000.txt", ((0, 12, "PHONE"), PERSON))
    store.desk.complete_spans(1, seen=seen, reviewer="ana", now=NOW, complete=False)
    assert gold(store) == []


CORRECTED: list[tuple[list[tuple[Mark, dict[str, Any]]], list[tuple[int, int, str]]]] = [
    ([], [(0, 12, "PHONE"), PERSON]),
    ([(Mark.RIGHT, {"position": 0})], [(0, 12, "PHONE"), PERSON]),
    ([(Mark.WRONG_TYPE, {"position": 0, "entity_type": EntityType.FAX})], [(0, 12, "FAX"), PERSON]),
    ([(Mark.WRONG_EXTENT, {"position": 0, "span": Span(0, 13)})], [PHONE, PERSON]),
    (
        [(Mark.WRONG_EXTENT, {"position": 0, "span": Span(0, 13), "entity_type": EntityType.FAX})],
        [(0, 13, "FAX"), PERSON],
    ),
    ([(Mark.SPURIOUS, {"position": 1})], [(0, 12, "PHONE")]),
    (
        [(Mark.MISSED, {"span": Span(20, 25), "entity_type": EntityType.MRN})],
        [(0, 12, "PHONE"), (20, 25, "MRN"), PERSON],
    ),
    ([(Mark.SPURIOUS, {"position": 1}), (Mark.WITHDRAWN, {"position": 1})], [(0, 12, "PHONE"), PERSON]),
    (
        [
            (Mark.MISSED, {"span": Span(20, 25), "entity_type": EntityType.MRN}),
            (Mark.WITHDRAWN, {"span": Span(20, 25)}),
        ],
        [(0, 12, "PHONE"), PERSON],
    ),
]


def test_the_last_correction_of_each_span_is_valid(store: Store) -> None:
    for number, (marks, right) in zip(scanned(store, len(CORRECTED)), CORRECTED, strict=True):
        given = {"seen": line(store, number).examination_id, "reviewer": "ana", "now": NOW}
        for mark, more in marks:
            store.desk.correct(number, mark, **given, **more)
        store.desk.complete_spans(number, **given)
        assert gold(store)[-1] == tuple(right)
        assert len(store.desk.corrections(number).spans) == len(marks) % 2 * len(marks)
    assert store.verify_audit().ok


HALVES: list[tuple[Mark, dict[str, Any], str]] = [
    (Mark.RIGHT, {}, "position: expected the place of a finding"),
    (Mark.RIGHT, {"position": 7}, "position: expected the place of a finding of this file"),
    (Mark.MISSED, {"position": 0, "span": Span(1, 2)}, "unless it was missed"),
    (Mark.MISSED, {"entity_type": EntityType.MRN}, "span: expected where it is"),
    (Mark.MISSED, {"span": Span(1, 2)}, "entity_type: expected what it is"),
    (Mark.WRONG_TYPE, {"position": 0}, "entity_type: expected what it is"),
    (Mark.WRONG_EXTENT, {"position": 0}, "span: expected where it is"),
    (Mark.WRONG_EXTENT, {"position": 0, "span": Span(0, 501)}, "within the 500 characters"),
]


def test_refuses_half_a_correction(store: Store, seen: int) -> None:
    for mark, more, words in HALVES:
        with pytest.raises(InputError, match=words):
            correct(store, seen, mark, **more)
    assert store.desk.corrections(1).spans == ()


def test_positions_belong_to_what_was_seen(store: Store, seen: int) -> None:
    scan(store, [referred("letters/000.txt")], minutes=1)
    for call in (
        lambda: correct(store, seen, Mark.RIGHT, position=0),
        lambda: store.desk.complete_spans(1, seen=seen, reviewer="ana", now=NOW),
        lambda: store.desk.correct_topics(1, [], seen=seen, reviewer="ana", now=NOW),
    ):
        with pytest.raises(ConflictError, match="examined again since it was shown"):
            call()


def test_topics(store: Store, seen: int) -> None:
    desk = store.desk
    assert desk.corrections(1).topics is None
    desk.correct_topics(1, ["J40-J47", "J40-J47", "X"], seen=seen, reviewer="ana", now=NOW)
    desk.correct_topics(1, [" J40-J47 ", "J"], seen=seen, reviewer="ana", now=later(1))
    assert desk.corrections(1).topics == ("J40-J47", "J")
    (one,) = desk.topic_gold()
    assert (one.path, one.labels, one.concepts) == ("letters/000.txt", ("J40-J47", "J"), ("asthma",))
    for labels in (["a"] * 60 + [str(n) for n in range(51)], [""], ["x" * 101]):
        with pytest.raises(InputError, match="label"):
            desk.correct_topics(1, labels, seen=seen, reviewer="ana", now=NOW)
    assert store.verify_audit().ok


def test_gold_can_be_scored(store: Store, seen: int, url: str, tmp_path: Path) -> None:
    """What ``queue gold`` writes is what ``score spans`` reads."""
    correct(store, seen, Mark.WRONG_TYPE, position=0, entity_type=EntityType.FAX)
    correct(store, seen, Mark.MISSED, span=Span(20, 25), entity_type=EntityType.MRN)
    store.desk.complete_spans(1, seen=seen, reviewer="ana", now=NOW)
    environment = {"PHISCAN_DATABASE": url, "PHISCAN_HOME": str(tmp_path)}
    runner = CliRunner()
    names = {kind: tmp_path / f"{kind}.jsonl" for kind in ("gold", "system")}
    for kind, name in names.items():
        arguments = ["queue", "gold"] + ["--system"] * (kind == "system")
        written = runner.invoke(app, arguments, env=environment)
        assert written.exit_code == 0, written.output
        name.write_text(written.stdout)
    assert json.loads(names["gold"].read_text()) == {
        "id": "1",
        "spans": [[0, 12, "FAX"], [20, 25, "MRN"], [40, 46, "PERSON"]],
    }
    files = f"--gold {names['gold']} --system {names['system']}"
    scored = runner.invoke(app, f"score spans {files} --format jsonl --json".split())
    assert scored.exit_code == 0, scored.output
    instance = json.loads(scored.stdout)["instance"]
    assert (instance["correct"], instance["substitution"], instance["deletion"]) == (1, 1, 1)
