"""Archives of iWork (IWA) and framed Snappy: strings whole, or named as unread."""

from __future__ import annotations

import random
from collections.abc import Callable

import pyarrow as pa
import pytest

from phiscan.errors import ExtractError
from phiscan.extract.archives.snappy_blocks import _strings
from phiscan.model import Document, FailReason
from tests.extract.packages import zipped

Read = Callable[..., Document]
NOTE = "Lena Okafor, MRN 40718823, congestive heart failure. Hélène Côté a un cancer du sein. " * 4
WORDS = (
    *("Maria", "Admission", "Hi", "MRN 123", "Rendez-vous", "B!", "Zoé", "Ann", "Health", "12 mg", "JR"),
    *("Rx: 5", "Asthme", "* note", ": oui", "Line one\nline two", "😀 fine", "Élise", "I am ill", "quand?"),
)


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out, number = out + bytes([number & 127 | 128]), number >> 7
    return out + bytes([number])


def text_field(number: int, data: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(data)) + data


def number_field(number: int, value: int) -> bytes:
    return varint(number << 3) + varint(value)


def archive(*messages: bytes) -> bytes:
    described = b"".join(
        text_field(2, number_field(1, 2001) + text_field(2, b"\1\0\5") + number_field(3, len(message)))
        for message in messages
    )
    info = number_field(1, 7) + described
    return varint(len(info)) + info + b"".join(messages)


def blocks(data: bytes, *, framed: bool = False) -> bytes:
    out = b"\xff\x06\0\0sNaPpY" if framed else b""
    for at in range(0, len(data), 65_536):
        packed = bytes(4 * framed) + pa.compress(data[at : at + 65_536], codec="snappy", asbytes=True)
        out += b"\0" + len(packed).to_bytes(3, "little") + packed
    return out


def test_the_strings_of_a_document_are_whole(read: Read) -> None:
    storage = number_field(1, 0) + text_field(3, NOTE.encode()) + text_field(5, number_field(1, 77))
    cells = b"".join(
        text_field(3, number_field(1, n) + text_field(3, f"Patient {n} Roy".encode())) for n in (1, 2)
    )
    parts = {
        "Index/Document.iwa": blocks(archive(storage)),
        "Index/Tables/DataList.iwa": blocks(archive(cells)),
    }
    document = read(zipped(parts), "a.pages")
    assert not document.unread
    assert document.text.split("\n")[:3] == [NOTE, "Patient 1 Roy", "Patient 2 Roy"]


@pytest.mark.parametrize("word", WORDS)
def test_short_words_are_read_as_they_are(read: Read, word: str) -> None:
    message = number_field(2, 9) + text_field(4, text_field(1, word.encode()) + number_field(3, 1))
    assert read(blocks(archive(message)), "a.iwa").text == f"{word}\n"


def test_strings_after_a_large_one_are_read(read: Read) -> None:
    letters = "".join(random.Random(1).choices("abcdefgh", k=200_000))
    data = archive(text_field(3, letters.encode())) + archive(text_field(3, b"Marc Delisle has gout"))
    text = read(blocks(data), "a.iwa").text
    assert text == f"{letters}\nMarc Delisle has gout\n"


@pytest.mark.parametrize("at", [60, 1_000, 90_000])
def test_a_damaged_archive_is_said_and_never_garbled(read: Read, at: int) -> None:
    letters = "".join(random.Random(1).choices("abcdefgh", k=200_000))
    data = blocks(archive(text_field(3, letters.encode())))
    with pytest.raises(ExtractError) as caught:
        read(data[:at] + bytes([255] * 300) + data[at + 300 :], "a.iwa")
    assert caught.value.reason in (FailReason.CORRUPT, FailReason.UNSUPPORTED)


def test_blocks_before_damage_are_read(read: Read) -> None:
    first = archive(text_field(3, NOTE.encode() * 300))
    data = blocks(first + archive(text_field(3, bytes(random.Random(2).choices(b"abcd", k=90_000)))))
    document = read(data[:-2_000], "a.iwa")
    assert NOTE in document.text
    assert [part.reason for part in document.unread] == [FailReason.CORRUPT]


def test_framed_snappy_is_a_member(read: Read) -> None:
    document = read(blocks(NOTE.encode() * 900, framed=True), "note.txt.sz")
    assert document.text == f"{NOTE * 900}\n"
    assert not document.unread
    assert {segment.locator for segment in document.segments} == {"note.txt"}


@pytest.mark.parametrize("name", ["a.iwa", "a.txt.sz"])
def test_without_the_library_a_part_is_named_with_the_reason(
    read: Read, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    whole = archive(text_field(1, NOTE.encode()))
    data = blocks(whole) if name == "a.iwa" else blocks(NOTE.encode(), framed=True)
    packed = zipped({name: data, "note.txt": NOTE})
    monkeypatch.setattr("phiscan.extract.archives.snappy_blocks.find_spec", lambda _: None)
    unread = read(packed, "a.zip").unread
    assert [one.reason for one in unread] == [FailReason.UNSUPPORTED]
    assert name in unread[0].locator
    assert "pyarrow" in unread[0].detail


@pytest.mark.parametrize("odd", [text_field(3, b"abc"), text_field(3, b""), varint(3 << 3 | 5) + b"\1\0\0\0"])
def test_an_odd_description_fails_no_file(odd: bytes) -> None:
    described = text_field(2, odd)
    whole = archive(text_field(1, NOTE.encode()))
    assert NOTE in list(_strings(whole + varint(len(described)) + described))
