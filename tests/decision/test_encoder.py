"""What the encoder reads of a passage, what it may change, and that it runs in a confined worker."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phiscan.decision import encoder as encoding
from phiscan.decision.encoder import JOINT_FILE, load_encoder, passage_and_context
from phiscan.decision.evidence import N_EVIDENCE
from phiscan.decision.reasons import WORDS
from phiscan.errors import ModelError
from phiscan.model import Referral
from phiscan.pipeline.examine import examine
from phiscan.screen import screen
from tests.decision.test_decide import ORDINARY, engine
from tests.pipeline.conftest import tool_here
from tests.pipeline.harness import ToolHere
from tests.screen.whole import plain

__all__ = ["tool_here"]  # a fixture

MAIL = (
    "From: Torvald Karrowick <tk@example.org>\nTo: Quenna Vandelune <qv@example.org>\n"
    "Subject: Surgery on 3 May 2024\n\nThe slides are in the folder.\n"
    "I am to have my kidney stones removed, call me at 613-555-0142. Dr. Amara Velthuis does it.\n"
)
ASIDE = (
    "Minutes of the garden club. The shed is locked and the key is with Hilda Crowther. The hose leaks.\n"
    "Norman Pettifer cannot dig this spring, he is recovering from a heart attack.\nTea was served.\n"
)


def read(text: str, phrase: str) -> tuple[str, str]:
    document = plain(text)
    one = engine()
    screening = screen(document, one.screener)
    gathered = one.decider.gather(document, screening, one.classifier)
    start = text.rfind("\n", 0, text.index(phrase)) + 1
    end = text.find("\n", text.index(phrase))
    return passage_and_context(gathered.passages, screening.findings, start, end)


def test_what_was_found_is_replaced_by_its_type_and_the_context_says_who_writes() -> None:
    passage, context = read(MAIL, "kidney stones")

    assert "kidney stones" in passage
    assert "Subject: Surgery" in context
    assert "slides" in context
    for value in ("Karrowick", "tk@example", "613", "Velthuis", "Amara"):
        assert value not in passage + context


def test_a_row_of_a_table_is_read_with_the_heads_of_its_columns() -> None:
    table = "name,born,reason\nTorvald Karrowick,1961-05-03,asthma\nQuenna Vandelune,1970-01-02,gout\n"
    passage, context = read(table, "gout")

    assert "gout" in passage
    assert "name,born,reason" in context
    assert "Quenna" not in passage + context


def test_of_a_long_passage_the_sentences_around_the_health_term_by_a_name_are_read() -> None:
    text = (
        f"Asthma is common. {'The committee met about the fence. ' * 30}The gate is shut. "
        f"Torvald Karrowick has gout. He is at home. {'It rained. ' * 40}\n"
    )
    passage, _ = read(text, "committee")
    assert passage.strip() == "The gate is shut. Alex has gout. He is at home."


def test_who_is_written_to_and_who_signs_is_context() -> None:
    letter = (
        "Dear Mr Karrowick,\nthank you for your letter.\nThe lift will be mended on Monday.\n"
        "It is hard for us, for my wife has gout.\nThe stairs are steep.\nKind regards\nQuenna Vandelune\n"
    )
    passage, context = read(letter, "gout")
    assert "gout" in passage
    lines = context.splitlines()
    assert lines[0].startswith("Dear")
    assert "The lift will be mended on Monday." in lines
    assert lines[-1] == "Alex"


def test_the_encoder_tells_a_persons_health_from_the_same_words_about_something_else() -> None:
    one = load_encoder()
    assert one.log_odds(("Alex has been off work since his stroke.", "")) > one.log_odds(
        ("The tennis stroke of Alex has improved at work.", "")
    )


def test_what_it_changes_is_limited_and_rises_with_what_it_says() -> None:
    one = load_encoder()
    nothing = np.zeros(N_EVIDENCE)
    changes = [one.change(0.0, encoded, nothing) for encoded in (-50.0, -1.0, 0.0, 1.0, 50.0)]
    assert changes == sorted(changes)
    assert (changes[0], changes[-1]) == (one.lowest, one.highest)


def test_health_in_passing_is_referred_and_the_reason_is_the_encoders() -> None:
    document = plain(ASIDE)
    found = examine(document, engine()).decision
    one = engine()
    silent = replace(one.decider.encoder, lowest=0.0, highest=0.0)
    without = examine(document, replace(one, decider=replace(one.decider, encoder=silent))).decision

    assert found.referral is Referral.REFERRED
    assert found.probability > without.probability
    assert set(WORDS["encoder"]) & {
        str(WORDS[name][weight < 0]) for name, weight in found.reasons if name in WORDS
    }


def test_it_is_not_asked_where_it_could_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(encoding.PassageEncoder, "log_odds", lambda _self, pair: asked.append(pair) or 0.0)
    examine(plain(ORDINARY), engine())
    assert not asked


def test_a_confined_worker_decides_as_this_process_does(tool_here: ToolHere, tmp_path: Path) -> None:
    share = tmp_path / "share"
    share.mkdir()
    (share / "minutes.txt").write_text(ASIDE)
    assert tool_here.run("scan", share, "--workers", "1").returncode == 1
    shown = tool_here.run("queue", "show", "1").stdout
    assert "referred" in shown
    assert str(WORDS["encoder"][0]) in shown.lower()


def test_a_damaged_file_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    damaged = tmp_path / JOINT_FILE.name
    damaged.write_text('{"weight": 1}')
    monkeypatch.setattr(encoding, "JOINT_FILE", damaged)
    load_encoder.cache_clear()
    with pytest.raises(ModelError, match=r"encoder\.json: expected the encoder of passages"):
        load_encoder()
    load_encoder.cache_clear()


def test_the_runtime_sends_no_telemetry_and_writes_nothing(tmp_path: Path) -> None:
    code = "import os, phiscan.decision.encoder; print(os.environ['ORT_DISABLE_TELEMETRY'])"
    places = {"HOME": str(tmp_path), "TMPDIR": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-B", "-c", code],
        env=os.environ | places,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == "1"
    assert list(tmp_path.iterdir()) == []
