"""Scanned texts: values and names are found as they were meant, with the span that they have in the text."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.model import Document, EntityType, Finding
from phiscan.normalize import ocr_places
from phiscan.normalize.ocr_line import Edit, Line
from phiscan.normalize.ocr_words import Vocabulary, skeleton
from phiscan.screen import Screener, screen
from phiscan.screen.recognizers import ocr
from phiscan.screen.recognizers.ocr import OcrRecognizer
from phiscan.screen.rules.definitions import load_rules
from tests.screen.whole import found, plain, rules, shipped

Read = Callable[[str], list[Finding]]


@pytest.fixture(scope="module")
def recognizer() -> OcrRecognizer:
    return next(one for one in shipped().recognizers if isinstance(one, OcrRecognizer))


@pytest.fixture(scope="module")
def read(recognizer: OcrRecognizer) -> Read:
    return lambda text: list(recognizer.recognize(Document(text, (), "")))


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("Tel: 4l6-555-Ol26", "PHONE", "4l6-555-Ol26"),
        ("home (8O7 ) 555-Ol26 today", "PHONE", "(8O7 ) 555-Ol26"),
        ("cell 5 5 5 - 0 1 4 2", "PHONE", "5 5 5 - 0 1 4 2"),
        ("cell 8 0 7 5 5 5 - O l 4 2", "PHONE", "8 0 7 5 5 5 - O l 4 2"),
        ("Fax 4l8 5 55-Ol 44  poste  33l", "FAX", "4l8 5 55-Ol 44  poste  33l"),
        ("seen O6/lO/24 in clinic", "DATE", "O6/lO/24"),
        ("DOB: l7 /O8/ l96l", "DATE_OF_BIRTH", "l7 /O8/ l96l"),
        ("née le l4 mars l934", "DATE_OF_BIRTH", "l4 mars l934"),
        ("on Ju|y l4, 2O23", "DATE", "Ju|y l4, 2O23"),
        ("vu le 4 rnars 2O24", "DATE", "4 rnars 2O24"),
        ("until Aug. lst, 2O22", "DATE", "Aug. lst, 2O22"),
        ("OHIP # 4822 9l6 O35", "HEALTH_CARD", "4822 9l6 O35"),
        ("NAM : TREM 85 5l l4 12", "HEALTH_CARD", "TREM 85 5l l4 12"),
        ("1EG4 -TE5 -MK7l", "HEALTH_PLAN", "1EG4 -TE5 -MK7l"),
        ("Halifax NS B3H 4Rl, 2O24", "POSTAL_CODE", "B3H 4Rl"),
        ("chart no O O 4 l 7 8 8 2", "MRN", "O O 4 l 7 8 8 2"),
        ("MRN V21-O992l3", "MRN", "V21-O992l3"),
        ("SSN 123-4S-67B8", "SSN", "123-4S-67B8"),
        ("Age 9l, l2O/8O", "AGE_OVER_89", "9l"),
        ("lives at l42 Queen Street, 3rd f1oor", "STREET_ADDRESS", "l42 Queen Street"),
        ("VIN 1HGCM82633AOO4352", "VEHICLE", "1HGCM82633AOO4352"),
        ("D0B: 3 May l9S2", "DATE_OF_BIRTH", "3 May l9S2"),
        ("RN    DEA  AB l2 34 5 63", "LICENSE", "AB l2 34 5 63"),
    ],
)
def test_finds_misread_values_at_their_offsets(read: Read, text: str, kind: str, value: str) -> None:
    found = {(f.entity_type.value, f.span.of(text)) for f in read(text)}
    assert (kind, value) in found


def test_finds_the_value_after_a_misread_label(read: Read) -> None:
    text = "PATlENT REGISTRATI0N\nCl1ent\nV1sit no 4471290\n0HIP 1234567897\nDr. Roy\n"
    found = {(f.entity_type.value, f.span.of(text)) for f in read(text)}
    assert {("ACCOUNT", "4471290"), ("HEALTH_CARD", "1234567897")} <= found or (
        ("MRN", "4471290") in found and ("HEALTH_CARD", "1234567897") in found
    )


def test_finds_a_column_with_its_head_far_above(read: Read) -> None:
    rows = "".join(f"Bed {n} | 10023{n:02d} | stable\n" for n in range(30))
    text = f"Ward list\n\nBed | MRN | State\n{rows}Bed 31 | 1OO23l8 | stable\n"
    assert ("MRN", "1OO23l8") in {(f.entity_type.value, f.span.of(text)) for f in read(text)}


@pytest.mark.parametrize(
    "text",
    [
        "Give lO mg at O8OO, 2.5rng bid, l5O ml/h, 2l O2 by prongs; BP l2O/8O, pain 3/lO.",
        "ICD I5O.33, I10, O80.1, B12 low, HbA1c 6.1, H1N1, CO2 4l, T1 image, L4-L5, S1 root, IL-6.",
        "Call 416-555-0126 on March 3, 2018 about chart no 4471290.",
        "All I did in 19 I did at 4 I. O, I see.",
        "key 3fO1lI0o9SBZ and bG9sb2xPMTIzSWw0 or 65e9d5ba-f10e-428c-b8de-854da0l1",
        "CAREEVOLUTION^00Z0000024^CLIA, lot 12B4567890, SpO2 95 GCS l5",
        "A | B\n1|2\n3|4\nname|1234567|x\n",
        "",
    ],
)
def test_finds_nothing_where_nothing_was_misread_or_nothing_identifies(read: Read, text: str) -> None:
    assert read(text) == []


def test_is_left_out_with_the_expensive_recognizers() -> None:
    kinds = [type(one) for one in shipped().without_names().recognizers]
    assert OcrRecognizer in [type(one) for one in shipped().recognizers]
    assert OcrRecognizer not in kinds


def test_the_whole_wins_over_a_part_by_the_same_rule() -> None:
    assert found("seen Dec 9  2O2O") == {("DATE", "Dec 9  2O2O")}


def test_a_finding_has_less_confidence_and_a_reason(read: Read) -> None:
    clear = rules().recognize(Document("seen 06/10/2024 in", (), ""))
    (clean,) = (f for f in clear if f.source == "date.numeric.1")
    (found,) = (f for f in read("seen O6/lO/2O24 in") if f.source == clean.source)
    assert found.score < clean.score
    assert (found.reasons[-1].kind, found.reasons[-1].detail) == ("misread", "characters")
    assert "O6" not in repr(found)


def test_long_lines_and_many_lines_are_read_in_parts(monkeypatch: pytest.MonkeyPatch, read: Read) -> None:
    monkeypatch.setattr(ocr, "BATCH_CHARS", 300)
    monkeypatch.setattr(ocr_places, "MAX_LINE_CHARS", 400)
    for text in (
        "Tel: 4l6-555-Ol26; " * 60,
        "Tel: 4l6-555-Ol26\n" * 60,
        "none\n" * 900 + "Tel: 4l6-555-Ol26",
    ):
        found = {f.span for f in read(text) if f.span.of(text) == "4l6-555-Ol26"}
        assert len(found) == text.count("Tel"), text[:30]


PIECES = st.sampled_from(
    ["Te1: ", "4l6-555-Ol26", "O6/lO/24", " l4 rnars ", "5 5 5 - 0 1 4 2", "  ", "\n", "\n\n", "\r\n", "|",
     " | ",
     "MRN", "33 O7l82", "😀", "é", "𝒳", "lO mg", "1EG4 -TE5 -MK7l", "B0V lA0", "Wi1liam St", "\t", "lst",  # noqa: RUF001 (beyond the basic plane)
     "(8O7 ) 555",
     # With one misread character each.
     "902-S55-0117", "14 Novembcr 2023", "Policy numbcr: ", "44187720", "a,b,", "Phonc,DOB,x\n", "le 31 moi",
     "NS 83H 4R1", "9Z-year-old", "s/u 77l82", "2c Rang"]
)  # fmt: skip


@settings(max_examples=60, deadline=None)
@given(pieces=st.lists(st.one_of(PIECES, st.text(max_size=4)), max_size=20))
def test_every_span_is_in_the_text(recognizer: OcrRecognizer, pieces: list[str]) -> None:
    text = "".join(pieces)
    shifted = "😀 é\n\n" + text
    spans = []
    for document in (text, shifted):
        found = list(recognizer.recognize(Document(document, (), "")))
        spans.append({(f.source, f.span.of(document)) for f in found})
        for finding in found:
            assert 0 <= finding.span.start < finding.span.end <= len(document)
            assert finding.span.of(document) == finding.span.of(document).strip()
    assert spans[0] <= spans[1] or len(recognizer.places_of(text)) < ocr_places.MIN_PLACES


@given(text=st.text(max_size=30), data=st.data())
def test_edits_keep_the_offset_of_every_character(text: str, data: st.DataObject) -> None:
    line = Line.of("é😀" + text, 2, 2 + len(text))
    for _ in range(3):
        cuts = sorted(data.draw(st.sets(st.integers(0, len(line.text)), max_size=6)))
        pairs = [(a, b) for a, b in zip(cuts[::2], cuts[1::2], strict=False) if a < b]
        line = line.edited([Edit(a, b, data.draw(st.text(max_size=3))) for a, b in pairs])
        assert len(line.text) == len(line.starts) == len(line.ends) == len(line.changed)
        for char, start, end, changed in zip(line.text, line.starts, line.ends, line.changed, strict=True):
            assert 2 <= start < end <= 2 + len(text)
            assert changed or ("é😀" + text)[start:end] == char
        assert list(line.starts) == sorted(line.starts)


@pytest.mark.parametrize(
    ("word", "meant"),
    [("Te1", "Tel"), ("0HIP", "OHIP"), ("PATlENT", "PATIENT"), ("Adrnit", "Admit"), ("B1rth", "Birth"),
     ("NPl", "NPI"), ("Farnily", "Family"), ("H0SPITAL", "HOSPITAL"), ("Ju|y", "July"),
     ("fevrIer", "fevrier"), ("corner", "corner"), ("born", "born"), ("Bern", "Bern"), ("clinic", "clinic"),
     ("H1N1", "H1N1"), ("Il", "Il"), ("B12", "B12"), ("morning", "morning"), ("Hawthorne", "Hawthorne"),
     ("McIntyre", "McIntyre")],
)  # fmt: skip
def test_misread_words_are_corrected_and_other_words_are_not(word: str, meant: str) -> None:
    contexts = load_rules().contexts.values()
    vocabulary = Vocabulary([((*words.labels, *words.headers), words.near) for words in contexts])
    line = vocabulary.corrected(Line.of(word, 0, len(word)), bars=True)
    assert line.text == meant
    assert skeleton(word) == skeleton(meant)


def test_repeats_no_long_heads_for_each_of_many_short_lines() -> None:
    def shouted(line: Line, *, bars: bool) -> tuple[Line, ...]:
        assert bars  # a text without tables
        return (line.edited([Edit(0, 1, "X")] if line.text.startswith("0") else []),)

    text = f"{'head ' * 700}\n" * 2 + "plain\n0afor\n" * 300
    places = [place for place, char in enumerate(text) if char == "0"]
    read = [batch.text() for batch in ocr.batches(text, places, shouted, ("test",))]
    assert sum(map(len, read)) < (ocr.MAX_CONTEXT + 2) * len(text)
    assert sum(batch.count("Xafor") for batch in read) == len(places)
    assert read[0].count("head head") > 1


@given(st.lists(st.sampled_from(["a", "\n", "\n\n", "lO "]), max_size=40), st.data())
def test_a_line_is_in_the_block_after_the_last_empty_line(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    letters = [place for place, char in enumerate(text) if char != "\n"]
    places = sorted(data.draw(st.sets(st.sampled_from(letters), max_size=2)) if letters else [])
    for block, start, _ in ocr_places.lines_with(text, places):
        assert block == (text.rfind("\n\n", 0, start) + 2 if "\n\n" in text[:start] else 0)


_NAMES = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL}
_SCAN = "\nTel: 4l6-555-Ol26   Fax 4l6-555-Ol27\nseen O6/lO/2O24, chart no O O 4 l 7 8 8 2\n"


def _names(text: str, screener: Screener | None = None) -> list[tuple[str, bool]]:
    findings = screen(plain(text), screener or shipped()).findings
    return [
        (f.span.of(text), any((r.kind, r.detail) == ("misread", "names") for r in f.reasons))
        for f in findings
        if f.entity_type in _NAMES
    ]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Patient: Mu11ins, Darre1", "Mu11ins, Darre1"),
        ("Pat ient:  Beau1ieu , Fernande", "Beau1ieu , Fernande"),
        ("Patient: 0kafor, Ngozi", "0kafor, Ngozi"),
        ("Mme  Huguette  Labr ecque", "Huguette  Labr ecque"),
        ("Re: Rarnirez, J0sé", "Rarnirez, J0sé"),
        ("Dear Mr. Yel lowtail,", "Yel lowtail"),
        ("Dr. Katherine Mac Do nald", "Katherine Mac Do nald"),
    ],
)
def test_finds_a_misread_name_where_it_stands(line: str, name: str) -> None:
    found = dict(_names(line + _SCAN))
    assert any(name in value or value in name for value in found), line
    assert sum(len(value) for value in found if value in name or name in value) >= len(name) - 4, line


@pytest.mark.parametrize(
    "line", ["The odor of the ward", "grade A pples and 0ranges", "hepatitis B oth tirnes"]
)
def test_makes_no_name_of_misread_words(line: str) -> None:
    assert not [value for value, is_misread in _names(line + _SCAN) if is_misread], line


def test_is_left_out_where_names_are_not_searched() -> None:
    text = f"Patient: Mu11ins, Darre1{_SCAN}"
    assert _names(text)
    assert not _names(text, shipped().without_names())
