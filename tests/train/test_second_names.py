import json
from pathlib import Path

import pytest

from phiscan.screen.ner.second_tagger import LABELS, SecondNames, blank
from training.corpora.documents import Labelled
from training.corpora.marked_texts import Texts
from training.second_names.train import NetworkSettings, made_example, marked, train_second_names


def test_lines_that_may_hold_an_unmarked_name_are_cut_out() -> None:
    text = "Ann Roy has asthma.\nSee the Institute of Lungs.\nBob Lee came.\n"
    document = Labelled(text, ((0, 7, "PER"), (48, 55, "PER")))
    pieces = list(marked(document, "medquad_dev"))
    assert [piece.text for piece in pieces] == ["Ann Roy has asthma.\n", "Bob Lee came.\n"]
    assert [[piece.text[a:b] for a, b, _ in piece.spans] for piece in pieces] == [["Ann Roy"], ["Bob Lee"]]
    assert list(marked(document, "generator")) == [document]
    assert list(marked(Labelled("", ()), "generator")) == []


def test_a_marked_name_takes_whole_words_without_white_space() -> None:
    pipeline = blank({"width": 8, "depth": 1, "hidden": 8, "rows": [50, 50, 50, 50]})
    text = "\U0001f600 seen by Ann\nRoy-Smith today"
    example = made_example(pipeline, Labelled(text, ((text.index("Ann"), text.index("-Smith"), "PER"),)))
    (name,) = example.reference.ents
    assert (name.text.split("-")[0], name.label_) == ("Ann\nRoy", "PERSON")


@pytest.mark.slow  # two small trainings
def test_the_same_seed_gives_the_same_bytes_and_a_second_call_trains_nothing(tmp_path: Path) -> None:
    pytest.importorskip("faker")
    settings = NetworkSettings(seed=3, n_documents=60, n_copies=0, n_epochs=1, width=16, depth=1)
    messages: list[str] = []
    one, two = (
        train_second_names(settings, texts=Texts(), out=tmp_path / name, log=messages.append)
        for name in ("a", "b")
    )
    assert one == two
    for name in ("second_names.npz", "second_names.json", "model-card-second-names.md"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    messages.clear()
    train_second_names(settings, texts=Texts(), out=tmp_path / "a", log=messages.append)
    assert messages[0].endswith("there already")
    assert not SecondNames.load(tmp_path / "a").finds_full_name("")
    assert json.loads((tmp_path / "a" / LABELS).read_text(encoding="utf-8"))["hashes"]
