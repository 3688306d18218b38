"""Content that a format lets a writer hide: it is read, or it is recorded as unread, never passed over."""

import bz2
import gzip
import io
import lzma
import random
import tarfile
import time
import zipfile
from collections.abc import Callable

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from phiscan.extract.office.rich_text import rtf_text
from phiscan.extract.spreadsheets.sheet_xml import extent_of
from phiscan.extract.structured.html import html_text
from phiscan.model import Document, FailReason
from tests.extract.compound_files import compound
from tests.extract.packages import xlsx, zipped

HIDDEN = "Lena Okafor, health card 1234-567-897"


def read(data: bytes, name: str) -> Document:
    return extract_bytes(data, name, Limits())


def reasons(document: Document) -> list[str]:
    return [part.reason for part in document.unread]


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "{HIDDEN}">]><a>&x;</a>', FailReason.UNSUPPORTED),
        (
            f'<?xml version="1.0"?><!DOCTYPE a [<!ATTLIST b k CDATA "{HIDDEN}">]><a><b/></a>',
            FailReason.UNSUPPORTED,
        ),
        (f"<a>&unknown; {HIDDEN}</a>", FailReason.CORRUPT),
        (f'<?xml version="1.0"?><!DOCTYPE a SYSTEM "a.dtd"><a>&x;<b>{HIDDEN}</b></a>', FailReason.CORRUPT),
    ],
    ids=["internal", "default", "undeclared", "external"],
)
def test_xml_entities_are_read_as_text_and_recorded(xml: str, reason: FailReason) -> None:
    document = read(xml.encode(), "a.xml")
    assert HIDDEN in document.text
    assert reason in reasons(document)


def test_xml_declarations_in_utf16_are_recorded() -> None:
    document = read(
        f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x "{HIDDEN}">]><a>&x;</a>'.encode("utf-16"), "a.xml"
    )
    assert HIDDEN in document.text
    assert document.unread


def test_xml_characters_by_their_html_names_are_no_damage() -> None:
    document = read(b"<a><n>Zo&eacute; Roy</n></a>", "a.xml")
    assert "n: Zo\u00e9 Roy" in document.text
    assert not document.unread


def test_xml_text_behind_an_instruction_and_comments_are_read() -> None:
    document = read(f"<a><b>x</b><?do it?>{HIDDEN}<!-- Ann Roy --></a>".encode(), "a.xml")
    assert HIDDEN in document.text
    assert "Ann Roy" in document.text
    assert "do it" in document.text


def test_an_entity_within_a_package_is_read_as_text_and_recorded() -> None:
    text = f'<!DOCTYPE a [<!ENTITY x "{HIDDEN}">]><document-content>&x;</document-content>'
    members = {"mimetype": "application/vnd.oasis.opendocument.text", "content.xml": text}
    document = read(zipped(members), "a.odt")
    assert HIDDEN in document.text
    assert reasons(document) == [FailReason.UNSUPPORTED]


def tar(*names: str) -> bytearray:
    """Return an archive in which every member takes two blocks; its text is HIDDEN and its name."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name in names:
            data = f"{HIDDEN} {name}".encode()
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return bytearray(stream.getvalue())


def test_a_whole_tar_has_nothing_unread() -> None:
    document = read(bytes(tar("1.txt", "2.txt")), "a.tar")
    assert document.text.count(HIDDEN) == 2
    assert not document.unread


@pytest.mark.parametrize("member", [0, 1, 2])
def test_members_behind_a_damaged_header_are_read(member: int) -> None:
    data = tar("1.txt", "2.txt", "3.txt")
    data[member * 1024 + 148] ^= 0x11  # its checksum
    document = read(bytes(data), "a.tar")
    assert document.text.count(HIDDEN) == 3
    assert reasons(document) == [FailReason.CORRUPT]
    assert "header" in document.unread[0].detail


def test_members_behind_the_end_mark_of_a_tar_are_read() -> None:
    data = tar("1.txt")[:1024] + bytes(1024) + tar("2.txt")
    document = read(bytes(data), "a.tar")
    assert document.text.count(HIDDEN) == 2
    assert not document.unread


@pytest.mark.parametrize("n_bytes", [1024, 1024 + 300, 1024 + 512 + 20])
def test_a_cut_tar_is_recorded(n_bytes: int) -> None:
    document = read(bytes(tar("1.txt", "2.txt")[:n_bytes]), "a.tar")
    assert HIDDEN + " 1.txt" in document.text
    assert FailReason.CORRUPT in reasons(document)
    if n_bytes > 1024 + 512:
        assert "Lena Okafor" in document.text.split("1.txt", 1)[1]


def test_a_tar_member_of_an_unknown_type_is_read() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        info = tarfile.TarInfo("a.txt")
        info.type, info.size = b"Q", len(HIDDEN)
        archive.addfile(info, io.BytesIO(HIDDEN.encode()))
    assert HIDDEN in read(stream.getvalue(), "a.tar").text


def test_a_tar_that_leads_back_into_itself_ends() -> None:
    data = tar("1.txt")
    info = tarfile.TarInfo("2.txt")
    header = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    header[124:136] = (-1024).to_bytes(12, "big", signed=True)
    header[148:156] = b"        "
    header[148:156] = b"%06o\0 " % sum(header)
    document = read(bytes(data[:1024] + header + tar("3.txt")), "a.tar")
    assert document.text.count(HIDDEN) == 2
    assert document.unread


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"]
)
def test_bytes_behind_a_compressed_stream_are_read(compress: Callable[[bytes], bytes]) -> None:
    document = read(compress(b"Ann Roy\n") + compress(b"and more") + HIDDEN.encode(), "a.txt.gz")
    assert "Ann Roy\nand more" in document.text
    assert HIDDEN in document.text
    assert [(part.locator, part.reason) for part in document.unread] == [("trailing", FailReason.CORRUPT)]


def test_padding_behind_a_compressed_stream_is_no_damage() -> None:
    assert not read(gzip.compress(b"Ann Roy") + bytes(512), "a.txt.gz").unread


@pytest.mark.parametrize(
    "compress", [gzip.compress, bz2.compress, lzma.compress], ids=["gzip", "bzip2", "xz"]
)
def test_what_is_unpacked_before_a_cut_is_read(compress: Callable[[bytes], bytes]) -> None:
    noise = random.Random(7).randbytes(1_000_000).hex().encode()
    document = read(compress(HIDDEN.encode() + b"\n" + noise)[:-100_000], "a.txt.gz")
    assert HIDDEN in document.text
    assert [part.detail for part in document.unread] == ["the compressed data is cut short"]


def test_what_is_unpacked_before_damage_is_read() -> None:
    packed = bytearray(gzip.compress(HIDDEN.encode() * 10_000 + b"the end"))
    packed[-8] ^= 1  # the checksum
    document = read(bytes(packed), "a.txt.gz")
    assert document.text.count(HIDDEN) > 1_000
    assert [part.detail for part in document.unread] == ["damaged compressed data"]
    with pytest.raises(ExtractError) as caught:
        read(b"\x1f\x8b\x08" + b"\xff" * 100, "a.gz")
    assert caught.value.detail == "damaged compressed data"


@pytest.mark.parametrize(
    ("rtf", "recorded"),
    [
        (r"{\rtf1 hi}" + HIDDEN, False),
        (r"{\rtf1 hi \bin99999999 " + HIDDEN + "}", True),
        (r"{\rtf1 hi \bin20 " + HIDDEN + r"\par and more}", False),
        (r"{\rtf1 hi {\pict \bin99999999 " + HIDDEN + "}}", True),
        (r"{\rtf1 hi \'zz " + HIDDEN + "}", False),
        (r"{\rtf1 hi " + "{" * 20_000 + HIDDEN, True),
        (r"{\rtf1 hi " + HIDDEN, True),
    ],
    ids=["behind", "swallowed", "binary", "picture", "byte", "deep", "cut"],
)
def test_rtf_is_read_to_the_end_of_the_file(rtf: str, *, recorded: bool) -> None:
    document = read(rtf.encode(), "a.rtf")
    assert "hi" in document.text
    assert HIDDEN in document.text
    assert bool(document.unread) == recorded
    assert HIDDEN in rtf_text(rtf.encode())


def test_a_whole_rtf_has_no_rest() -> None:
    document = read(rb"{\rtf1 Ann {\pict\bin3 }}}}Roy}" + b"\r\n\0", "a.rtf")
    assert document.text == "Ann Roy\n"
    assert not document.unread


@pytest.mark.parametrize(
    "html",
    [
        f"<html><body>ok<!-- {HIDDEN} --></body></html>",
        f"<html><body>ok</body></html><!-- {HIDDEN} -->",
        f"<html><body>ok<!-- <p title='{HIDDEN}'>x</p> --></body></html>",
        f"<html><body>ok<template><p>{HIDDEN}</p></template></body></html>",
        "<html><body>ok" + "<template>" * 9 + HIDDEN + "</body></html>",
        f"<html><body>ok<noscript>{HIDDEN}</noscript></body></html>",
        f"<html><head><noscript>{HIDDEN}</noscript></head><body>ok</body></html>",
        f"<html><body>ok<script>var a = '{HIDDEN}'</script></body></html>",
        f"<html><body>ok<p title='{HIDDEN}'></p></body></html>",
        f"<html><body>ok<input type=button value='{HIDDEN}'></body></html>",
        f"<html><body>ok<p data-row='{HIDDEN}'></p></body></html>",
        f"<html><body>ok<iframe srcdoc='&lt;p&gt;{HIDDEN}'></iframe></body></html>",
    ],
    ids=[
        "comment",
        "behind",
        "markup",
        "template",
        "templates",
        "noscript",
        "head",
        "script",
        "title",
        "button",
        "data",
        "frame",
    ],
)
def test_what_a_browser_does_not_show_is_read(html: str) -> None:
    document = read(html.encode(), "a.html")
    assert "ok" in document.text
    assert HIDDEN in document.text
    assert HIDDEN in html_text(html)


@pytest.mark.parametrize(
    "html",
    ["<div>" * 100_000 + HIDDEN, "".join(f"<font size={n}>" for n in range(20_000)) + "<p>" * 1000 + HIDDEN],
    ids=["blocks", "formats"],
)
def test_degenerate_html_is_read_as_it_stands(html: str) -> None:
    started = time.process_time()
    document = read(f"<html>{html}".encode(), "a.html")
    assert time.process_time() - started < 10
    assert HIDDEN in document.text
    assert reasons(document) == [FailReason.NESTED_TOO_DEEP]


def test_a_long_table_of_html_is_not_degenerate() -> None:
    html = "<html><table>" + "<tr><td>Ann<td><b>Roy</b>" * 20_000 + "</table>"
    document = read(html.encode(), "a.html")
    assert not document.unread
    assert "<td>" not in document.text


HEADERS = "From: a@b.ca\nTo: c@d.ca\nMIME-Version: 1.0\n"


def test_a_bad_header_costs_no_other_part_of_the_mail() -> None:
    mail = (
        f"Subject: =?utf-8?b?/////?= Ann Roy\n{HEADERS}"
        f"Content-Type: multipart/mixed; boundary=b\n\n{HIDDEN} before\n"
        f'--b\nContent-Type: text/plain; charset="Ann\\Roy"; name="=?utf-8?b?/////?="\n\n{HIDDEN} one\n'
        f"--b\nContent-Type: text/plain\nContent-Description: Lena's chart\n\n{HIDDEN} two\n"
        f"--b--\n{HIDDEN} behind\n"
    )
    text = read(mail.encode(), "a.eml").text
    for words in ("Ann Roy", "before", "one", "Lena's chart", "two", "behind"):
        assert words in text, words


def test_a_part_that_the_library_cannot_take_is_read_as_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> str:
        raise RuntimeError

    monkeypatch.setattr("phiscan.extract.mail.messages._body_text", fail)
    document = read(f"{HEADERS}Content-Type: text/plain\n\n{HIDDEN}".encode(), "a.eml")
    assert HIDDEN in document.text
    assert [part.detail for part in document.unread] == ["damaged part: RuntimeError"]


@pytest.mark.parametrize(
    "nested",
    [
        "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(10_000)),
        "Content-Type: message/rfc822\n\nFrom: a@b.ca\nMIME-Version: 1.0\n" * 3000,
        "Content-Type: message/rfc822\n\nFrom: a@b.ca\nMIME-Version: 1.0\n" * 30,
    ],
    ids=["parts", "messages", "few"],
)
def test_mail_nested_too_deep_is_read_as_it_stands(nested: str) -> None:
    document = read(f"{HEADERS}{nested}Content-Type: text/plain\n\n{HIDDEN}".encode(), "a.eml")
    assert HIDDEN in document.text
    assert reasons(document) == [FailReason.NESTED_TOO_DEEP]


def workbook(*cells: tuple[str, str]) -> bytes:
    """Return a workbook of one sheet, with the cells at these places."""
    rows = "".join(
        f'<row><c s="1" r="{place}" t="inlineStr"><is><t>{text}</t></is></c></row>' for place, text in cells
    )
    return xlsx(rows)


def test_a_cell_in_the_last_corner_of_a_sheet_is_read() -> None:
    data = workbook(("A1", "Ann Roy"), ("XFD1048576", HIDDEN))
    assert extent_of(io.BytesIO(data)) == "out of proportion"  # calamine would end the process
    document = read(data, "a.xlsx")
    assert "Ann Roy" in document.text
    assert HIDDEN in document.text


def test_a_usual_workbook_is_not_out_of_proportion() -> None:
    assert extent_of(io.BytesIO(workbook(("A1", "Ann Roy"), ("ZZ900", HIDDEN)))) == "usual"
    assert extent_of(io.BytesIO(b"PK no workbook")) == "usual"


def test_an_encrypted_office_file_is_encrypted_under_any_name_and_in_a_container() -> None:
    data = compound({"EncryptedPackage": bytes(8192)})
    for name in ("a.docx", "a.xls", "a.txt", "a"):
        with pytest.raises(ExtractError, match=FailReason.ENCRYPTED):
            read(data, name)
    assert reasons(read(zipped({"a.docx": data, "b.txt": "Ann Roy"}), "a.zip")) == [FailReason.ENCRYPTED]


@pytest.mark.parametrize("at", [-8, 0], ids=["end", "checksum"])
def test_what_is_unpacked_of_a_damaged_zip_member_is_read(at: int) -> None:
    data = bytearray(zipped({"a.txt": f"{HIDDEN}\n{random.Random(7).randbytes(100_000).hex()}"}))
    n_bytes = zipfile.ZipFile(io.BytesIO(data)).getinfo("a.txt").compress_size
    if at:
        data[30 + 5 + n_bytes + at : 30 + 5 + n_bytes] = b"\xff" * -at
    else:
        directory = data.rindex(b"PK\x01\x02")
        data[directory + 16] ^= 1
    document = read(bytes(data), "a.zip")
    assert HIDDEN in document.text
    assert reasons(document) == [FailReason.CORRUPT]
    assert document.unread[0].detail in ("damaged compressed data", "wrong checksum")


def archived(between: bytes = b"", behind: bytes = b"", *, streamed: bool = False) -> bytes:
    class Unseekable(io.BytesIO):
        def seekable(self) -> bool:
            return False

        def tell(self) -> int:
            raise io.UnsupportedOperation

    stream = Unseekable() if streamed else io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.txt", "Ann Roy")
        if between:
            stream.seek(archive.start_dir)
            stream.write(between)
            archive.start_dir = stream.tell()
        archive.writestr("b.txt", "Lena May")
    return stream.getvalue() + behind


@pytest.mark.parametrize("streamed", [False, True])
def test_a_whole_zip_has_nothing_outside_its_members(*, streamed: bool) -> None:
    document = read(archived(streamed=streamed), "a.zip")
    assert document.text == "Ann Roy\nLena May\n"
    assert not document.unread


@pytest.mark.parametrize("place", ["between", "behind"])
def test_bytes_outside_the_members_of_a_zip_are_read(place: str) -> None:
    document = read(archived(**{place: HIDDEN.encode()}), "a.zip")
    assert HIDDEN in document.text
    assert "Lena May" in document.text
    assert [part.detail for part in document.unread] == ["bytes outside the members of the archive"]
