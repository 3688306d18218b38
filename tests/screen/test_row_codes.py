import re

import pytest

from phiscan.model import EntityType, Finding, Span, bits_of
from phiscan.screen.recognizers.identifiers.table_numbers import row_codes

_NAME = re.compile(r"Roy|Diallo|Nguyen|Cyr")
NAMES = ("Roy", "Diallo", "Nguyen", "Cyr")


def found(text: str) -> list[tuple[EntityType, str]]:
    kind = EntityType.PERSON
    people = [
        Finding(Span(*match.span()), kind, "test", 0.8, bits_of(kind), ()) for match in _NAME.finditer(text)
    ]
    return [(finding.entity_type, finding.span.of(text)) for finding in row_codes(text, people)]


def rows(values: tuple[str, ...], delimiter: str = ";", names: tuple[str, ...] = NAMES) -> str:
    return "\n".join(delimiter.join((name, value, "x")) for name, value in zip(names, values, strict=True))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (("1049927", "1051180", "0988123", "1062294"), EntityType.MRN),
        (("473882210", "471039964", "468770183", "470559012"), EntityType.HEALTH_CARD),
        (("G-55102", "G-40077", "G-61908", "G-33890"), EntityType.OTHER_ID),
        (("4185550122", "4185550139", "5815550118", "4185550155"), EntityType.PHONE),
        (("88-2017", "90-4410", "71-0093", "90-4418"), EntityType.MRN),
    ],
)
@pytest.mark.parametrize("delimiter", [";", "\t", " | "])
def test_takes_a_column_beside_people_for_their_numbers(
    values: tuple[str, ...], kind: EntityType, delimiter: str
) -> None:
    assert found(rows(values, delimiter)) == [(kind, value) for value in values]


@pytest.mark.parametrize(
    "values",
    [
        ("20240307", "20240308", "20240311", "20240312"),  # days
        ("125000", "118000", "104000", "990000"),  # sums
        ("1049927", "51180", "988123", "12"),  # of no one form
        ("1049927", "1049927", "1049927", "1049927"),  # one and the same
        ("99213", "99214", "99203", "99204"),  # codes of procedures
        ("2410.00", "2288.00", "1422.00", "1118.27"),
    ],
)
def test_leaves_days_sums_and_codes(values: tuple[str, ...]) -> None:
    assert found(rows(values)) == []


@pytest.mark.parametrize(("head", "is_found"), [("Nom;DIN;Note", False), ("Nom;A1;Note", True)])
def test_reads_the_header_if_there_is_one(head: str, *, is_found: bool) -> None:
    text = f"{head}\n{rows(('1049927', '1051180', '0988123', '1062294'))}"
    assert bool(found(text)) is is_found


def test_asks_for_four_rows_that_name_people() -> None:
    values = ("1049927", "1051180", "0988123", "1062294")
    assert found(rows(values, names=("Roy", "Diallo", "Nguyen", "Shelf"))) == []
    assert found("") == []


def test_keeps_quoted_cells_whole_and_leaves_other_findings() -> None:
    text = "\n".join(
        f'"{name}, A",{value},x'
        for name, value in zip(NAMES, ("104992", "105118", "098812", "106229"), strict=True)
    )
    assert [value for _, value in found(text)] == ["104992", "105118", "098812", "106229"]
    start = text.index("105118")
    other = Finding(Span(start, start + 6), EntityType.ACCOUNT, "test", 0.8, bits_of(EntityType.ACCOUNT), ())
    people = [
        Finding(Span(*match.span()), EntityType.PERSON, "test", 0.8, bits_of(EntityType.PERSON), ())
        for match in _NAME.finditer(text)
    ]
    both = sorted([*people, other], key=lambda finding: finding.span.start)
    assert "105118" not in [finding.span.of(text) for finding in row_codes(text, both)]


@pytest.mark.parametrize(
    ("before", "behind"), [(f"Roy {'x' * 9000}\n", f"\n{'x' * 9000} Roy"), (f"{'x' * 9000};DIN;Note\n", "")]
)
def test_passes_over_lines_that_are_too_long_for_a_row_or_for_heads(before: str, behind: str) -> None:
    values = ("1049927", "1051180", "0988123", "1062294")
    assert [value for _, value in found(f"{before}{rows(values)}{behind}")] == list(values)


def test_rows_set_with_spaces_have_columns() -> None:
    rows = [f"Roy, Ann{letter}    {204418 + 7 * number}    seen" for number, letter in enumerate("abcde")]
    text = "\n".join(rows)
    people = []
    start = 0
    for row in rows:
        span = Span(start, start + 9)
        people.append(Finding(span, EntityType.PERSON, "test", 0.8, bits_of(EntityType.PERSON), ()))
        start += len(row) + 1
    found = [finding.span.of(text) for finding in row_codes(text, people)]
    assert found == [str(204418 + 7 * number) for number in range(5)]
