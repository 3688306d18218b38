"""Cases after public bug reports, which lie beside a development checkout: the right text of each."""

from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.model import Document

FOLDER = Path(__file__).parents[2].parent / "shared" / "bugs"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the cases are not there")
Read = Callable[..., Document]

PATIENT = ("Lena Okafor", "40718823", "congestive heart failure")
SECOND = ("Marc Delisle", "51120934", "prostate cancer")
CASES = {
    "01/uuencoded.eml": PATIENT,
    "03/cte_trailing_space.eml": PATIENT,
    "05/padding_inside.eml": (*PATIENT, "Good morning"),
    "06/winmail.dat": (*PATIENT, *SECOND),
    "06/mail_with_winmail.eml": (*PATIENT, *SECOND),
    "08/dropdown.docx": (*PATIENT, *SECOND),
    "10/formfields.docx": (*PATIENT, *SECOND, "Anna Rossi, MRN 33817720"),
    "12/foi_reply_pivot.xlsx": (
        "Last name: Okafor | First name: Lena | Hospital number: 40718823 | Date of birth: 1988-03-14"  # noqa: ISC004
        " | Birth outcome: Stillbirth",
        "Hospital number: 60229915 | Date of birth: 1993-11-30 | Birth outcome: Live birth",
    ),
    "14/validation_list.xlsx": (
        "Lena Okafor MRN 40718823 heart failure",
        "Patient",
        "Marc Delisle MRN 51120934",
    ),
    "17/letter.doc": (*PATIENT, "DOB: 1951-03-14", "furosemide 40 mg"),
    "19/card.svg": ("Patient: Lena Okafor\nDOB 1951-03-14, MRN 40718823", "furosemide"),
    "20/stamp_ap.pdf": PATIENT,
    "22/earlier_revision.pdf": (*PATIENT, "1951-03-14"),
    "25/wristband_qr.png": (*PATIENT, "1951-03-14"),
    "26/eeg.edf": ("Patient ID: 40718823", "Date of birth: 14-MAR-1951", "Lena Okafor", "seizure"),
    "28/note_cp850.txt": ("Hélène Côté-Gagné, née le 14 août 1951", "l'Hôpital de Montréal"),
    "28/note_cp863.txt": ("Hélène Côté-Gagné, née le 14 août 1951", "l'Hôpital de Montréal"),
    "28/note_mac_roman.txt": ("Hélène Côté-Gagné, née le 14 août 1951", "l'Hôpital de Montréal"),
    "28/note_cp1252_control.txt": ("Hélène Côté-Gagné, née le 14 août 1951", "l'Hôpital de Montréal"),
}


@pytest.mark.parametrize("name", CASES)
def test_nothing_of_a_case_is_lost(read: Read, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.extract.ocr.recognition.languages", lambda: "eng")
    monkeypatch.setattr("phiscan.extract.ocr.recognition.picture_text", lambda *_: "")  # of a code
    path = FOLDER / name
    document = read(path.read_bytes(), path.name)
    for wanted in CASES[name]:
        assert wanted in document.text
    assert not document.unread


def test_a_body_that_is_not_decoded_is_read_or_listed(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.extract.mail.messages.decode_body", lambda *_: None)
    path = FOLDER / "05/padding_inside.eml"
    document = read(path.read_bytes(), path.name)
    assert "40718823" in document.text or document.unread
