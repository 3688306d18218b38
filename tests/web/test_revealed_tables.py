"""Revealed rows as tables: every value once, in its column and at its place in the text."""

from phiscan.extract.spreadsheets.rows import lay_out
from phiscan.model import Segment
from phiscan.web.routes.reveal import Block, MailHeaders, Part, RevealedTable, reveal_view, with_tables
from phiscan.web.work_query import ListQuery
from tests.web.test_pages import item

ROWS = [
    ["Name", "Phone", "Diagnosis"],
    ["Roy", "613-555-0101", "asthma: mild"],
    ["Okafor", "", "diabetes"],
    ["Chen", "613-555-0103", "COPD"],
]


def parts_of(rows: list[list[str]], found: list[str]) -> tuple[str, tuple[Part, ...]]:
    text, segments = "Note\n", [Segment("#p1", 0, 4)]
    for number, line in lay_out(enumerate(rows, 1)):
        segments.append(Segment(f"#row{number}", len(text), len(text) + len(line)))
        text += line + "\n"
    spans = sorted((text.index(one), text.index(one) + len(one), "PHONE") for one in found)
    view = reveal_view(item(), text, segments, spans, query=ListQuery(), purpose="x", start=0)
    return text, with_tables(text, view["blocks"], spans)


def test_rows_of_labelled_cells_are_a_table_with_roles() -> None:
    text, parts = parts_of(ROWS, ["613-555-0101", "613-555-0103"])
    assert [type(part).__name__ for part in parts] == ["Block", "Block", "RevealedTable"]
    table = parts[-1]
    assert isinstance(table, RevealedTable)
    assert [one.label for one in table.columns] == ["Name", "Phone", "Diagnosis"]
    assert [bool(one.role) for one in table.columns] == [False, True, False]
    laid = [
        ["".join(one.text for one in cell.stretches) if cell else "" for cell in cells]
        for _, cells in table.rows
    ]
    assert laid == ROWS[1:]
    for _, cells in table.rows:
        for cell in cells:
            if cell is not None:
                value = "".join(one.text for one in cell.stretches)
                assert text[cell.start : cell.start + len(value)] == value
    marks = [one for _, cells in table.rows for cell in cells if cell for one in cell.stretches]
    assert [one.position for one in marks if one.position is not None] == [0, 1]


def test_rows_of_another_form_stay_as_they_are() -> None:
    _, parts = parts_of([["one", "two"], ["three", "four"]], [])
    assert all(isinstance(part, Block) for part in parts)


def test_one_row_alone_is_no_table() -> None:
    text, parts = parts_of(ROWS[:2], [])
    assert all(isinstance(part, Block) for part in parts)
    assert "".join(one.text for part in parts if isinstance(part, Block) for one in part.stretches) == text


def test_the_head_of_a_mail_is_a_list_of_fields() -> None:
    head = "X-Mailer: any\nFrom: Ann Roy <ann@example.org>\nSubject: bed\n for Thursday\nTo: ward"
    text = head + "\nHi,\nnote: call"
    segments = [Segment("#headers", 0, len(head)), Segment("a.eml!/b.eml#body", len(head) + 1, len(text))]
    span = text.index("Ann Roy"), text.index(" <"), "PERSON"
    view = reveal_view(item(), text, segments, [span], query=ListQuery(), purpose="x", start=0)
    parts = with_tables(text, view["blocks"], [span])
    assert isinstance(parts[0], MailHeaders)
    first = [(name, "".join(one.text for one in cell.stretches)) for name, cell in parts[0].first]
    assert first == [("From", "Ann Roy <ann@example.org>"), ("To", "ward"), ("Subject", "bed\n for Thursday")]
    assert [name for name, _ in parts[0].others] == ["X-Mailer"]
    for _, cell in (*parts[0].first, *parts[0].others):
        value = "".join(one.text for one in cell.stretches)
        assert text[cell.start : cell.start + len(value)] == value
    assert [one.position for _, cell in parts[0].first for one in cell.stretches] == [0, None, None, None]
    assert isinstance(parts[1], Block)
