import json
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from phiscan.errors import InputError
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Document, EntityType, Finding, Span
from phiscan.screen.ner.crf import ConditionalRandomField
from phiscan.screen.ner.features import Lexicon
from phiscan.screen.ner.tagger import TaggerRecognizer, load_kinds
from phiscan.screen.ner.viterbi import marginals
from training import needs
from training.corpora.documents import Labelled, Writer
from training.corpora.marked_texts import Texts, written
from training.corpora.open_texts import FAMILIES, GENERATOR, surrogate
from training.names.examples import inventory, sequences, units
from training.names.folds import SEEN_WRITTEN
from training.names.gate import falls, last_card
from training.names.measure import Marked, made, measure
from training.names.train import Fold, Settings, Trained, train, train_names
from training.names.weights import export
from training.names.windows import LstmSettings

ROOT = Path(__file__).resolve().parents[2]
SMALL = LstmSettings(n_draws=2, n_epochs=2, n_dims=8, n_hidden=8, min_feature_tokens=20, batch_tokens=1024)
SHIPPED = ROOT / "phiscan" / "screen" / "data" / "names.json"


def test_labels_are_those_of_crfsuite(tmp_path: Path) -> None:
    pycrfsuite = pytest.importorskip("pycrfsuite")
    pytest.importorskip("faker")
    written = list(Writer(5).documents(50))
    kinds = load_kinds(load_gazetteer())
    used = inventory(written, kinds, min_documents=6)
    lexicon = Lexicon(kinds, used)
    trainer = pycrfsuite.Trainer(verbose=False)
    for document in written[:35]:
        stream = lexicon.read(document.text)
        for features, labels in sequences(units(document, stream, GENERATOR), stream, lexicon):
            trainer.append(features, labels)
    trainer.set_params(Settings(max_iterations=8).parameters())
    trainer.train(str(tmp_path / "model"))
    export(str(tmp_path / "model"), used, tmp_path, precision=np.float64, least=0.0)
    ours = ConditionalRandomField.load(kinds, tmp_path)
    theirs = pycrfsuite.Tagger()
    theirs.open(str(tmp_path / "model"))
    n_names = 0
    for document in written:
        stream = ours.lexicon.read(document.text)
        emission = ours.emission(stream)
        labels = [ours.labels[i] for i in ours.best(stream, emission)]
        probability = marginals(emission, ours.transition, stream.units.starts, stream.units.lengths)
        position = 0
        for features, _ in sequences(units(document, stream, GENERATOR), stream, ours.lexicon):
            tagged = theirs.tag(features)
            assert labels[position : position + len(features)] == tagged
            mine = probability[position, ours.labels.index(tagged[0])]
            assert mine == pytest.approx(theirs.marginal(tagged[0], 0), abs=0.02)
            position += len(features)
        n_names += sum(label != "O" for label in labels)
    assert n_names > 20


@pytest.mark.slow  # four small trainings, some seconds
def test_the_same_seed_gives_the_same_bytes_a_second_call_trains_nothing_and_a_fall_is_refused(
    tmp_path: Path,
) -> None:
    pytest.importorskip("pycrfsuite")
    pytest.importorskip("faker")
    pytest.importorskip("optax")
    settings = Settings(seed=3, n_documents=60, n_copies=0, max_iterations=5, reader=SMALL)
    last = tmp_path / "last.json"
    last.write_text("{}", encoding="utf-8")
    messages: list[str] = []

    def run(name: str) -> Trained:
        return train_names(settings, texts=Texts(), out=tmp_path / name, last=last, log=messages.append)

    one, two = run("one"), run("two")
    assert one == two
    assert not one.refused
    for name in ("names.npz", "passages.npz", "passages.onnx", "names.json", "model-card-names.md"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    assert json.loads((tmp_path / "one" / "names.json").read_text(encoding="utf-8"))["hashes"]
    measured = train_names(
        settings,
        texts=Texts(),
        out=tmp_path / "two",
        last=tmp_path / "two" / "names.json",
        log=messages.append,
        measure_only=True,
    )
    assert measured.card == two.card | {"measured_anew": True}
    assert "measured again" in (tmp_path / "two" / "model-card-names.md").read_text(encoding="utf-8")
    card = json.loads(json.dumps(one.card))
    card["figures"]["held-out templates"]["person_recall"] = 100.0
    card["recipe"] = "of others"  # weights of the same recipe are not refused
    last.write_text(json.dumps(card), encoding="utf-8")
    (tmp_path / "one" / "names.json").unlink()
    messages.clear()
    assert run("one").refused[0].startswith("held-out templates: person_recall 100.0 -> ")
    assert [line for line in messages if line.endswith("there already")] == messages[:2]
    assert (tmp_path / "one" / "refused" / "names.npz").exists()
    assert not (tmp_path / "one" / "names.json").exists()
    other = tmp_path / "other"
    train(replace(settings, seed=4), Fold(), texts=Texts(), out=other, log=messages.append)
    for name in ("names.npz", "passages.npz", "passages.onnx"):
        assert (other / name).read_bytes() != (tmp_path / "two" / name).read_bytes()


def test_measuring_alone_needs_the_models_and_the_sets_of_the_last_weights(tmp_path: Path) -> None:
    pytest.importorskip("pycrfsuite")
    last, sets = tmp_path / "last.json", tmp_path / "sets"
    last.write_text('{"recipe": "r", "hashes": {}}', encoding="utf-8")
    sets.mkdir()
    for name in (name for names in FAMILIES.values() for name in names):
        (sets / f"{name}.jsonl").write_text("", encoding="utf-8")

    def run(data: Path | None) -> None:
        train_names(Settings(), texts=Texts(data), out=tmp_path, last=last, log=print, measure_only=True)

    with pytest.raises(InputError, match=r"templates: expected a model of the last weights' recipe"):
        run(None)
    with pytest.raises(InputError, match="presidio_synth_v2: expected the set that the last weights"):
        run(sets)


def test_held_out_templates_are_not_among_the_others() -> None:
    pytest.importorskip("faker")
    every, rest, held = Writer(1), Writer(1, without_held_out=True), Writer(1, only_held_out=True)
    for kind in ("_forms", "_sentences", "_plain"):
        a, b, c = (set(getattr(writer, kind)) for writer in (every, rest, held))
        assert b | c == a
        assert not b & c
        assert c


def test_spans_of_a_document_cover_names_whatever_the_case_of_its_lines() -> None:
    pytest.importorskip("faker")
    for document in Writer(2).documents(80):
        reach = 0
        for start, end, _label in document.spans:
            assert reach <= start < end <= len(document.text)
            assert document.text[start:end].strip()
            reach = end


def test_a_missing_package_is_named_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(needs, "import_module", lambda name: exec(f"import no_such_{name}"))  # noqa: S102 (an import that fails)
    with pytest.raises(InputError, match=r"python-crfsuite: pip install 'phiscan\[train\]'"):
        needs.needed("pycrfsuite")


def test_the_gate_refuses_what_falls_on_the_same_text_with_another_recipe() -> None:
    def card(recall: float, beyond: float, **more: object) -> dict[str, object]:
        figures = {"person_recall": recall, "persons_beyond_gold_per_1000_words": beyond}
        return {"recipe": "a", "figures": {"a": figures | more}, "hashes": {"a": "1"}}

    before, worse = card(95.0, 1.0), card(93.4, 1.6)
    assert falls(before, card(93.6, 1.4) | {"recipe": "b"}) == []
    assert [line.split()[1] for line in falls(before, worse | {"recipe": "b"})] == [
        "persons_beyond_gold_per_1000_words",
        "person_recall",
    ]
    assert falls(before, worse | {"recipe": "b", "hashes": {"a": "2"}}) == []
    assert falls(before, worse) == []  # the same weights with other thresholds
    # Of a small set two tokens may go.
    few = {"n_person_tokens": 40}
    assert falls(card(95.0, 1.0, **few), card(91.0, 1.0, **few) | {"recipe": "b"}) == []


def test_a_last_card_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "names.json"
    with pytest.raises(InputError, match=r"names\.json: expected names\.json of the last weights"):
        last_card(path)
    path.write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match="expected an object"):
        last_card(path)


@pytest.mark.slow
def test_the_shipped_weights_still_do_what_their_labels_say() -> None:
    card = last_card(SHIPPED)
    figures, _ = measure(TaggerRecognizer.load(), made(written(held_out=True)), fully_marked=True)
    assert card["figures"][SEEN_WRITTEN]["n_person_tokens"] == figures["n_person_tokens"]
    assert (
        falls(
            {"figures": card["figures"], "hashes": {SEEN_WRITTEN: "same"}, "recipe": "of others"},
            {"figures": {SEEN_WRITTEN: figures}, "hashes": {SEEN_WRITTEN: "same"}},
        )
        == []
    )


def test_surrogates_replace_every_word_of_a_name_alike() -> None:
    class World:
        def first(self) -> str:
            return "Quill"

        def last(self) -> str:
            return "Marsh"

    text = "Ann Roy and ROY"
    changed = surrogate(Labelled(text, ((0, 7, "PER"), (12, 15, "PER"))), World())  # type: ignore[arg-type]
    assert changed.text == "Quill Marsh and MARSH"
    assert [changed.text[a:b] for a, b, _ in changed.spans] == ["Quill Marsh", "MARSH"]


def test_measuring_passes_over_numbers_that_a_tagger_finds() -> None:
    class Numbers:
        def recognize(self, document: Document) -> Iterator[Finding]:
            yield Finding(Span(0, len(document.text)), EntityType.OTHER_ID, "here", 0.4, frozenset())

    figures, errors = measure(Numbers(), [Marked("118204 Roy", ((7, 10, "person"),))], fully_marked=True)
    assert figures["person_recall"] == 0
    assert [error.split()[0] for error in errors] == ["MISSED"]


def test_measuring_counts_tokens_and_gives_no_precision_where_not_every_name_is_marked() -> None:
    texts = [Marked("Yesterday I met Quenby Draskovin at the station.", ((16, 32, "person"),))]
    figures, errors = measure(TaggerRecognizer.load(), texts, fully_marked=False)
    assert figures["n_person_tokens"] == 2
    assert figures["person_recall"] == 100.0
    assert figures["person_precision"] is None
    assert "every name" in str(figures["reason"])
    assert errors == []


def test_measuring_tells_kinds_of_names_and_what_is_marked_as_something_else() -> None:
    class Reader:
        def recognize(self, document: Document) -> Iterator[Finding]:
            for word in ("Ann", "Qexo", "Cyr", "noon"):
                span = Span(document.text.index(word), document.text.index(word) + len(word))
                yield Finding(span, EntityType.PERSON, "s", 0.9, frozenset())

    text = "Ann met King Qexo in rue Cyr at noon"
    words = (("Ann", "person"), ("King", "person"), ("Qexo", "person"), ("rue Cyr", "place"))
    spans = tuple((text.index(word), text.index(word) + len(word), kind) for word, kind in words)
    figures, _ = measure(Reader(), [Marked(text, spans)], fully_marked=True)
    assert [figures[f"n_{kind}_tokens"] for kind in ("listed", "worded", "unknown")] == [1, 1, 1]
    assert [figures[f"{kind}_recall"] for kind in ("listed", "worded", "unknown")] == [100.0, 0.0, 100.0]
    assert figures["person_precision"] == pytest.approx(100 * 2 / 4)
    assert figures["person_precision_any_label"] == pytest.approx(100 * 3 / 4)


def test_the_extra_names_what_training_imports() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"][
        "optional-dependencies"
    ]["train"]
    assert set(needs.PACKAGES.values()) == set(extra)
