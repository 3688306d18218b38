"""Files beside a development checkout: cases after public bug reports, and real documents."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from phiscan.cli.extract import source_file
from phiscan.config import Limits
from phiscan.extract import available_readers, extract
from phiscan.model import Document, SourceFile
from phiscan.sandbox.answers import Fault
from tests.handed_over import handed_over

SHARED = Path(__file__).parents[2].parent / "shared"
FOLDER, FILES = SHARED / "bugs", SHARED / "data" / "files"
needs_cases = pytest.mark.skipif(not FOLDER.is_dir(), reason="the cases are not there")
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


@needs_cases
@pytest.mark.parametrize("name", CASES)
def test_nothing_of_a_case_is_lost(read: Read, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.extract.ocr.recognition.languages", lambda: "eng")
    monkeypatch.setattr("phiscan.extract.ocr.recognition.picture_text", lambda *_: "")  # of a code
    path = FOLDER / name
    document = read(path.read_bytes(), path.name)
    for wanted in CASES[name]:
        assert wanted in document.text
    assert not document.unread


@needs_cases
def test_a_body_that_is_not_decoded_is_read_or_listed(read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.extract.mail.messages.decode_body", lambda *_: None)
    path = FOLDER / "05/padding_inside.eml"
    document = read(path.read_bytes(), path.name)
    assert "40718823" in document.text or document.unread


# What these files are, so what their outcome must be.
NOT_READ = {
    "tika-8d7e1ec8": "encrypted",
    "tika-8b53ca56": "nested_too_deep",  # an archive that contains itself
}
WITHOUT_TEXT = {"tika-8d2e2872"}  # tags alone


def read_file(source: SourceFile) -> Document:
    return extract(source, Limits())


@pytest.mark.slow
@pytest.mark.skipif(not FILES.is_dir(), reason="the development data is not there")
@pytest.mark.skipif(len(available_readers()) < 4, reason="the optional readers are not installed")
def test_every_file_that_can_be_read_gives_text() -> None:
    sources = [source_file(str(path)) for path in sorted(FILES.iterdir())]
    with handed_over(2, Limits(), sources) as sandbox:
        answers = list(sandbox.run(read_file, sources))
    assert len(answers) == len(sources)
    failed = {_key(source): answer.reason for source, answer in answers if isinstance(answer, Fault)}
    documents = [(source, answer) for source, answer in answers if isinstance(answer, Document)]
    empty = {_key(source) for source, document in documents if not document.text.strip()}
    assert failed == NOT_READ
    assert empty == WITHOUT_TEXT
    for _, document in documents:
        assert all(document.text[part.start : part.end].strip() for part in document.segments)
        document.text.encode()


def _key(source: SourceFile) -> str:
    return "-".join(os.fsdecode(source.path).split("-")[:2])
