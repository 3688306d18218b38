"""Texts with one misread character: nothing else in them looks misread."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from phiscan.normalize.ocr_line import Line
from phiscan.normalize.ocr_numbers import as_digits, corrected_codes
from phiscan.normalize.ocr_words import ocr_variants
from tests.screen.whole import found

BEFORE = "Thank you for seeing this pleasant patient, who has been well since the last visit.\n\n"
AFTER = "\n\nThe chest was clear, the abdomen soft. No further tests are planned before the summer.\n"


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        # Figures taken for letters of codes: phones, days, numbers in groups, ages.
        ("You may reach me at 902-S55-0117 after four.", "PHONE", "902-S55-0117"),
        ("You may reach me at 902-5S5-0117 after four.", "PHONE", "902-5S5-0117"),
        ("You may reach me at (B67) 555-0134 after four.", "PHONE", "(B67) 555-0134"),
        ("You may reach me at 902 555 011B after four.", "PHONE", "902 555 011B"),
        ("You may reach me at 9O2.555.0l17 after four.", "PHONE", "9O2.555.0l17"),
        ("You may reach me at 1-B00-555-0163 after four.", "PHONE", "1-B00-555-0163"),
        ("You may reach me at +1 50b 555 0145 after four.", "PHONE", "1 50b 555 0145"),
        ("Seen on 2O25-O3-l4 by the nurse.", "DATE", "2O25-O3-l4"),
        ("Née le 3 avril 19S4 à Gaspé.", "DATE_OF_BIRTH", "3 avril 19S4"),
        ("She is a 91-year-o1d widow.", "AGE_OVER_89", "91"),
        ("SIN 046 4S4 286 on file.", "SIN", "046 4S4 286"),
        ("SSN: 527-43-91OB on file.", "SSN", "527-43-91OB"),
        ("Visa 4539 1488 O343 64G7 on file.", "CREDIT_CARD", "4539 1488 O343 64G7"),
        ("NPI 1791368b36 on file.", "LICENSE", "1791368b36"),
        ("RAMQ TREM 8S51 1412 au dossier.", "HEALTH_CARD", "TREM 8S51 1412"),
        ("NAM 8EAJ 5107 2210 au dossier.", "HEALTH_CARD", "8EAJ 5107 2210"),
        ("Halifax NS 83H 4R1", "POSTAL_CODE", "83H 4R1"),
        ("Springfield, MO 65b53", "POSTAL_CODE", "65b53"),
        # Signs taken for signs.
        ("Zurich, ON NOM 2T0", "POSTAL_CODE", "NOM 2T0"),
        ("Gull Lake SK SON 1A0", "POSTAL_CODE", "SON 1A0"),
        ("Dr Sokolov accepted her; Peguis MB ROC 3J0", "LOCATION", "Peguis MB"),
        # Letters taken for letters: months and labels.
        ("Seen on 14 Novembcr 2023 by the nurse.", "DATE", "14 Novembcr 2023"),
        ("Seen on Marcb 3, 2024 by the nurse.", "DATE", "Marcb 3, 2024"),
        ("Seen on Jauuary 8 by the nurse.", "DATE", "Jauuary 8"),
        ("Vue le 22 sepfembre 2024 par la docteure.", "DATE", "22 sepfembre 2024"),
        ("Vue le 26 févricr 2024 par la docteure.", "DATE", "26 févricr 2024"),
        ("Dote of birth: 1964-11-30", "DATE_OF_BIRTH", "1964-11-30"),
        ("D0B 1964-11-30", "DATE_OF_BIRTH", "1964-11-30"),
        ("Policy numbcr: 44187720", "HEALTH_PLAN", "44187720"),
        ("Policy numbcr:\n44187720", "HEALTH_PLAN", "44187720"),
        ("Dossler: 118402", "MRN", "118402"),
        ("Medicol record no. 4471290", "MRN", "4471290"),
        ("rnedical record no. 4471290", "MRN", "4471290"),
        ("Plaquc CKTR 281", "VEHICLE", "CKTR 281"),
        # One letter for two, two for one; spaces lost and put in.
        ("Seen on 12 Novernber 2023 by the nurse.", "DATE", "12 Novernber 2023"),
        ("Seen on Decernber 12, 2023 by the nurse.", "DATE", "Decernber 12, 2023"),
        ("Vue le 4 rnars 2023 par la docteure.", "DATE", "4 rnars 2023"),
        ("Aclmitted 12/03 with a cough.", "DATE", "12/03"),
        ("Patient nurnber: 4471290", "MRN", "4471290"),
        ("Seen on 2023 -03- 14 by the nurse.", "DATE", "2023 -03- 14"),
        ("SSN 527- 43-9108 on file.", "SSN", "527- 43-9108"),
        ("HGN 9876 543 217", "HEALTH_CARD", "9876 543 217"),
        ("Devicc serial number: 77182044", "DEVICE", "77182044"),
        ("Address: 12 Elm Strcet", "STREET_ADDRESS", "12 Elm Strcet"),
    ],
)
def test_one_misread_character_in_a_clean_text_is_corrected(line: str, kind: str, value: str) -> None:
    assert (kind, value) in found(BEFORE + line + AFTER)


@pytest.mark.parametrize(
    "line",
    [
        "Vitamin B12 500 mcg daily, S100B normal, stage 2b 2019 criteria, 5S rRNA, 3D echo of 2020.",
        "ICD I50.33, B20, Z00.129, S52.501A; CPT 99214; R51.9 and S72.0 since 1999; ward 5S 12 beds.",
        "He may take 5 to 10 mg for 12 moy days; le patient marche 30 min pour 5 mois, un total de 12 cas.",
        "Section 8B-12 of form S-2019-04B was read; key 3fO1lI0o9SBZ, 65e9d5ba-f10e-428c-b8de-854da0b1.",
        "Na 140, K 4.1, sun 104 hours, fox 12, tol 25 units, dob sled no 5, ext 3 cm, sin 30, tag 5.",
        "BP 12S/80, 9B wing, 2Z lens, T4b N2 M0, 24G needle, 10B scalpel blade, size 6b, 7S globulin.",
        "Gene SEPT9, DEC1 and MAR2; $4,418-$5,000, $400-500; first lst and list; le12e etage; marchl, mayo5.",
        "novo vent, hiper nova, boit aux 2 h, veut 3 choses, lang and long, form and farm, cord or card.",
    ],
)
def test_codes_measures_and_words_are_no_identifiers(line: str) -> None:
    kinds = set("PHONE DATE DATE_OF_BIRTH AGE_OVER_89 MRN SIN SSN HEALTH_CARD FAX DEVICE".split())  # noqa: SIM905
    assert {one for one in found(BEFORE + line + AFTER) if one[0] in kinds} == set()


def test_columns_beside_people_may_hold_misread_figures() -> None:
    rows = (
        "Roy, Ann;F;G-55102",
        "Tremblay, Luc;M;G-5S108",
        "Okafor, Ngozi;F;G-S5111",
        "Bouchard, Guy;M;G-55120",
        "Leblanc, Rose;F;G-55127",
    )
    codes = {
        value
        for kind, value in found("".join(f"{row};ward\n" for row in rows))
        if kind in {"OTHER_ID", "MRN"}
    }
    assert codes == {"G-55102", "G-5S108", "G-S5111", "G-55120", "G-55127"}


@given(
    st.lists(
        st.sampled_from(
            ["ON ", "NS|", "MO  ", "85A", "1M4", "l", "SON8NS", "65b53", "1M465b53NS|SON8NS|", "K1A0B1", "|"]
        ),
        max_size=9,
    )
)
def test_codes_keep_their_length(parts: list[str]) -> None:
    text = "".join(parts)
    edits = list(corrected_codes(text))
    assert all(before.end <= behind.start for before, behind in pairwise(edits))
    assert len(as_digits(Line.of(text, 0, len(text)), bars=True).text) == len(text)


@given(st.text(alphabet="abcdefghilmnoqrstuvwz", min_size=5, max_size=12))
def test_a_misread_form_is_loosely_the_word(word: str) -> None:
    for form in ocr_variants([word]):
        assert form != word
        assert len(word) - 1 <= len(form) <= len(word) + 1
