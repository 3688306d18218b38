from pathlib import Path

import pytest
from click.testing import CliRunner

from phiscan.cli import app
from training.names import train as training
from training.names.train import Settings, Trained


def test_refused_weights_end_with_status_1_and_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []

    def refuse(settings: Settings, **_: object) -> Trained:
        seen.append(settings)
        return Trained({"figures": {}}, ("a: person_recall 95.0 -> 90.0 (may fall by 1.5)", "b: more"))

    monkeypatch.setattr(training, "train_names", refuse)
    result = CliRunner().invoke(
        app, ["train", "names", "--out", str(tmp_path), "--seed", "7"], standalone_mode=False
    )
    assert result.return_value == 1
    assert result.stderr == "phiscan: refused: a: person_recall 95.0 -> 90.0 (may fall by 1.5) and 1 more\n"
    assert seen == [Settings(seed=7)]


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app,
        ["train", "names", "--out", str(tmp_path), "--data", str(tmp_path / "gone")],
        standalone_mode=False,
    )
    assert "gone: expected a folder" in str(result.exception)


def test_a_missing_set_is_named(tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    result = CliRunner().invoke(
        app, ["train", "names", "--out", str(tmp_path), "--data", str(tmp_path)], standalone_mode=False
    )
    assert "presidio_synth_v2.jsonl: expected a set of the training data" in str(result.exception)
