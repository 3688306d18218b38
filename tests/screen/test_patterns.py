import pytest

from phiscan.model import Document, EntityType
from phiscan.screen.rules import recognizer as patterns
from phiscan.screen.rules import scanner
from tests.screen.whole import found, rules, screened


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "call 678-233-5033, x549 now",
            ("PHONE", "678-233-5033, x549"),
        ),  # the four odd phones of uzuner-2007
        ("at (692) 673 3025 tonight", ("PHONE", "(692) 673 3025")),
        ("pager 917070-7689", ("PHONE", "917070-7689")),
        ("ext 160-6305, x2644", ("PHONE", "160-6305, x2644")),
        ("the pager number 337-4296, 936 with", ("PHONE", "337-4296, 936")),
        ("the pager number 678-233-5033, x 549 with", ("PHONE", "678-233-5033, x 549")),
        ("the pager number 160-6305, x 2644 with", ("PHONE", "160-6305, x 2644")),
        ("Télécopieur : 514-555-0100", ("FAX", "514-555-0100")),
        ("DOB (yyyy-mm-dd): 1962-03-14", ("DATE_OF_BIRTH", "1962-03-14")),
        ("Née le 3 août 1951", ("DATE_OF_BIRTH", "3 août 1951")),
        ('"birthDate": "1962-03-14"', ("DATE_OF_BIRTH", "1962-03-14")),
        ("NAM : TREM 8551 1412", ("HEALTH_CARD", "TREM 8551 1412")),
        ("OHIP 1234-567-897 AB", ("HEALTH_CARD", "1234-567-897 AB")),
        ("MRN\n00112233", ("MRN", "00112233")),
        ('{"type": {"text": "MRN"}, "value": "A-77120"}', ("MRN", "A-77120")),
        ("Date of birth: 03/14/1962  Admitted: 2020-01-05", ("DATE", "2020-01-05")),
        ("SIN: 046 454 286", ("SIN", "046 454 286")),
        ("She is 94 years old", ("AGE_OVER_89", "94")),
        # What may begin an address ("58  U") hides no number that begins there.
        ("van Tassel, Petra  F 58  U0417305", ("MRN", "U0417305")),
        ("Googoo, Rose 93F  RB004418  hip", ("MRN", "RB004418")),
        ("SEEN ON 14-JUL-2002", ("DATE", "14-JUL-2002")),  # nor what may begin a postal code, "ON 14"
        ("carte 4931 4909 2794 4800", ("CREDIT_CARD", "4931 4909 2794 4800")),
        # And what is looked at so hides nothing behind it: "1931 130-692" may begin a card of Ontario.
        ("DOB 5/12/1931 130-692-544", ("SIN", "130-692-544")),
        ("DOB 5/12/1931 (613)5550199", ("PHONE", "(613)5550199")),
        ("home 737-6305, x2644", ("PHONE", "737-6305, x2644")),
        # Nor does a ZIP code behind two letters ("le, 04829") hide the account that begins there.
        ("Account on file, 04829-219-8817046, closed", ("ACCOUNT", "04829-219-8817046")),
        ("Washington DC 20515-1002", ("POSTAL_CODE", "20515-1002")),
        ("anciens combattants : K 123 4567", ("HEALTH_PLAN", "K 123 4567")),
        ("NPI 1234567893", ("LICENSE", "1234567893")),
        ("Medicare 1EG4-TE5-MK73", ("HEALTH_PLAN", "1EG4-TE5-MK73")),
        ("Plaque : A12 BCD", ("VEHICLE", "A12 BCD")),
        ("AHC# 12345-6789", ("HEALTH_CARD", "12345-6789")),  # not a ZIP code
        ("N.B. MEDICARE NO. 123-456-789", ("HEALTH_CARD", "123-456-789")),
        ("MCP# 1234 5678 9012", ("HEALTH_CARD", "1234 5678 9012")),
        ("NWT Health Care Plan number D1234567", ("HEALTH_CARD", "D1234567")),
        ("MHSC A12345", ("HEALTH_CARD", "A12345")),
        ("Health card 1234.567.897ab", ("HEALTH_CARD", "1234.567.897ab")),
        ("NAM: trem85511412", ("HEALTH_CARD", "trem85511412")),
        ("TX DL 12345678 expires 2027", ("DRIVER_LICENSE", "12345678")),
        ("NS driver's licence: SMITH010190123", ("DRIVER_LICENSE", "SMITH010190123")),
        ("N° de permis de conduire : T123401019005", ("DRIVER_LICENSE", "T123401019005")),
        ("613\u2013555\u20130199 poste 22", ("PHONE", "613\u2013555\u20130199 poste 22")),
        ("Tel: (613) 555-0142   Fax: (613) 555-0143", ("FAX", "(613) 555-0143")),
        ("Ann Lee, NB Medicare 123-456-789", ("HEALTH_CARD", "123-456-789")),
        ("FAX(613)555-0100", ("FAX", "(613)555-0100")),
        ("beeper 12345", ("PHONE", "12345")),
        ("vit au 1234, rue Saint-Denis", ("STREET_ADDRESS", "1234, rue Saint-Denis")),
        ("Age_____________: 97", ("AGE_OVER_89", "97")),
        ("Cell: __780-555-0138__", ("PHONE", "780-555-0138")),
        ("M 29  CHART FE 220917  ORIF", ("MRN", "FE 220917")),  # a street may begin with "29  C"
        ("EMS run sheet LC-24-90177: HR 34", ("OTHER_ID", "LC-24-90177")),
        ("see http://example.org/" + "a" * 150, ("URL", "http://example.org/" + "a" * 150)),
    ],
)
def test_finds_identifiers_in_their_odd_forms(text: str, expected: tuple[str, str]) -> None:
    assert expected in found(text)


@pytest.mark.parametrize(
    "text",
    [
        "Pain was 9/10 and strength 5/5, BP 120/80, sodium 140.",
        "In 1987 the fund had 123456789 dollars and 987654321 units.",
        "Version 1.2.3 of part 4455667 on page 100-200.",
        "The dose is 12 Tablets of 325 mg, 2 times in 24 hours.",
        "We reviewed the charts of 412 patients, records of 1388 women, les dossiers de 512 personnes.",
        "Total cholesterol 222 mg/dL, HDL 44 mg/dL, LDL 153 mg/dL, HGB (M 13-18 g/dl; F 12-16 g/dl)",
    ],
)
def test_finds_nothing_in_plain_numbers(text: str) -> None:
    assert found(text) == set()


@pytest.mark.parametrize("n_spaces", [1, 10, 11, 40, 60])
def test_a_value_may_stand_in_the_next_column(n_spaces: int) -> None:
    rows = f"SSN:{n_spaces * ' '}527 43 9108\nMRN :{n_spaces * ' '}77150221\n"
    assert {("SSN", "527 43 9108"), ("MRN", "77150221")} <= found(rows)


def test_a_label_reaches_no_further_than_a_page_is_wide() -> None:
    assert ("SSN", "527439108") not in found(f"SSN:{200 * ' '}527439108\n")


def test_spans_are_code_points_after_emoji_and_accents() -> None:
    text = "😀é𝒳 Téléphone: 613-555-0199 ✓ DOB: 1962-03-14"
    spans = {f.entity_type: f.span.of(text) for f in screened(text).findings}
    assert spans[EntityType.PHONE] == "613-555-0199"
    assert spans[EntityType.DATE_OF_BIRTH] == "1962-03-14"


def test_finds_what_lies_across_a_window_edge(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scanner, "WINDOW_CHARS", 1000)
    for offset in range(985, 1001):
        text = " " * offset + "613-555-0199" + " " * 1200 + "a@b.example"
        found = [f.span.of(text) for f in rules().recognize(Document(text, (), ""))]
        assert found == ["613-555-0199", "a@b.example"]


def test_caps_dense_tables_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_HITS", 50)
    text = "seen 2020-01-05\n" * 500
    found = list(rules().recognize(Document(text, (), "")))
    assert 40 <= len(found) <= 60
    assert all(any(reason.kind == "cap" for reason in f.reasons) for f in found)


def test_a_number_among_many_of_another_kind_is_not_skipped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patterns, "MAX_HITS", 50)
    for place in range(100, 108):
        lines = ["seen 2020-01-05"] * 500
        lines[place] = "123-45-6788"
        found = rules().recognize(Document("\n".join(lines), (), ""))
        assert "SSN" in {finding.entity_type for finding in found}, place


def test_every_reason_and_repr_is_free_of_document_text() -> None:
    text = "Patient: Zyxwvu Qqcanary\nSSN: 999-26-4284\nlives at 905 Qqcanary Bay, Lynn, MA 01901"
    screening = screened(text)
    shown = repr(screening) + repr([f.reasons for f in screening.findings])
    assert screening.findings
    for secret in ("Qqcanary", "999-26", "01901"):
        assert secret not in shown
