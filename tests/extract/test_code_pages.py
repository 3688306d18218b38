"""Texts in code pages that they do not name, by language and encoding."""

import io
from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw

from phiscan.extract.core.charset import decode
from phiscan.extract.ocr import recognition as ocr
from phiscan.model import Document

Read = Callable[..., Document]
NOTES = {
    "French": (
        (
            "Note de suivi. Hélène Côté, née le 14 août 1951 à Trois-Rivières, admise pour une défaillance cardiaque;"  # noqa: E501
            " médecin traitant: Dr François Bélanger. Été revue à l'automne."
        ),
        ("cp1252", "cp850", "cp863", "cp437", "mac-roman", "iso8859-15"),
    ),
    "German": (
        "Frau Jürgen Müller, geboren am 3. März 1948 in Köln, wurde für fünf Tage stationär aufgenommen. Straße 12.",  # noqa: E501
        ("cp1252", "cp850", "cp437", "mac-roman"),
    ),
    "Spanish": (
        "La señora Peña Núñez, nacida en Córdoba, ingresó por insuficiencia cardíaca. Médico: Dr. Ibáñez. Próxima visita.",  # noqa: E501
        ("cp1252", "cp850", "mac-roman"),
    ),
    "Italian": (
        "Il signor Niccolò è stato ricoverato perché la città è lontana; attività fisica, papà già deceduto.",
        ("cp1252", "cp850", "mac-roman"),
    ),
    "Danish": (
        "Søren Kjærgård født på Ærø indlagt på sygehus, får medicin på afdelingen.",
        ("cp1252", "cp850"),
    ),
    "Polish": (
        "Łukasz Wiśniewski urodzony w Łodzi, przyjęty z powodu niewydolności serca, leczony w szpitalu świętej Zofii.",  # noqa: E501
        ("cp1250", "cp852", "iso8859-2"),
    ),
    "Czech": (
        "Jiří Dvořák narozený v Děčíně, přijat pro srdeční selhání, léčen v nemocnici, doporučena další péče.",  # noqa: E501
        ("cp1250", "cp852", "iso8859-2"),
    ),
    "Russian": (
        "Пациент Иванов Пётр поступил с сердечной недостаточностью, выписан домой.",  # noqa: RUF001
        ("cp1251", "cp866"),
    ),
}
CASES = [(language, encoding) for language, (_, encodings) in NOTES.items() for encoding in encodings]


@pytest.mark.parametrize(("language", "encoding"), CASES)
def test_a_note_is_read_in_the_code_page_of_its_words(language: str, encoding: str) -> None:
    note = NOTES[language][0]
    assert decode(note.encode(encoding))[0] == note


def test_quotes_and_dashes_of_windows_are_no_letters_of_dos() -> None:
    note = "“Stable,” she said – no pain… the patient’s dose: 5 µg at 37 °C, 2½ tablets • daily"  # noqa: RUF001
    assert decode(note.encode("cp1252"))[0] == note


def test_text_of_a_mainframe_is_read(read: Read) -> None:
    note = "PATIENT OKAFOR LENA  BORN 1951-03-14  MRN 40718823  ADMITTED WITH HEART FAILURE\n" * 3
    document = read(note.encode("cp037"), "REPORT.DAT")
    assert document.media_type == "text/plain"
    assert "MRN 40718823" in document.text


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "TIFF"])
def test_every_frame_that_differs_is_read(read: Read, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    frames = []
    for number in (1, 2, 2):
        frame = Image.new("RGB", (300, 120), "white")
        ImageDraw.Draw(frame).rectangle((20, 20, 80 * number, 90), fill="black")
        frames.append(frame)
    stream = io.BytesIO()
    options = {} if kind == "TIFF" else {"duration": 100}
    frames[0].save(stream, kind, save_all=True, append_images=frames[1:], **options)
    seen: list[object] = []
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", lambda image, _: seen.append(image) or f"words {len(seen)}")
    assert "words 2" in read(stream.getvalue(), f"a.{kind.lower()}").text
