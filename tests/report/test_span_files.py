"""Annotated documents in files: conventions of each format."""

from pathlib import Path

import pytest

from phiscan.errors import InputError
from phiscan.metrics.deidentification.span_formats import parse_brat
from phiscan.metrics.deidentification.spans import AnnotatedText, LabelledSpan
from phiscan.model import EntityType
from phiscan.report.spans.files import (
    TYPE_SETS,
    pair_documents,
    parse_i2b2,
    read_documents,
    read_type_map,
    read_vocabulary,
)

RECORD = """<?xml version="1.0" encoding="UTF-8"?>
<ROOT>
<RECORD ID="7">
<TEXT>
<PHI TYPE="ID">12 &amp; 3</PHI> ADMISSION <PHI TYPE="DATE">10/29</PHI>/1997
</TEXT>
</RECORD>
<RECORD ID="8"><TEXT>none</TEXT></RECORD>
</ROOT>"""


def test_reads_inline_records_as_the_text_between_the_tags() -> None:
    first, second = parse_i2b2("f.xml", "f", RECORD)
    assert first.name == "7"
    assert first.text == "\n12 & 3 ADMISSION 10/29/1997\n"
    assert [first.text[s.start : s.end] for s in first.spans] == ["12 & 3", "10/29"]
    assert (second.name, second.text, second.spans) == ("8", "none", ())


def test_reads_records_without_a_root_as_the_paper_prints_them() -> None:
    body = '<RECORD ID="1"><TEXT>a</TEXT></RECORD>\n<RECORD ID="2"><TEXT>b</TEXT></RECORD>'
    assert [item.name for item in parse_i2b2("f", "f", body)] == ["1", "2"]


def test_reads_standoff_tags_with_their_type_attribute() -> None:
    content = (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n'
        "<TEXT><![CDATA[Dr. May & <co>]]></TEXT>\n<TAGS>\n"
        '<NAME id="P0" start="4" end="7" text="May" TYPE="DOCTOR" comment="" />\n'
        '<AGE id="P1" start="8" end="9" text="x" />\n</TAGS>\n</deIdi2b2>'
    )
    (document,) = parse_i2b2("f.xml", "110-01", content)
    assert document == AnnotatedText(
        "110-01", "Dr. May & <co>", (LabelledSpan(4, 7, "DOCTOR"), LabelledSpan(8, 9, "AGE"))
    )


def test_passes_over_other_brat_annotations() -> None:
    content = "T1\tID 0 2\tab\nR1\tRel Arg1:T1 Arg2:T1\nA1\tNeg T1\n#1\tNote T1\tx\n"
    assert parse_brat("f", "f", content, "ab").spans == (LabelledSpan(0, 2, "ID"),)


def test_keeps_offsets_across_windows_line_ends(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\nMay\r\n")
    (tmp_path / "a.ann").write_bytes(b"T1\tPATIENT 5 8\tMay\r\n")
    document = read_documents(tmp_path, "brat")["a"]
    assert document.text is not None
    assert document.text[5:8] == "May"


def test_reads_a_folder_in_the_order_of_names(tmp_path: Path) -> None:
    for name in ("b", "a"):
        (tmp_path / f"{name}.xml").write_text("<d><TEXT>x</TEXT><TAGS/></d>")
    assert list(read_documents(tmp_path, "i2b2")) == ["a", "b"]


def test_counts_a_missing_document_as_one_without_spans() -> None:
    gold = {name: AnnotatedText(name, "text", (LabelledSpan(0, 4, "ID"),)) for name in "ab"}
    pairing = pair_documents(gold, {"b": AnnotatedText("b", None, ())}, Path("g"), Path("s"))
    assert pairing.missing == ("a",)
    assert [system.name for _, system in pairing.pairs] == ["a", "b"]


def test_reads_words_from_lists_and_dictionary_files(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_text("# source: us\nMay\tname\n\nNew York\n", encoding="utf-8")
    assert read_vocabulary(path) == {"May", "New", "York"}
    path.write_text("# only: comments\n", encoding="utf-8")
    with pytest.raises(InputError, match="expected one word per line"):
        read_vocabulary(path)


@pytest.mark.parametrize("target", TYPE_SETS)
def test_maps_every_type_of_the_screener(target: str) -> None:
    mapping = read_type_map(target)
    assert [kind for kind in EntityType if kind.value not in mapping] == []
    assert all(mapping[name] == name for name in set(mapping.values()))
    n_targets = {"hipaa": 17, "i2b2-2006": 8, "i2b2-2014": 7}[target]
    assert len(set(mapping.values())) == n_targets


def test_reads_standoff_tags_of_a_system_without_the_text() -> None:
    content = "<deIdi2b2><TAGS><NAME start='4' end='7' TYPE='DOCTOR'/></TAGS></deIdi2b2>"
    assert parse_i2b2("f", "a", content) == [AnnotatedText("a", None, (LabelledSpan(4, 7, "DOCTOR"),))]
    with pytest.raises(InputError, match="line 1: expected a TEXT element of plain text"):
        parse_i2b2("f", "a", "<d><TEXT>a<b/></TEXT><TAGS/></d>")
