"""Texts as they are meant: escapes, URLs and mail, dumps of SQL, ruled listings; and the way back."""

import pytest

from phiscan.model import Document, Segment
from phiscan.normalize.text_view import normalized
from tests.screen.whole import found, screened

TABLE = "CREATE TABLE pt (id int NOT NULL, nom varchar(60) DEFAULT '', PRIMARY KEY (id));\n"


def meant(text: str) -> str:
    read = normalized(Document(text, (), "text/plain"))
    return text if read is None else read.document.text.removesuffix("\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<nom>B&eacute;dard</nom>", "<nom>Bédard</nom>"),
        ("O&#39;Shea &#x26; L&#233;a&nbsp;Roy", "O'Shea & Léa Roy"),
        ('{"nom":"G\\u00e9linas"}', '{"nom":"Gélinas"}'),
        ('esc = "Gagn\\u00e9"', 'esc = "Gagné"'),
        ('{"w":"\\ud83d\\ude00 ok"}', '{"w":"\U0001f600 ok"}'),
        ('send {\\"to\\":\\"Ann\\",\\"t\\":\\"a\\nb\\"}', 'send {"to":"Ann","t":"a\nb"}'),
        ("GET /x?pt=Googoo%2C+No%C3%ABl&n=1 HTTP", "GET /x?pt=Googoo, Noël&n=1 HTTP"),
        ("scan/Ann%20Roy%20(2).pdf", "scan/Ann Roy (2).pdf"),
        ("INSERT INTO `p` (`id`, `nom`) VALUES (1,'D\\'Amours'),(2,NULL);", "\nid\tnom\n1\tD'Amours\n2\t\n;"),
        ("insert into dbo.pt ([id],[nom]) values (1, N'L''Heureux')", "\nid\tnom\n1\tL'Heureux\n"),
        ("INSERT INTO pt VALUES (1,'a,b (c)');", "\n\n1\ta,b (c)\n;"),
        ("INSERT OR IGNORE INTO pt(id,d) VALUES(1,to_date('x'))", "\nid\td\n1\tto_date('x')\n"),
        ("REPLACE INTO pt (a) VALUES ('x\ny');", "\na\nx y\n;"),
        ("INSERT INTO \"pt\" VALUES(X'00',-1.5);", "\n\nX'00',-1.5);"),
        (
            'COPY public.pt (id, "nom", tel) FROM stdin;\n1\tRoy\t\\N\n2\t\\N\t7\n\\.\n',
            "\nid\tnom\ttel\n1\tRoy\t\n2\t\t7\n\\.\n",
        ),
        ("INSERT INTO pt (a) VALUES ('cut off", "\na\n'cut off"),
        ("INSERT INTO pt (a) SELECT 1", "INSERT INTO pt (a) SELECT 1"),
    ],
)  # fmt: skip
def test_reads_escapes_and_rows_of_dumps(text: str, expected: str) -> None:
    assert meant(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "R&D; AT&T", "C:\\new\\table\\u", "50%20 of 7", "a = b", "x=20", "see https://a.example/?u=http%3A%2F%2Fb+c",
        "insert into the vein", "replace into: none", "LIKE '%AB%'", "&unknownsign;", "a\\b", "1+1=2", "km%2",
        'path "C:\\notes\\roy.txt"',
    ],
)  # fmt: skip
def test_leaves_other_text(text: str) -> None:
    assert meant(text) == text


def test_names_columns_as_the_table_was_created() -> None:
    row = "INSERT INTO pt VALUES (7,'Roy');"
    assert meant(TABLE + row) == f"{TABLE}\nid\tnom\n7\tRoy\n;"


def test_puts_findings_back() -> None:
    text = (
        "-- dump\nINSERT INTO `usager` (`nom`,`prenom`,`ddn`,`tel`) VALUES "
        "('D\\'Amours','Ren\\u00e9e','1938-06-17','4185550122'),\n('Okafor','Chidi','1995-10-03',NULL);\n"
    )
    findings = screened(text).findings
    assert list(findings) == sorted(findings, key=lambda finding: finding.span.start)
    assert found(text) >= {
        ("PERSON", "D\\'Amours"), ("PERSON", "Ren\\u00e9e"), ("DATE_OF_BIRTH", "1938-06-17"),
        ("PHONE", "4185550122"), ("PERSON", "Okafor"), ("PERSON", "Chidi"), ("DATE_OF_BIRTH", "1995-10-03"),
    }  # fmt: skip


def test_moves_segments_along() -> None:
    text = "Dr L&eacute;vesque\nMRN 0044188\n"
    segments = (Segment("line1", 0, 18), Segment("line2", 19, 30))
    read = normalized(Document(text, segments, "text/plain"))
    assert read is not None
    assert [read.document.text[s.start : s.end] for s in read.document.segments] == [
        "Dr Lévesque",
        "MRN 0044188",
    ]
    assert [s.locator for s in read.document.segments] == ["line1", "line2"]


def test_finds_in_one_word_what_stands_side_by_side() -> None:
    text = "GET /x?note=Patient%20Jean%20Tremblay%20tel%20613-555-0199 HTTP/1.1\n"
    findings = screened(text).findings
    assert [finding.entity_type.value for finding in findings] == ["PERSON", "PHONE"]
    assert findings[0].span.end <= findings[1].span.start
    assert all(finding.span.end - finding.span.start < 24 for finding in findings)


def test_heads_of_a_table_make_no_text_of_them() -> None:
    columns = ",".join(f"{'c' * 50}{number} int" for number in range(100))
    text = f"CREATE TABLE a ({columns});\n" + "INSERT INTO a VALUES (1);\n" * 500
    assert len(meant(text)) < 6 * len(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Name   No   X\n----   ---  -\nAnn R  12   3\nBo     14\n", "Name\tNo\tX\nAnn R\t12\t3\nBo\t14\t\n"),
        ("A   B   C\n=== === ===\n  1   2   3\n\nx y z", "A\tB\tC\n  1\t  2\t  3\n\nx y z"),
        ("A   B   C\r\n--- --- ---\r\n1   2   3\r\n", "A\tB\tC\r\n1\t2\t3\r\n"),
        ("NAME AGE MRN\n---- --- ----\nROY  092 7 18\n5 or.\n", "NAME\tAGE\tMRN\nROY\t092\t7 18\n5 or.\n"),
        ("A  B  C\n-- -- --\n   2  3\n", "A\tB\tC\n\t2\t3\n"),
    ],
)  # fmt: skip
def test_cuts_at_the_rule(text: str, expected: str) -> None:
    assert meant(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "--- --- ---\n1   2   3\n", "title across\n--- --- ---\nx", "A B\n- -\n1 2\n", "a\n-----\nb",
        "x --- y -- z",
        "\n-- -- --\n", "A   B   C\n--- --- --- end\n1   2   3\n",
    ],
)  # fmt: skip
def test_leaves_other_lines(text: str) -> None:
    assert meant(text) == text


def test_finds_cells_that_touch_under_their_heads() -> None:
    text = (
        "BED   NAME             MRN      MEDICARE#   ADM     ATTEND\n"
        "----- ---------------- -------- ----------- ------- --------\n"
        "301-1 ARSENEAULT HECTO 00441882 771 820 447 11NOV24 FOWLIE B\n"
        "301-2 SAVOIE MILDRED   00441890 118 207 441 14NOV24 DOIRON\n"
        "302-1 GALLANT WM       00440077 204 418 820 17NOV24 FOWLIE B\n"
    )
    findings = screened(text).findings
    found = {(f.entity_type.value, f.span.of(text)) for f in findings}
    assert found >= {
        ("MRN", "00441882"), ("MRN", "00441890"), ("MRN", "00440077"), ("HEALTH_CARD", "771 820 447"),
        ("HEALTH_CARD", "118 207 441"), ("HEALTH_CARD", "204 418 820"), ("DATE", "11NOV24"),
    }  # fmt: skip
