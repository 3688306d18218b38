"""The number classifier is trained on the given texts, and measured on texts left out of training."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from phiscan.cli import app
from phiscan.errors import InputError
from phiscan.screen.id_classifier.classifier import NumberModel
from phiscan.screen.id_classifier.features import ages, candidates
from training.corpora.marked_texts import own_texts, parsed
from training.numbers import train as numbers
from training.numbers.card import render
from training.numbers.train import CARD, JUDGED, OWN, WEIGHTS, NumberSettings, train_numbers

SHIPPED = Path(__file__).parents[2] / "phiscan" / "screen" / "data" / WEIGHTS
DOCS = Path(__file__).parents[2] / "docs" / "reference"


@pytest.fixture
def few(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the training two of our own texts, and return a file of marked ones."""
    folder = tmp_path / "texts"
    folder.mkdir()
    own = [
        f"===== own-{n}\\nbin {n}4 holds {n}{n}00 pads, tag KQ-88{n}1 for ⟦P|Ann Roy⟧\\n" for n in range(1, 9)
    ]
    (folder / "few.txt").write_text("".join(own).replace("\\n", "\n"), encoding="utf-8")
    (tmp_path / "manifest.toml").write_text('[texts.few]\nmarks = ["names"]\n', encoding="utf-8")
    judged = tmp_path / "numbers.txt"
    judged.write_text(
        "# a head\n" + "".join(f"few\town-{n}\tI\tKQ-88{n}1\n" for n in range(1, 9)), encoding="utf-8"
    )
    monkeypatch.setattr(numbers, "FOLDER", folder)
    monkeypatch.setattr("training.corpora.marked_texts.FOLDER", folder)
    monkeypatch.setattr(numbers, "JUDGED", judged)
    lines = []
    for n in range(20, 50):
        text = f"Lost: tag KQ-{n}07, and a box of {n}00 wipes.\n"
        lines.append(json.dumps({"id": str(n), "text": text, "spans": [[10, 17, "DEVICE"]]}))
        text = f"file {n}118 is hers, shelf {n}2\n"
        lines.append(json.dumps({"id": f"{n}b", "text": text, "spans": [[5, 10, "MRN"]]}))
    path = tmp_path / "few.jsonl"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_learns_and_measures_and_writes(few: Path, tmp_path: Path) -> None:
    messages: list[str] = []
    card = train_numbers(NumberSettings(), marked=[few], out=tmp_path / "out", log=messages.append)
    model = NumberModel.load(tmp_path / "out")
    assert set(card["figures"]) == {"few.jsonl", OWN}
    assert card["figures"][OWN]["n_somebodys"] == 8
    assert card["figures"]["few.jsonl"]["n_somebodys"] == 60
    assert card["figures_of_ages"][OWN]["n_numbers"] == 0
    assert model.ages.chance(["right=F"]) < 1e-9  # no text had an age
    assert model.chance(["word=tag", "form=A+-0+", "shape=AA-0000"]) > model.chance(["word=of", "shape=0000"])
    assert (tmp_path / "out" / CARD).read_text(encoding="utf-8") == render(card)
    assert not any("KQ-" in line for line in messages)


def test_the_same_texts_give_the_same_bytes(few: Path, tmp_path: Path) -> None:
    written = []
    for name in ("one", "two"):
        train_numbers(NumberSettings(), marked=[few], out=tmp_path / name, log=lambda _: None)
        written.append((tmp_path / name / WEIGHTS).read_bytes())
    assert written[0] == written[1]


def test_no_weight_holds_a_number_of_a_text(few: Path, tmp_path: Path) -> None:
    card = train_numbers(NumberSettings(min_texts=1), marked=[few], out=tmp_path / "out", log=lambda _: None)
    assert not any(re.search(r"=.*\d{3}", name.replace("0", "")) for name in card["weights"])


def test_every_labelled_value_is_in_its_text() -> None:
    texts = {(source, name): parsed(marked).text for source, name, marked in own_texts()}
    rows = [
        line.split("\t")
        for line in JUDGED.read_text(encoding="utf-8").splitlines()
        if not line.startswith("#")
    ]
    assert len(rows) > 1500
    for file, name, kind, value in rows:
        text = texts[file, name]
        find = ages if kind == "Y" else candidates
        assert value in {text[low:high] for low, high in find(text)}, (file, name)


@pytest.mark.parametrize(
    ("line", "keeps_own_texts", "message"),
    [
        ('{"id": "a"}', True, r"few\.jsonl: line 1, field spans"),
        ('{"id": "a", "spans": []}', True, r"few\.jsonl: text 1, field text: expected a text"),
        ('{"id": "a", "text": "file 44187", "spans": [[5, 10, "MRN"]]}', False, "some that are not"),
    ],
)
def test_marked_texts_that_teach_nothing_are_named(
    few: Path, tmp_path: Path, line: str, *, keeps_own_texts: bool, message: str
) -> None:
    few.write_text(f"{line}\n", encoding="utf-8")
    for path in [] if keeps_own_texts else numbers.FOLDER.glob("*.txt"):
        path.unlink()
    with pytest.raises(InputError, match=message):
        train_numbers(NumberSettings(), marked=[few], out=tmp_path / "out", log=lambda _: None)
    assert not (tmp_path / "out").exists()


def test_two_files_of_one_name_and_damaged_judgements_are_refused(few: Path, tmp_path: Path) -> None:
    def refused(message: str, *marked: Path) -> None:
        with pytest.raises(InputError, match=message):
            train_numbers(NumberSettings(), marked=marked, out=tmp_path / "out", log=lambda _: None)

    refused("a name that no other file", few, few)
    numbers.JUDGED.write_text("few\town-1\tX\t12\n", encoding="utf-8")
    refused(r"numbers\.txt: line 1: expected file, text, kind", few)
    numbers.JUDGED.unlink()
    refused(r"numbers\.txt: expected a text in UTF-8: FileNotFoundError", few)


def test_the_command_says_which_file_lacks(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone.jsonl")
    result = CliRunner().invoke(
        app, ["train", "numbers", "--out", str(tmp_path), "--marked", gone], standalone_mode=False
    )
    assert str(result.exception) == f"{gone}: expected JSON lines of marked texts: FileNotFoundError"


def test_the_shipped_card_is_that_of_the_shipped_weights() -> None:
    card = json.loads(SHIPPED.read_text(encoding="utf-8"))
    assert (DOCS / CARD).read_text(encoding="utf-8") == render(card)
