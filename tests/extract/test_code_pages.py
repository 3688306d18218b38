"""Texts in code pages that they do not name, by language and encoding."""

from collections.abc import Callable

import pytest
from PIL import Image, ImageDraw

from phiscan.extract.core.charset import decode
from phiscan.extract.ocr import recognition as ocr
from phiscan.model import Document
from tests.extract.packages import saved, zipped

# ruff: noqa: E501, RUF001 (a note is read best on one line; letters of other scripts)

Read = Callable[..., Document]
# Notes, and the encodings that each is read in: Western and Central European languages, then others.
NOTES = {
    "Note de suivi. Hélène Côté, née le 14 août 1951 à Trois-Rivières, admise pour une défaillance cardiaque; médecin traitant: Dr François Bélanger. Été revue à l'automne.": "cp1252 cp850 cp863 cp437 mac-roman iso8859-15 utf-7",
    "Frau Jürgen Müller, geboren am 3. März 1948 in Köln, wurde für fünf Tage stationär aufgenommen. Straße 12.": "cp1252 cp850 cp437 mac-roman",
    "La señora Peña Núñez, nacida en Córdoba, ingresó por insuficiencia cardíaca. Médico: Dr. Ibáñez. Próxima visita.": "cp1252 cp850 mac-roman",
    "Il signor Niccolò è stato ricoverato perché la città è lontana; attività fisica, papà già deceduto.": "cp1252 cp850 mac-roman",
    "Søren Kjærgård født på Ærø indlagt på sygehus, får medicin på afdelingen.": "cp1252 cp850",
    "Łukasz Wiśniewski urodzony w Łodzi, przyjęty z powodu niewydolności serca, leczony w szpitalu świętej Zofii.": "cp1250 cp852 iso8859-2",
    "Jiří Dvořák narozený v Děčíně, přijat pro srdeční selhání, léčen v nemocnici, doporučena další péče.": "cp1250 cp852 iso8859-2",
    "Пациент Иванов Пётр поступил с сердечной недостаточностью, выписан домой.": "cp1251 cp866",
    "Rv: Hélène Gagné\nsuivi: épilepsie, très bon état": "cp850 cp863 mac-roman cp500",
    "Pat. Jörg Schäfer, Diabetes\nRöntgen Thorax o.B.": "cp273",
    "A doente Conceição Magalhães, de São João, foi à consulta; não tem queixas.": "cp860",
    "Sigríður Þórðardóttir frá Ísafirði, með háþrýsting; fær lyf.": "cp1252 cp861 mac-iceland",
    "Hasta Gülşah Yıldırım, İzmir doğumlu, göğüs ağrısı var. Işık tedavisi.": "cp1254 cp857 mac-turkish",
    "Hasta: Ayşe Öztürk\nkarın ağrısı, ateş yok": "cp1254 cp857 mac-turkish",
    "Rūta Žukauskienė\nskauda galvą, karščiuoja": "cp1257 cp775",
    "Guntars Kļaviņš\nsāpes vēderā, drudzis": "cp1257 cp775",
    "Patsient Ülle Põder Võrust kaebab südamepekslemist.": "cp1252 cp775",
    "Фёдорова Анна, 54 года\nдиабет": "cp1251 cp866 koi8-r iso8859-5 mac-cyrillic",
    "Patient name: Жуков Пётр Ильич. Diagnosis: астма (asthma), follow-up in 3 weeks.": "cp1251 cp866 koi8-r utf-16-le",
    "Пациент Жуков Пётр Ильич, диабет": "utf-16-le utf-16-be",
    "Хвора Ґалаґан Євгенія Іллівна надійшла з болем у грудях.": "cp1251 koi8-u cp1125",
    "Γιώργος Ξυδάκης\nάσθμα": "cp1253 cp737 mac-greek",
    "המטופלת שרה פרידמן מחיפה התקבלה עם כאבים": "cp1255 cp862",
    "المريضة فاطمة الزهراء من القاهرة دخلت المستشفى": "cp1256 iso8859-6",
    "患者: 渡辺健一\n診断: 喘息": "shift_jis iso2022-jp",
    "姓名：林志豪\n診斷：氣喘": "big5",
    "姓名：赵建国\n诊断：哮喘": "gb18030 hz utf-16-le",
    "이름: 박지성\n진단: 천식": "euc-kr johab",
}
CASES = [(note, encoding) for note, encodings in NOTES.items() for encoding in encodings.split()]


@pytest.mark.parametrize(("note", "encoding"), CASES)
def test_a_note_is_read_in_the_code_page_of_its_words(note: str, encoding: str) -> None:
    assert decode(note.encode(encoding))[0] == note


CELL = "Hélène Gagné, née à Trois-Rivières, épilepsie"
HEAD = b"From: a@b.c\nTo: d@e.f\nSubject: x\nContent-Type: text/plain; charset="


@pytest.mark.parametrize(
    ("data", "name"),
    [
        (CELL.encode().decode("cp1252").encode(), "twice.txt"),
        (CELL.encode().decode("mac-roman").encode(), "twice.txt"),
        (CELL.encode().decode("cp850").encode(), "twice.txt"),
        (CELL.encode().decode("latin-1").encode().decode("latin-1").encode(), "thrice.txt"),
        (CELL.encode() + b"\n" + CELL.encode("cp1252"), "lines.txt"),
        (b"Report\r\n" + f"{CELL}\r\n".encode("utf-16-le") * 2, "appended.txt"),
        (f"{CELL}\r\n".encode("utf-16") + b"Report", "appended.txt"),
        (b'<html><meta charset="utf-8"><body>' + CELL.encode("cp1252"), "wrong.html"),
        (b'<?xml version="1.0" encoding="UTF-8"?><p><a>' + CELL.encode("cp1252") + b"</a></p>", "wrong.xml"),
        (b'<?xml version="1.0" encoding="ISO-8859-1"?><p><a>' + CELL.encode() + b"</a></p>", "wrong.xml"),
        (b'<?xml version="1.0" encoding="UTF-16"?><p><a>' + CELL.encode() + b"</a></p>", "wrong.xml"),
        (f'<?xml version="1.0" encoding="cp037"?><p><a>{CELL}</a></p>'.encode("cp037"), "mainframe.xml"),
        (HEAD + b"iso-8859-1\n\n" + CELL.encode(), "wrong.eml"),
        (HEAD + b"x-unknown\n\n" + CELL.encode("cp850"), "unknown.eml"),
    ],
)
def test_text_that_is_encoded_otherwise_than_declared_is_read(read: Read, data: bytes, name: str) -> None:
    document = read(data, name)
    words = (
        document.text.replace("à", " ").replace("\xc3\x83\xc2\xa0", " ").split()
    )  # "à" alone may be anything
    assert " ".join(words).rpartition("Hélène")[2].startswith(" Gagné, née Trois-Rivières, épilepsie")
    assert not document.unread


@pytest.mark.parametrize(
    "text",
    [
        "Vitamin C+AMP-kinase and a+AMO-b were given with C+AMQ-s",
        "JOÃO CONCEIÇÃO",
        "ÂGE: 61",
        "├──┤ ├│",
        "√© 3",
        "São João",
        "Ðórður Åström",
    ],
)
def test_text_that_only_looks_encoded_twice_stays(read: Read, text: str) -> None:
    assert read(text.encode(), "note.txt").text.strip() == text


@pytest.mark.parametrize(
    ("name", "encoding"),
    [
        *(("Hélène Gagné.txt", encoding) for encoding in ("cp850", "cp1252", "utf-8")),
        ("Жуков_Пётр1.txt", "cp866"),
        ("渡辺健一_1.txt", "shift_jis"),
    ],
)
def test_names_in_a_zip_are_in_the_code_page_of_their_system(read: Read, name: str, encoding: str) -> None:
    raw = name.encode(encoding)
    data = zipped({"X" * len(raw): "note"}).replace(b"X" * len(raw), raw)
    document = read(data, "a.zip")
    assert [segment.locator for segment in document.segments] == [name]


def test_quotes_and_dashes_of_windows_are_no_letters_of_dos() -> None:
    note = "“Stable,” she said – no pain… the patient’s dose: 5 µg at 37 °C, 2½ tablets • daily"
    assert decode(note.encode("cp1252"))[0] == note


def test_one_bad_byte_does_not_turn_utf8_into_another_encoding(read: Read) -> None:
    text = "Zoé Tremblay, née à Montréal, Côte-des-Neiges\n" * 4
    document = read(text.encode() + b"caf\xe9\n" + text.encode(), "a.txt")
    assert document.text.count("née à Montréal") == 8
    assert "café" in document.text


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
    options = {} if kind == "TIFF" else {"duration": 100}
    seen: list[object] = []
    monkeypatch.setattr(ocr, "languages", lambda: "eng")
    monkeypatch.setattr(ocr, "picture_text", lambda image, _: seen.append(image) or f"words {len(seen)}")
    assert (
        "words 2"
        in read(
            saved(frames[0], kind, save_all=True, append_images=frames[1:], **options), f"a.{kind.lower()}"
        ).text
    )


@pytest.mark.parametrize("char", ["é", "ç", "œ", "ñ", "ł", "—", "€", "’", "漢", "😀"])
@pytest.mark.parametrize("fold", [b"\r\n ", b"\n\t", b"\n", b"\r\n"])
def test_a_character_that_a_fold_cuts_garbles_no_other(char: str, fold: bytes) -> None:
    data = f"Zoé Lefèvre reçoit\ncaf{char} fini\n".encode()
    start = data.index(f"caf{char}".encode()) + 3
    for at in range(start + 1, start + len(char.encode())):
        text, encoding = decode(data[:at] + fold + data[at:])
        assert encoding == "utf-8"
        assert text == f"Zoé Lefèvre reçoit\ncaf{char}{fold.decode()} fini\n"


UNITS = [
    "T 38,5 °C", "37.2°C, stable", "temp 101 °F", "vit. D 10 µg", "levothyroxine 75µg die", "Cr 88 µmol/L",
    "5 µL", "IMC 27 kg/m²", "plaie 4 cm²", "n° 4", "fièvre à 38 °C, 50 µg", "Hélène: 12 µmol/L, 1,7 m²",
]  # fmt: skip


@pytest.mark.parametrize("note", UNITS)
def test_signs_of_units_in_a_short_note_are_those_of_windows(note: str) -> None:
    assert decode(note.encode("cp1252"))[0] == note
