"""What the pages are made of: filters in addresses, masked strips, revealed text, packs, messages."""

import itertools
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastapi import FastAPI
from hypothesis import given
from hypothesis import strategies as st

from phiscan.config import config_of
from phiscan.errors import ConfigError
from phiscan.model import EntityType, FailReason, Segment, Span, StoredTerm, UnreadPart
from phiscan.pipeline.rereading.masked_passages import Kind, MaskedPiece
from phiscan.report.regulators import read_organization
from phiscan.review.store import Store
from phiscan.review.worklist.model import FileRecord, WorkFilter, WorkOrder, WorkState
from phiscan.web import pages as notice
from phiscan.web import report_builds as packs
from phiscan.web.pages import _commands
from phiscan.web.plain_words import locator_words
from phiscan.web.routes.item import masked_lines
from phiscan.web.routes.reveal import reveal_view, shown
from phiscan.web.routes.several import GroupSample, compared
from phiscan.web.work_query import ListQuery, read_string
from tests.review.desk import scanned
from tests.review.results import NOW, finding, pii_only, referred, scan
from tests.web.conftest import Visit

WEB = Path(packs.__file__).parent
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Zs", "Zl", "Zp"]), max_size=20)
filters = st.builds(
    WorkFilter,
    state=st.sampled_from(WorkState),
    root_id=st.none() | st.integers(1, 99),
    folder=words.map(lambda text: text.strip("/")),
    media_type=words,
    entity_type=st.none() | st.sampled_from(EntityType),
    min_score=st.none() | st.floats(0, 1),
    max_score=st.none() | st.floats(0, 1),
    owner=words,
    assignee=st.none() | st.just("") | words.filter(lambda text: text not in {"", "-"}),
    new=st.booleans(),
    group_id=st.none() | st.integers(1, 99),
    suppressed=st.booleans(),
    text=words,
)


@given(filters, st.sampled_from(WorkOrder))
def test_an_address_says_the_whole_filter(wanted: WorkFilter, order: WorkOrder) -> None:
    query = ListQuery(wanted, order)
    assert read_string(query.to_string()) == query


@given(st.text(st.characters(exclude_categories=[])))
def test_revealed_text_shows_one_character_for_each(text: str) -> None:
    assert len(shown(text)) == len(text)
    seen = shown(text.replace("\r\n", "\n"))  # as one place, a line end is two: the first has no width
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200b\u200e\u200f\u202a-\u202e\u2066-\u2069]", seen)
    assert seen.encode("utf-8").decode("utf-8") == seen


def item() -> FileRecord:
    return FileRecord(**dict.fromkeys(FileRecord.__dataclass_fields__) | {"path": "a/b.txt", "root": "/s"})


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(0, 70))
def test_every_character_of_a_text_is_shown_once_and_in_its_place(cuts: list[int], start: int) -> None:
    text = "".join(chr(0x4E00 + number) for number in range(60))
    ends = sorted({0, 60, *cuts})
    segments = [Segment(f"#line{n}", a, b) for n, (a, b) in enumerate(itertools.pairwise(ends))]
    spans = [(a, min(a + 4, 60), "PERSON") for a in ends if a < 60]
    view = reveal_view(item(), text, segments, spans, query=ListQuery(), purpose="x", start=start)
    for block in view["blocks"]:
        joined = "".join(one.text for one in block.stretches)
        assert text[block.start : block.start + len(joined)] == joined
    assert "".join(one.text for block in view["blocks"] for one in block.stretches) == text[view["start"] :]


def test_strips_hold_shapes_terms_and_gaps_in_text_order() -> None:
    found = (finding("613-555-0199", start=4), finding("613-555-0123", start=40))
    (strip,) = masked_lines(found, (StoredTerm("C0011849", 2, Span(20, 28), "#p1"),))
    assert strip.where == "page 1"
    assert [piece.kind for piece in strip.pieces] == ["id", "gap", "term", "gap", "id"]
    assert [piece.label for piece in strip.pieces if piece.kind == "gap"] == ["4", "12"]
    assert strip.pieces[0].shape == "999-999-9999"


def test_words_that_are_not_in_every_sample_are_marked() -> None:
    samples = [
        GroupSample(
            item(), ((MaskedPiece(Kind.TEXT, text), False), (MaskedPiece(Kind.FINDING, "", 0, kind), False))
        )
        for text, kind in (("Dear mother", EntityType.DATE), ("Dear father", EntityType.PHONE))
    ]
    one, other = compared(samples)
    assert [(piece.text, differs) for piece, differs in one.pieces] == [
        *(("Dear", False), (" ", False), ("mother", True)),
        ("", True),
    ]
    assert one.n_differing == other.n_differing == 2


def test_a_number_sign_in_a_name_is_no_place() -> None:
    assert locator_words("room #4.zip!/a.txt").endswith("a.txt")
    assert locator_words("a.zip!/no #4.txt").endswith("no #4.txt")


def test_only_packs_can_be_downloaded(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret")
    folder, pack = tmp_path / "reports", "20261120T083000Z-scan1.zip"
    folder.mkdir()
    (folder / "phiscan.db").write_text("x")
    (folder / pack).symlink_to(tmp_path / "key")
    for name in ("../key", "phiscan.db", f"{pack}.new", f"{pack}/..", "", pack):
        assert packs.Packs(folder).path(name) is None


def test_a_pack_of_a_scan_that_is_not_there_is_not_found(browser: Visit) -> None:
    answer = browser("lead").post("/reports", data={"scan": "99"})
    assert answer.status_code == 404
    assert "there is no such scan" in answer.text


@pytest.mark.usefixtures("report_here")
def test_a_pack_that_cannot_be_made_says_why(tmp_path: Path) -> None:
    made = packs.Packs(tmp_path / "reports")
    url = f"sqlite:///{tmp_path / 'none.db'}"
    assert made.begin(packs.ReportRequest(url, 1, datetime(2026, 11, 20, tzinfo=UTC)))
    with made._making:
        pass
    assert "no such database" in made.problem
    assert made.listed() == ()


def test_every_message_that_a_route_names_exists() -> None:
    named = {
        word
        for path in WEB.rglob("*.py")
        for word in re.findall(r"(?:said|unsent)=(?:f?\")?([a-z_]+)\"", path.read_text(encoding="utf-8"))
    }
    assert len(named) > 15
    assert named <= set(notice.NOTICES)


def test_of_many_findings_the_first_ones_are_shown() -> None:
    found = [finding(f"613-555-{number:04}", start=20 * number) for number in range(9)]
    term = StoredTerm("asthma", 1, Span(170, 176), "#p1")
    (line,) = masked_lines(found, [term], most_findings=2)
    assert [piece.position for piece in line.pieces if piece.position is not None] == [0, 1]
    assert [piece.kind for piece in line.pieces][-1] == "term"
    (whole,) = masked_lines(found, [term])
    assert [piece.position for piece in whole.pieces if piece.position is not None] == list(range(9))


def test_a_file_of_the_second_list_has_a_page_that_only_shows(store: Store, browser: Visit) -> None:
    marked = replace(pii_only("d/marked.txt"), second_look=True, probability=0.011)
    sampled = UnreadPart("#rest", FailReason.SAMPLED, "not screened: 97 % of its text (97 of 100 characters)")
    scan(store, [marked, replace(referred("d/long.csv"), unread=(sampled,))], minutes=5)
    number = store.find("d/marked.txt")
    client = browser("reader")
    assert f"/items/{number}" in client.get("/second-list").text
    page = client.get(f"/items/{number}")
    assert page.status_code == 200
    assert "under the threshold of referral" in page.text
    assert "0.011" in page.text
    assert "999-999-9999" in page.text
    assert 'name="verdict"' not in page.text
    assert client.get("/items/99999").status_code == 404
    long = client.get(f"/items/{store.find('d/long.csv')}").text
    assert "Read in samples" in long
    assert "97 % of its text" in long
    assert "may contain more" not in long
    assert "Read in samples" in client.get("/scans").text


def test_a_scan_names_the_file_that_is_read(browser: Visit, store: Store) -> None:
    client = browser("auditor")
    assert "Being read now" not in client.get("/scans").text
    state = store.begin_scan([b"/share"], versions={}, options={}, now=NOW)
    store.record(state.id, "versions", [], reading="/share/a/<b>.txt")
    page = client.get(f"/scans/{state.id}").text
    assert "Being read now" in page
    assert "/share/a/&lt;b&gt;.txt" in page


def test_the_definition_of_the_site_is_beside_the_verdict(
    app: FastAPI, browser: Visit, tmp_path: Path
) -> None:
    source, (number, *_rest) = str(tmp_path / "phiscan.toml"), scanned(app.state.desk.store, 2)
    given = {"organization": {"definition_file": "definition.txt"}}
    with pytest.raises(ConfigError, match=r"organization\.definition_file: expected the name of a text file"):
        read_organization(config_of(given, source))
    (tmp_path / "definition.txt").write_text("PHI is\na <name> with a diagnosis.\n")
    organization = read_organization(config_of(given, source))
    assert "What counts as PHI here" not in browser("reviewer").get(f"/items/{number}").text
    app.state.desk = replace(app.state.desk, organization=organization)
    page = browser("reviewer").get(f"/items/{number}").text
    assert "What counts as PHI here" in page
    assert "PHI is<br>a &lt;name&gt; with a diagnosis." in page


def test_a_command_in_a_sentence_is_code_that_is_escaped() -> None:
    assert str(_commands("no <sample>; `phiscan queue draw --queued 50` draws one")) == (
        'no &lt;sample&gt;; <code><span class="nowrap">phiscan</span> <span class="nowrap">queue</span> '
        '<span class="nowrap">draw</span> <span class="nowrap">--queued</span> <span class="nowrap">50</span>'
        "</code> draws one"
    )
