"""Text in the binary parts of office files: macros, embedded objects, names, notes, older text."""

import struct
import zlib
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from phiscan.extract.office.binary_texts import decompress
from phiscan.extract.office.storage import is_typed
from phiscan.model import Document, FailReason
from tests.extract.compound_files import (
    compound,
    native,
    packed,
    project,
    slide_record,
    word_97,
    workbook_97,
)
from tests.extract.packages import docx, xlsx

Read = Callable[..., Document]
P = "Patient Lena Okafor, born 1951-03-14, MRN 40718823, congestive heart failure."
WORDS = ("Lena Okafor", "1951-03-14", "40718823", "heart failure")
RAW, WIDE = P.encode(), P.encode("utf-16-le")
SOURCE = f'Attribute VB_Name = "M"\r\nSub Visit()\r\n\' {P}\r\nEnd Sub\r\n'
PROJECT = project("M", SOURCE)
EMPTY = project("M", "Attribute VB_Name = 'M'\r\n")
FORMULA = b"\x17" + bytes([len(RAW), 0]) + RAW  # a text in a formula
COUNTED = struct.pack("<HB", len(RAW), 0) + RAW
VALIDATION = struct.pack("<I", 0x40003) + b"\4\0\0Pick\3\0\0Err" + COUNTED + b"\1\0\0e" + bytes(14)
SLIDE = slide_record(0xF, 0x3EE, slide_record(0, 0xFA8, b"Hello"))
DRAWN = slide_record(0xF, 0xF004, slide_record(0x13, 0xF00B, struct.pack("<HI", 0x80C0, len(WIDE)) + WIDE))


def doc(**streams: Any) -> bytes:
    return compound({**word_97("Hello there\r"), **streams})


def xls(
    globals_: tuple[tuple[int, bytes], ...] = (), cells: tuple[tuple[int, bytes], ...] = (), **streams: object
) -> bytes:
    return compound({"Workbook": workbook_97(globals_, cells), **streams})


def ppt(further: bytes, after: bytes = b"") -> bytes:
    stream = slide_record(0xF, 0x3E8, SLIDE + further) + after
    return compound({"PowerPoint Document": stream.ljust(4096, b"\0"), "Current User": bytes(20)})


def with_table(strings: bytes) -> bytes:
    return compound(word_97("Hello there\r", strings))


FORM = {"\3VBFrame": b'   Caption = "' + RAW + b'"\r\n'}
CASES = {
    "macro.docm": docx(parts={"word/vbaProject.bin": compound(PROJECT)}),
    "macro.xlsm": xlsx(parts={"xl/vbaProject.bin": compound(PROJECT)}),
    "macro_elsewhere.docm": docx(parts={"word/other/part.bin": compound(PROJECT)}),
    "form_caption.docm": docx(parts={"word/vbaProject.bin": compound({**EMPTY, "Form": FORM})}),
    "macro.doc": doc(Macros=PROJECT),
    "macro.xls": xls(_VBA_PROJECT_CUR=PROJECT),
    "macro.ppt": ppt(
        b"", slide_record(0x10, 0x1011, struct.pack("<I", 9000) + zlib.compress(compound(PROJECT)))
    ),
    "variable.doc": with_table(struct.pack("<H", len(P)) + WIDE + b"\0\0"),
    "older_text.doc": compound(word_97("Hello there\r", further=RAW + bytes(9))),
    "older_wide_text.doc": compound(word_97("Hello there\r", further=WIDE + bytes(9))),
    "form_field.doc": doc(Data=bytes(80) + struct.pack("<H", len(P)) + WIDE + b"\0\0"),
    "other_stream.doc": doc(Unheard=RAW),
    "embedded.doc": doc(ObjectPool={"_1": word_97(P + "\r")}),
    "package.doc": doc(ObjectPool={"_1": {"\1Ole10Native": bytes(4) + native(b"n.txt", b"C:\\n.txt", RAW)}}),
    "control.doc": doc(ObjectPool={"_1": {"\3OCXNAME": b"T\0", "contents": bytes(30) + RAW + bytes(6)}}),
    "embedded.xls": xls(MBD0001A2B3={**word_97(P + "\r")}),
    "formula.xls": xls(cells=((0x06, struct.pack("<HHH8xHIH", 1, 0, 0, 0, 0, len(FORMULA)) + FORMULA),)),
    "name.xls": xls(
        ((0x18, struct.pack("<HBBHHH4xB", 0, 0, 6, len(FORMULA), 0, 0, 0) + b"Kontak" + FORMULA),)
    ),
    "validation.xls": xls(cells=((0x1BE, VALIDATION),)),
    "filter.xls": xls(cells=((0x9E, bytes(24) + b"\0" + RAW),)),
    "link.xls": xls(
        cells=(
            (0x1B8, bytes(24) + struct.pack("<II", 2, 0x14) + struct.pack("<I", len(P) + 1) + WIDE + b"\0\0"),
        )
    ),
    "scenario.xls": xls(
        cells=((0xAF, struct.pack("<HBBBBB", 1, 0, 0, 6, len(P), 4) + b"\0Kontak" + b"\0" + RAW),)
    ),
    "external_cell.xls": xls(((0x5A, struct.pack("<BBH", 0, 0, 0) + b"\x02" + COUNTED),)),
    "unused_string.xls": xls(((0xFC, struct.pack("<II", 0, 1) + COUNTED[:30]), (0x3C, b"\0" + COUNTED[30:]))),
    "pivot.xls": xls(_SX_DB_CUR={"0001": struct.pack("<HH", 0xCD, len(COUNTED)) + COUNTED}),
    "format.xls": xls(((0x41E, struct.pack("<HHB", 170, len(RAW) + 2, 0) + b'"' + RAW + b'"'),)),
    "drawn.ppt": ppt(DRAWN),
}


@pytest.mark.parametrize("name", CASES)
def test_a_text_in_a_binary_part_is_read(read: Read, name: str) -> None:
    shown = " ".join(read(CASES[name], name).text.split())
    for word in WORDS:
        assert word in shown


TRIAL = "Trial Okafor\x30Lena Okafor MRN 40718823 and a text of that many"
MODULE = compound(project("Lena_Okafor_40718823", "Sub A()\r\nEnd Sub\r\n"))
PATH = native(b"n.txt", b"C:\\Okafor Lena 40718823\\n.txt", b"Hello there")
NAMES = {
    "bookmark.doc": with_table(struct.pack("<H", 20) + "Lena_Okafor_40718823".encode("utf-16-le")),
    "table.doc": with_table(TRIAL.encode("utf-16-le")),
    "author.xls": xls(cells=((0x1C, struct.pack("<4H", 0, 0, 0, 1) + b"\x0d\0\0Okafor, Lena 40718823"),)),
    "module.docm": docx(parts={"word/vbaProject.bin": MODULE}),
    "path.bin": compound({"\1Ole10Native": bytes(4) + PATH}),
}


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read(read: Read, name: str) -> None:
    text = read(NAMES[name], name).text
    assert "Okafor" in text
    assert "Lena" in text


def test_a_macro_without_its_source_is_listed(read: Read) -> None:
    lost = compound({"VBA": {"dir": b"", "M": bytes(900) + b"compiled code"}})
    document = read(docx(parts={"word/vbaProject.bin": lost}), "a.docm")
    assert [part.reason for part in document.unread] == [FailReason.CORRUPT]


def test_names_of_programs_are_no_text(read: Read) -> None:
    names = ("heading 1", "Normal", "_Toc4734393", "Default Paragraph Font", "Text Box 3", "WW8Num1")
    assert not any(map(is_typed, names))
    assert read(doc(), "a.doc").text.strip() == "Hello there"


def test_a_compressed_source_is_unpacked_within_a_bound() -> None:
    repeated = b"\x01" + struct.pack("<H", 0xB003) + b"\x02A" + struct.pack("<H", 0x0FFF)
    assert decompress(repeated) == b"A" * 4099
    assert decompress(repeated[:3] + repeated[3:] * 1 + repeated[1:] * 5000, 9000) == b"A" * 9000
    assert decompress(packed(RAW * 200)) == RAW * 200


@pytest.mark.parametrize("n_bytes", range(600, 6000, 317))
def test_no_cut_or_damaged_file_is_a_crash(n_bytes: int) -> None:
    for name in ("macro.doc", "embedded.doc", "validation.xls", "drawn.ppt", "form_caption.docm"):
        before, rest = CASES[name][:n_bytes], CASES[name][n_bytes:]
        flipped = bytes(code ^ 0x55 for code in rest[:40])
        for damaged in (before, before + flipped + rest[40:]):
            with suppress(ExtractError):  # any other exception fails the test
                extract_bytes(damaged, name, Limits())
