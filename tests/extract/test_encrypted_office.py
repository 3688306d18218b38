"""Office documents under a password, opened with the operator's list."""

import io
from collections.abc import Callable
from functools import cache
from pathlib import Path

import docx
import pytest
from msoffcrypto.format.ooxml import OOXMLFile

from phiscan.errors import ExtractError
from phiscan.model import Document, FailReason

Read = Callable[..., Document]


@cache
def locked(password: str) -> bytes:
    document = docx.Document()
    document.add_paragraph("Lena Okafor")
    plain, out = io.BytesIO(), io.BytesIO()
    document.save(plain)
    OOXMLFile(plain).encrypt(password, out)
    return out.getvalue()


def test_a_password_of_the_list_opens_a_word_file(read: Read) -> None:
    document = read(locked("rosebud"), "a.docx", None, ("wrong", "rosebud"))
    assert document.locate(document.text.index("Lena Okafor")) == "#body"


@pytest.mark.parametrize("passwords", [(), ("wrong",)])
def test_without_the_password_it_is_encrypted(read: Read, passwords: tuple[str, ...]) -> None:
    with pytest.raises(ExtractError) as caught:
        read(locked("rosebud"), "a.docx", None, passwords)
    assert caught.value.reason == FailReason.ENCRYPTED
    assert "rosebud" not in f"{caught.value}"


def test_a_file_that_is_only_locked_against_changes_is_read(read: Read) -> None:
    assert "Lena Okafor" in read(locked("VelvetSweatshop"), "a.docx").text


def test_a_damaged_encrypted_file_is_an_outcome(read: Read) -> None:
    data = locked("rosebud")
    with pytest.raises(ExtractError) as caught:
        read(data[: len(data) // 2], "a.docx", None, ("rosebud",))
    assert caught.value.reason in (FailReason.ENCRYPTED, FailReason.CORRUPT, FailReason.UNSUPPORTED)


FILES = Path(__file__).parents[3] / "shared" / "data" / "files"


@pytest.mark.skipif(not FILES.is_dir(), reason="the real documents are not here")
@pytest.mark.parametrize(
    ("name", "password"),
    [
        ("poi-a7de3ebe-protected_agile.docx", "foobaa"),
        ("tika-8d7e1ec8-testEXCEL_protected_passtika.xls", "tika"),
    ],
)
def test_real_encrypted_files_open_with_their_password(read: Read, name: str, password: str) -> None:
    data = (FILES / name).read_bytes()
    assert len(read(data, name, None, (password,)).text) > 10
