"""Records: HTML, XML, CDA, FHIR, HL7, X12, JSON and exports of chats, a line for each field."""

# ruff: noqa: E501 (a case is read best on one line, as its program writes it)

import json
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phiscan.extract.structured.json_records import labelled_lines
from phiscan.model import Document, FailReason

Read = Callable[..., Document]


def test_html_gives_visible_text_attributes_that_hold_names_and_scripts(read: Read) -> None:
    html = (
        "<html><head><title>Chart of Ann</title><meta name='author' content='Dr. Roy'><style>p{}</style>"
        "<script>var hidden = 'no'</script></head><body><p>Seen <b>to</b>day</p>"
        "<table><tr><td>Name</td><td>Lena</td></tr></table>"
        "<input name='hcn' value='1234567890'><img alt='face of Lena'><!-- note --></body></html>"
    )
    text = read(html.encode(), "a.html").text
    for words in (
        "Chart of Ann",
        "author: Dr. Roy",
        "Seen today",
        "Name\tLena",
        "hcn: 1234567890",
        "face of Lena",
        "var hidden = 'no'",
    ):
        assert words in text, words
    assert "p{}" not in text


def test_html_charset_declaration_is_used(read: Read) -> None:
    html = "<html><meta charset='windows-1251'><p>Иванов</p></html>".encode("cp1251")
    assert "Иванов" in read(html, "a.html").text


def test_xml_attributes_are_fields(read: Read) -> None:
    xml = b"<rows><row firstName='Ann' lastName='Roy' ssn='123-45-6788' code='2.16.840.1.113883'/></rows>"
    assert read(xml, "a.xml").text == "first Name: Ann\nlast Name: Roy\nssn: 123-45-6788\n"


def test_xml_text_behind_an_entity_or_an_instruction_is_read(read: Read) -> None:
    assert (
        read(b"<p>For Ren&eacute;e <b>Roy</b>&nbsp;today</p>", "a.xml").text
        == "p: For Ren\u00e9e Roy today\n"
    )
    assert "Ann Roy" in read(b"<p>Patient <?break here?>Ann Roy</p>", "a.xml").text


def test_cda_fields_get_their_labels(read: Read) -> None:
    xml = (
        '<?xml version="1.0"?><ClinicalDocument xmlns="urn:hl7-org:v3"><recordTarget><patientRole>'
        '<id root="2.16" extension="998-991"/><telecom value="tel:+1-416-555-0100"/><patient><name use="L">'
        '<given>Ann</given><family>Roy</family></name><birthTime value="19500102"/></patient></patientRole>'
        "</recordTarget><component><text>Seen for <content>asthma</content> today</text></component>"
        "</ClinicalDocument>"
    )
    text = read(xml.encode(), "cda.xml").text
    assert "Patient name: Ann Roy" in text
    assert "birth Time: 19500102" in text
    assert "id: 998-991" in text
    assert "telecom: +1-416-555-0100" in text
    assert "Seen for asthma today" in text


def test_fhir_fields_get_their_labels(read: Read) -> None:
    patient = {
        "resourceType": "Patient",
        "name": [{"family": "Roy", "given": ["Ann", "B"]}],
        "birthDate": "1950-01-02",
        "telecom": [{"system": "phone", "value": "416-555-0100"}],
        "identifier": [
            {"type": {"coding": [{"code": "MR", "display": "Medical Record Number"}]}, "value": "12345"}
        ],
    }
    text = read(json.dumps(patient).encode(), "p.json").text
    for line in (
        "name: Ann B Roy",
        "birth Date: 1950-01-02",
        "telecom phone: 416-555-0100",
        "identifier Medical Record Number: 12345",
    ):
        assert line in text.splitlines(), line


def test_ndjson_has_a_segment_per_line(read: Read) -> None:
    lines = "\n".join(json.dumps({"name": name}) for name in ("Ann", "Lena"))
    document = read(lines.encode(), "a.ndjson")
    assert document.locate(document.text.index("Lena")) == "#line2"


def test_broken_json_is_read_as_text(read: Read) -> None:
    document = read(b'{"name": "Ann Roy", ', "a.json")
    assert document.text == '{"name": "Ann Roy", \n'


def test_hl7_fields_get_their_names_beside_the_raw_message(read: Read) -> None:
    message = (
        "MSH|^~\\&|LAB|GH|||202401011200||ORU^R01|1|P|2.5.1\rPID|1||12345^^^GH^MR||SMITH^JOHN^Q||19500102|M|||"
        "1 MAIN ST^^LAVAL^QC^H7A1A1||(450)555-0100\rNK1|1|SMITH^MARY|SPO\rPV1|1|I|||||1234^WELBY^MARCUS\r"
    )
    text = read(message.encode(), "m.hl7").text
    for line in (
        "PID|1||12345^^^GH^MR||SMITH^JOHN^Q||19500102|M|||1 MAIN ST^^LAVAL^QC^H7A1A1||(450)555-0100",
        "Patient name: SMITH JOHN Q",
        "Date of birth: 19500102",
        "Patient identifier: 12345 GH MR",
        "Patient address: 1 MAIN ST LAVAL QC H7A1A1",
        "Next of kin name: SMITH MARY",
        "Attending doctor: WELBY MARCUS 1234",
    ):
        assert line in text.splitlines(), line


def test_x12_fields_get_their_names(read: Read) -> None:
    parties = f"ZZ*{'SENDER':<15}*ZZ*{'RECEIVER':<15}"
    header = f"ISA*00*{'':10}*00*{'':10}*{parties}*240101*1200*^*00501*000000001*0*P*:~"
    body = "NM1*IL*1*SMITH*JOHN*Q***MI*W123456789~DMG*D8*19500102*M~N3*1 MAIN ST~N4*LAVAL*QC*H7A1A1~"
    text = read((header + body).encode(), "claim.edi").text
    assert "Subscriber name: JOHN Q SMITH" in text
    assert "Subscriber identifier: W123456789" in text
    assert "Date of birth: 19500102" in text


def test_lone_surrogates_become_replacement_characters(read: Read) -> None:
    document = read(b'{"name": "Ann \\ud800 Roy", "face": "\\ud83d\\ude00"}', "a.json")
    document.text.encode()
    assert "Ann \ufffd Roy" in document.text
    assert "\U0001f600" in document.text


def test_a_json_key_that_is_a_value_is_kept_as_it_stands(read: Read) -> None:
    records = {"ann.roy@example.org": {"dx": "asthma"}, "Ann Marie Roy": {"dx": "x"}, "123-45-6788": None}
    lines = read(json.dumps(records).encode(), "a.json").text.splitlines()
    assert {"ann.roy@example.org", "Ann Marie Roy", "123-45-6788"} <= set(lines)
    fields = read(b'{"birthDate": "1950-01-02", "Date of birth": "x", "address_2": "y"}', "a.json").text
    assert fields == "birth Date: 1950-01-02\nDate of birth: x\naddress 2: y\n"


def test_prose_that_begins_like_x12_stays_whole(read: Read) -> None:
    prose = "ISA is an abbreviation. " + "Patient Ann Roy was seen on the ward for asthma. " * 4
    document = read(prose.encode(), "a.txt")
    assert document.media_type == "text/plain"
    assert prose.strip() in document.text


PAGE = "<html><body><p>Lena Okafor has asthma and was seen.</p>{0}</body></html>"
INLINE = [
    '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',  # a spacer without a picture
    '<img src="data:image/png;base64,iVBORw0KGgo...">',  # a placeholder of a template
    '<img src="data:image/png;base64,">',
    '<a href="data:text/html;base64,PHA+YTwvcD48cD5iPC9wPg==">x</a>',  # two elements: HTML, and no XML
    '<a href="data:text/html;charset=utf-8,%3Cp%3Ehi%3C/p%3E%3Cp%3Ethere">x</a>',
    '<a href="data:text/plain,Hello%20there">x</a>',
    '<a href="data:application/json;base64,eyJhIjoxfQ==">x</a>',
    '<img src="data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=">',
    '<i style="background:url(data:font/woff2;base64,d09GMgABAAAAAA==)">x</i>',
    '<a href="data:;base64,AAAA">x</a>',
    '<script>var base = "data:image/png;base64," + picture;</script>',
]


@pytest.mark.parametrize("inline", INLINE)
def test_a_page_that_was_wholly_read_has_no_corrupt_part(read: Callable[..., Document], inline: str) -> None:
    document = read(PAGE.format(inline).encode(), "page.html")
    assert [part for part in document.unread if part.reason == FailReason.CORRUPT] == []
    assert "Lena Okafor has asthma" in document.text


@pytest.mark.parametrize("name", ["notes.txt", "notes.xml", "notes.md"])
def test_markup_that_is_not_well_formed_is_read_as_it_is(read: Callable[..., Document], name: str) -> None:
    document = read(b"<note><p by='Ann Roy'>Lena Okafor<br> has asthma</note> & was seen <c", name)
    assert document.unread == ()
    assert all(word in document.text for word in ("by='Ann Roy'", "Lena Okafor", "has asthma", "& was seen"))


def test_json_within_a_string_is_read_as_fields_and_titled_values_get_their_titles(read: Read) -> None:
    facts = [{"title": "Employee", "value": "Ann Roy"}, {"title": "Reason", "value": "hip operation"}]
    card = json.dumps({"type": "AdaptiveCard", "facts": facts})
    sent = [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}]
    document = read(json.dumps([{"attachments": sent}]).encode(), "chat.json")
    assert document.text.endswith("Employee: Ann Roy\nReason: hip operation\n")
    assert not document.unread
    assert "note: {not json" in read(b'{"note": "{not json", "a": "[1"}', "a.json").text


def test_the_words_of_a_transcript_are_one_text(read: Read) -> None:
    spoken = ["my", "mother", "had", "a", "stroke"]
    words = [{"word": word, "start": at, "confidence": 0.9} for at, word in enumerate(spoken)]
    assert (
        "my mother had a stroke" in read(json.dumps({"speaker": 1, "words": words}).encode(), "a.json").text
    )
    rows = [{"name": word, "town": "Ulm"} for word in spoken]
    assert "name: my\ntown: Ulm\n" in read(json.dumps(rows).encode(), "b.json").text


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(
    ("reference", "shown"),
    [
        ("&#55357;&#56842;", "\U0001f60a"),
        ("&#xD83D;&#xDE0A;", "\U0001f60a"),
        ("&#xd83d;&#56832;", "\U0001f600"),
        ("&#x0D83D;&#x0DE0A;&#55356;&#57255;", "\U0001f60a\U0001f3a7"),
        ("&#55357;", "\ufffd"),
        ("&#xDE0A;&#xD83D;", ""),
        ("&#0;", ""),
        ("&#x1F;", ""),
        ("&#65534;", ""),
        ("&#1114112;", ""),
        ("&eacute;", "é"),
    ],
)
def test_one_bad_reference_costs_nothing_else_in_any_encoding(
    read: Read, encoding: str, reference: str, shown: str
) -> None:
    name = "utf-16" if "16" in encoding else encoding
    head = f'<?xml version="1.0" encoding="{name}"?>'
    data = f'{head}<r><a>Zoé {reference} Okafor</a><b k="x{reference}">Lena</b></r>'
    document = read(data.encode(encoding), "a.xml")
    assert document.unread == ()
    assert document.media_type == "text/xml"
    assert "<a>" not in document.text
    assert all(word in document.text for word in ("Zoé", "Okafor", "Lena", shown))


# Exports of chats and transcripts, and their text.
CHATS = {
    '{"columns": ["time", "sender", "text"], "rows": [["09:14", "Lena Okafor", "chemo"], ["09:15", "Marc", "ok"]]}': "time: 09:14\nsender: Lena Okafor\ntext: chemo\ntime: 09:15\nsender: Marc\ntext: ok\n",
    '{"title": "ward", "headers": ["from", "msg"], "data": [["Lena", "gout"], ["Marc", "ok"]]}': "title: ward\nfrom: Lena\nmsg: gout\nfrom: Marc\nmsg: ok\n",
    '{"columns": ["from", "msg"], "rows": [["Lena", "gout", "seen"]]}': "from: Lena\nmsg: gout\nseen\n",
    '{"sender": ["Lena", "Marc"], "text": ["gout", "ok"], "time": [1, 2]}': "sender: Lena\ntext: gout\ntime: 1\nsender: Marc\ntext: ok\ntime: 2\n",
    '{"users": [{"id": "U1", "real_name": "Lena Okafor"}], "messages": [{"user": "U1", "text": "gout"}]}': "users id: U1\nusers real name: Lena Okafor\nmessages user: Lena Okafor\nmessages text: gout\n",
    '{"utilisateurs": [{"id": 7, "nom": "Zoé Roy"}], "messages": [{"utilisateur": 7, "texte": "goutte"}]}': "utilisateurs id: 7\nutilisateurs nom: Zoé Roy\nmessages utilisateur: Zoé Roy\nmessages texte: goutte\n",
    '{"participants": {"1": "Lena Okafor"}, "messages": [{"from": 1, "body": "gout"}]}': "participants 1: Lena Okafor\nmessages from: Lena Okafor\nmessages body: gout\n",
    '[{"from": "Lena", "text": ["I start ", {"type": "bold", "text": "chemo"}, " on Monday"]}]': "from: Lena\ntext: I start chemo on Monday\ntext type: bold\n",
    '{"items": [{"start_time": "0.1", "alternatives": [{"content": "I"}], "type": "pronunciation", "speaker_label": "a"}, {"start_time": "1.1", "alternatives": [{"content": "have"}], "type": "pronunciation", "speaker_label": "a"}, {"start_time": "2.1", "alternatives": [{"content": "gout"}], "type": "pronunciation", "speaker_label": "a"}, {"start_time": "3.1", "alternatives": [{"content": "oh"}], "type": "pronunciation", "speaker_label": "b"}, {"start_time": "4.1", "alternatives": [{"content": "no"}], "type": "pronunciation", "speaker_label": "b"}]}': "items: a: I have gout\nitems: b: oh no\nitems start time: 0.1, 1.1, 2.1, 3.1, 4.1\nitems type: pronunciation\n",
    '[{"code": "Na", "unit": "mmol", "value": 0}, {"code": "K", "unit": "mmol", "value": 1}, {"code": "Cl", "unit": "mmol", "value": 2}, {"code": "Ca", "unit": "mmol", "value": 3}, {"code": "Mg", "unit": "mmol", "value": 4}]': "code: Na\nunit: mmol\nvalue: 0\ncode: K\nunit: mmol\nvalue: 1\ncode: Cl\nunit: mmol\nvalue: 2\ncode: Ca\nunit: mmol\nvalue: 3\ncode: Mg\nunit: mmol\nvalue: 4\n",
    '{"a": ["x", "y"], "b": ["z"]}': "a: x\na: y\nb: z\n",
}


@pytest.mark.parametrize("text", CHATS)
def test_sender_time_and_text_of_an_export_are_one_record(read: Read, text: str) -> None:
    assert read(text.encode(), "a.json").text == CHATS[text]


# People on one line, a message on the next, and a line of the text.
PEOPLE = {
    '{"users": [{"id": "U1", "name": "Lena Okafor"}]}\n{"user": "U1", "text": "gout"}': "user: Lena Okafor",
    '{"type": "user", "id": 7, "name": "Lena Okafor"}\n{"sender_id": 7, "text": "gout"}': "sender id: Lena Okafor",
    '{"type": "membre", "id": "b", "nom": "Zoé Roy"}\n{"auteur": "b", "texte": "goutte"}': "auteur: Zoé Roy",
    '{"speakers": {"spk_0": "Lena Okafor"}}\n{"speaker": "spk_0", "text": "gout"}': "speaker: Lena Okafor",
    '{"type": "room", "id": 7, "name": "Lena"}\n{"sender": 7, "text": "gout"}': "sender: 7",
}


@pytest.mark.parametrize("lines", PEOPLE)
def test_people_of_a_line_are_those_of_the_lines_after_it(read: Read, lines: str) -> None:
    assert PEOPLE[lines] in read(lines.encode(), "a.jsonl").text.split("\n")


RECORDS = {
    "numbers of charts": {"name": "Roy", "mrn": "4471023", "start": 3},
    "dates of birth": {"nom": "Roy", "naissance": "1950-01-02"},
    "a date that begins": {"text": "Roy", "start": "1950-01-02"},
    "a word that is no measure": {"word": "Roy", "start": 3, "ward": "5B"},
    "two alternatives": {"start": 3, "alternatives": [{"content": "Roy"}, {"content": "Roi"}]},
    "no time": {"word": "Roy", "confidence": 0.5},
}


@pytest.mark.parametrize("name", RECORDS)
def test_records_of_one_word_are_no_transcript(read: Read, name: str) -> None:
    lines = read(json.dumps([RECORDS[name]] * 6).encode(), "a.json").text.splitlines()
    assert "Roy Roy" not in "\n".join(lines)
    assert any(line.endswith(": Roy") for line in lines)


def test_a_transcript_in_which_some_words_have_no_time_keeps_its_speakers(read: Read) -> None:
    said = {"chemo": "Lena Okafor", "began": "Lena Okafor", "when": "Marc", "?": "Marc", "ok": "Marc"}
    words = [
        {"speaker": who, "token": word} | ({"offset_ms": at} if at != 3 else {})
        for at, (word, who) in enumerate(said.items())
    ]
    assert read(json.dumps({"words": words}).encode(), "a.json").text == (
        "words: Lena Okafor: chemo began\nwords: Marc: when ? ok\nwords offset ms: 0, 1, 2, 4\n"
    )


@pytest.mark.parametrize(("key", "value"), [("mrn", "4471023"), ("birth", "1950-01-02"), ("rows", ["447"])])
def test_a_record_within_a_text_keeps_the_names_of_its_fields(read: Read, key: str, value: object) -> None:
    part = {"text": "Ann", key: value}
    text = read(json.dumps({"note": ["seen: ", part, " today"]}).encode(), "a.json").text
    assert f"{key}: {value if isinstance(value, str) else '447'}\n" in text


WORDS = """word text content start speaker type alternatives name family given prefix title value system
users id user_id from sender columns rows mrn birth href spk_0 speakers"""
KEYS = st.sampled_from(WORDS.split())
SCALARS = st.one_of(
    st.text("abRé7", min_size=1, max_size=4),
    st.integers(0, 4_471_023),
    st.sampled_from(["Ann Roy", "spk_0", "0.50", ""]),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=7),
        st.dictionaries(KEYS, inner, max_size=5),
        st.lists(
            st.fixed_dictionaries({"word": SCALARS, "start": SCALARS}, optional={"speaker": inner}),
            min_size=5,
        ),
        st.lists(
            st.one_of(
                SCALARS, st.fixed_dictionaries({"text": SCALARS}, optional={"type": inner, "href": inner})
            )
        ),
    ),
    max_leaves=30,
)


def _scalars(value: object) -> set[str]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return {scalar for one in inner for scalar in _scalars(one)}
    return {str(value)}


@settings(max_examples=50, deadline=None)
@given(value=VALUES)
def test_every_string_and_number_of_a_json_file_is_in_its_text(value: object) -> None:
    text = "\n".join(labelled_lines(value))
    assert {scalar for scalar in _scalars(value) if scalar not in text} == set()
