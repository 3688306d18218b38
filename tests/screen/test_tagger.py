from importlib import resources
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.errors import ModelError
from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.model import Document, EntityType, Finding, PiiBit, Span
from phiscan.screen.ner.crf import ConditionalRandomField
from phiscan.screen.ner.features import Inventory, Lexicon
from phiscan.screen.ner.name_confidence import COUNTS, MAX_DOUBTFUL
from phiscan.screen.ner.tagger import LABEL_BIAS, TaggerRecognizer, load_kinds
from phiscan.screen.ner.tokens import CAPS, LOWER, MIXED, classes, line_modes, split, units
from training.corpora.marked_texts import written

GOLDEN = Path(__file__).parent / "golden"
# Which of these words are doubtful changes with the weights; some always are.
SOME_DOUBTFUL = (
    "We use Arvenda daily and Sorrel twice. Tivolin opens late. Ask about Corvane. The Marrowby has three"
    " floors. Belmora was closed. He likes Tolvik. Quendal and Straithe are near. May called."
)


@pytest.fixture(scope="module")
def tagger() -> TaggerRecognizer:
    return TaggerRecognizer.load()


def found(tagger: TaggerRecognizer, text: str) -> set[tuple[str, EntityType]]:
    return {(f.span.of(text), f.entity_type) for f in tagger.recognize(Document(text, (), "text/plain"))}


@given(st.text(max_size=200))
@settings(max_examples=150, deadline=None)
def test_tokens_join_to_the_text(text: str) -> None:
    assert "".join(split(text)) == text.replace("\r", " ").replace("\u00a0", " ")


@given(st.text(alphabet=st.sampled_from("Jo hn\nSmith.,-'\u2019😀é\u0301\u00a0\r\t12@_"), max_size=120))
@settings(max_examples=100, deadline=None)
def test_spans_lie_in_the_text_in_order_without_white_space_at_their_ends(
    tagger: TaggerRecognizer, text: str
) -> None:
    reach = 0
    for finding in tagger.recognize(Document(text, (), "text/plain")):
        value = finding.span.of(text)
        assert finding.span.start >= reach
        assert value == value.strip()
        assert 0 < finding.score <= 1.0001
        reach = finding.span.end


def test_a_line_in_capitals_is_told_from_a_document_in_lower_case() -> None:
    one = np.ones(5, dtype=np.int64)
    none = np.zeros(5, dtype=np.int64)
    line = np.zeros(5, dtype=np.int64)
    assert set(line_modes(line, none, one, none)) == {CAPS}
    assert set(line_modes(line, one, none, none)) == {LOWER}
    assert set(line_modes(line, np.array([1, 1, 1, 1, 0]), none, np.array([0, 0, 0, 0, 1]))) == {MIXED}


def test_a_unit_ends_at_a_break_and_behind_a_sentence_but_not_behind_a_title() -> None:
    tokens = ["Dr", ".", "Roy", "slept", ".", "Who", "?", "He", "\n", "left"]
    breaks = np.array([t == "\n" for t in tokens], dtype=np.int64)
    ends = np.array([{".": 1, "?": 2}.get(t, 0) for t in tokens], dtype=np.int64)
    closes = np.array([t.islower() for t in tokens], dtype=np.int64)
    grouped = units(breaks, ends, closes)
    assert grouped.lengths.tolist() == [5, 2, 1, 1]
    assert grouped.index.tolist() == [0, 1, 2, 3, 4, 5, 6, 7, 9]


@pytest.mark.parametrize(
    ("text", "n_units"),
    [
        ("Seen by Lindgren. Overdoses were rare.", 2),
        ("Seen by Dr. J. Lindgren today.", 1),
        ("Signed Prof. Roy, Capt. Lee.", 1),
        ("Wait, Ann! Who?", 2),
        ("In Sept. Roy left.", 1),
    ],
)
def test_a_name_may_end_a_sentence_and_an_abbreviation_does_not(text: str, n_units: int) -> None:
    lexicon = Lexicon(load_kinds(load_gazetteer()), Inventory((), (), ()))
    assert len(lexicon.read(text).units.starts) == n_units


def test_a_country_and_a_name_of_a_country_are_told_apart() -> None:
    kinds = load_kinds(load_gazetteer())
    words = [kinds.of(word) for word in ("Sweden", "Québécoise", "Jordan")]
    assert [classes(word.shape, word.flags, MIXED)[1] for word in words] == ["Xv", "Xv", "Xw"]


def test_a_hidden_word_keeps_its_number_and_stands_in_no_text() -> None:
    kinds = load_kinds(load_gazetteer())
    inventory = Inventory(("called", "today"), (), ())
    every, part = Lexicon(kinds, inventory), Lexicon(kinds, inventory, frozenset({"called"}))
    assert part.vocabulary == {"today"}
    assert part.sizes() == every.sizes()
    a, b = every.read("called today").codes, part.read("called today").codes
    assert a[-1].tolist() == [0, 1]
    assert b[-1].tolist() == [0, 0]
    assert (a[6] == b[6]).all()  # the next word is known to both


@pytest.mark.parametrize(
    "text",
    [
        "Negative Murphy sign. Parkinson disease and COPD are stable.",
        "Start Metoprolol 25 mg PO BID.\nPlan: Colonoscopy.",
        "Symptoms of Graves disease include tremor and heat intolerance.",
        "People with Joubert syndrome and Danon disease need care.",
        "France was lovely and Greek food is good.",
        "Rec'd by fax. Salut tout le monde. Team meeting at two.",
    ],
)
def test_medical_terms_are_nobody(tagger: TaggerRecognizer, text: str) -> None:
    people = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
    assert not [value for value, kind in found(tagger, text) if kind in people]


def test_a_full_name_shows_both_bits(tagger: TaggerRecognizer) -> None:
    text = "I spoke with Jennifer Thompson in Toronto."
    findings = list(tagger.recognize(Document(text, (), "text/plain")))
    person = next(f for f in findings if f.entity_type is EntityType.PERSON)
    assert person.bits == {PiiBit.FIRST_NAME, PiiBit.LAST_NAME}
    assert "Thompson" not in repr(person)


def test_nothing_is_found_in_nothing(tagger: TaggerRecognizer) -> None:
    assert found(tagger, "") == set()
    assert found(tagger, " \n\t ") == set()


@pytest.mark.parametrize("n_bytes", [0, 20, 100_000])
def test_weights_that_were_cut_short_are_refused_by_name(tmp_path: Path, n_bytes: int) -> None:
    folder = resources.files("phiscan.screen") / "data"
    (tmp_path / "names.json").write_bytes((folder / "names.json").read_bytes())
    (tmp_path / "names.npz").write_bytes((folder / "names.npz").read_bytes()[:n_bytes])
    with pytest.raises(ModelError, match=r"names\.npz"):
        ConditionalRandomField.load(load_kinds(load_gazetteer()), tmp_path)


def test_weights_of_another_format_are_refused(tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text('{"format": 99, "labels": []}', encoding="utf-8")
    np.savez(tmp_path / "names.npz", weight=np.zeros(1))
    with pytest.raises(ModelError, match="format"):
        ConditionalRandomField.load(load_kinds(load_gazetteer()), tmp_path)


def test_a_sign_that_takes_no_room_is_no_name(tagger: TaggerRecognizer) -> None:
    assert not list(tagger.recognize(Document(",@\t", (), "text/plain")))


def test_a_doubtful_name_is_shown_and_decides_nothing(tagger: TaggerRecognizer) -> None:
    findings = list(tagger.recognize(Document(SOME_DOUBTFUL, (), "text/plain")))
    doubtful = [f for f in findings if f.is_doubtful]
    assert doubtful
    for finding in doubtful:
        assert not finding.bits
        assert finding.score == finding.reasons[-1].score <= MAX_DOUBTFUL < COUNTS
        assert finding.reasons[-1].kind == "doubt"
    text = "Marguerite takes apixaban."
    assert not next(iter(tagger.recognize(Document(text, (), "text/plain")))).is_doubtful


def test_the_second_path_adds_doubtful_names_only(
    tagger: TaggerRecognizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("phiscan.screen.ner.tagger.SECOND_BIAS", LABEL_BIAS)
    once = TaggerRecognizer.load()
    texts = [path.read_text(encoding="utf-8") for path in sorted(GOLDEN.glob("*.txt"))]
    texts += ["A KOCHER AND A BABCOCK WERE USED.", "seen by hope on tuesday, then bell came"]
    texts += [document.text for document in written()[::200]]

    def found_by(recognizer: TaggerRecognizer) -> dict[tuple[int, Span, EntityType], Finding]:
        return {
            (number, one.span, one.entity_type): one
            for number, text in enumerate(texts)
            for one in recognizer.recognize(Document(text, (), "text/plain"))
        }

    twice, first = found_by(tagger), found_by(once)
    assert {k for k, one in twice.items() if not one.is_doubtful} == {
        k for k, one in first.items() if not one.is_doubtful
    }
    assert first.keys() < twice.keys()
    for key, one in twice.items():
        if key in first:
            assert one.score == pytest.approx(first[key].score, abs=1e-4)  # in another batch of sentences
        else:
            assert not one.bits
            assert one.score <= MAX_DOUBTFUL


def test_a_city_in_a_column_counts_as_nobody(tagger: TaggerRecognizer) -> None:
    rows = (
        "name,dob,city,amount\nAnn Roy,1950-01-12,Boston,17\nGuy Marchand,1961-03-11,Windsor,4\n"
        "Yves Lee,1970-02-10,Ottawa,8\n"
    )
    people = [
        f for f in tagger.recognize(Document(rows, (), "text/csv")) if f.entity_type is EntityType.PERSON
    ]
    assert {f.span.of(rows) for f in people if not f.is_doubtful} == {"Ann Roy", "Guy Marchand", "Yves Lee"}
