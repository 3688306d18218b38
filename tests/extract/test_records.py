import json
from collections.abc import Callable

from phiscan.model import Document

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


def test_broken_xml_is_read_as_text_too(read: Read) -> None:
    document = read(b"<?xml version='1.0'?><a><n x='Lena Okafor'>Ann Roy</a> & more <c", "a.xml")
    assert "n: Ann Roy" in document.text
    assert "x='Lena Okafor'" in document.text
    assert "& more" in document.text


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
