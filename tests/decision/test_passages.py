from hypothesis import given
from hypothesis import strategies as st

from phiscan.decision.passages import MAX_STARTS, MAX_UNIT_CHARS, runs, units_of

LINES = st.lists(st.text(alphabet="ab .\n", min_size=0, max_size=60), max_size=12).map("\n".join)


def passages(text: str, marked: str) -> list[str]:
    """Return the passages of a text in which evidence stands wherever ``marked`` does."""
    places = [index for index in range(len(text)) if text.startswith(marked, index)]
    return [text[start:end] for start, end in runs(*units_of(text), places)]


def test_units_are_lines_and_the_sentences_of_long_lines() -> None:
    sentence = "He was seen and sent home again. "
    starts, ends = units_of(f"short line\n\n{sentence * 20}\n")
    assert (starts[0], ends[0]) == (0, 10)
    assert all(ends[1:] - starts[1:] <= len(sentence))


@given(st.text(max_size=500))
def test_units_do_not_overlap_and_cover_all_that_is_not_white_space(text: str) -> None:
    starts, ends = units_of(text)
    assert all(ends[:-1] <= starts[1:])
    assert all(ends > starts)
    covered = set()
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        covered |= set(range(start, end))
    lines_with_text = {
        at for at, char in enumerate(text) if not char.isspace() and not _line_at(text, at).isspace()
    }
    assert lines_with_text <= covered


def _line_at(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : (text + "\n").find("\n", at)]


@given(LINES, LINES)
def test_text_around_a_passage_takes_no_passage_of_one_line_away(before: str, behind: str) -> None:
    kept = "Xname has asthma"
    assert kept in passages(f"{before}\n{kept}\n{behind}", "X")


def test_a_passage_begins_and_ends_with_evidence() -> None:
    text = "nothing\nX one\nnothing\nX two\nnothing\n"
    assert set(passages(text, "X")) == {"X one", "X one\nnothing\nX two", "X two"}


def test_a_text_without_evidence_has_no_passage() -> None:
    assert passages("nothing here\n", "X") == []
    assert runs(*units_of(""), []) == []


def test_the_number_of_passages_is_bounded() -> None:
    text = "X line\n" * (5 * MAX_STARTS)
    starts = {start for start, _ in runs(*units_of(text), range(0, len(text), 7))}
    assert len(starts) <= MAX_STARTS
    assert 0 in starts


def test_a_long_line_without_a_sentence_is_cut() -> None:
    starts, ends = units_of("a" * 1000)
    assert max((ends - starts).tolist()) <= MAX_UNIT_CHARS
