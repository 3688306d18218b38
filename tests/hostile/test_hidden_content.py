"""Content that a format lets a writer hide: it is read, or it is recorded as unread, never passed over."""

import io
import zipfile

import pytest

from phiscan.config import Limits
from phiscan.extract import extract_bytes
from phiscan.model import Document, FailReason

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
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
        archive.writestr(
            "content.xml", f'<!DOCTYPE a [<!ENTITY x "{HIDDEN}">]><document-content>&x;</document-content>'
        )
    document = read(stream.getvalue(), "a.odt")
    assert HIDDEN in document.text
    assert reasons(document) == [FailReason.UNSUPPORTED]
