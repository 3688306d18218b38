"""What a reader leaves out is added or listed: cases of the other tests without their reader."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from tests.extract import (
    test_bug_cases,
    test_mail_forms,
    test_pdf_places,
    test_text_codes,
)
from tests.extract.packages import zipped

Case = tuple[bytes, tuple[str, ...]]
WORDS = ("Lena Okafor", "40718823", "heart failure")
FAMILIES: dict[str, dict[str, bytes]] = {
    "pdf": test_pdf_places.CASES,
    "mail": test_mail_forms.CASES,
    "codes": test_text_codes.CASES,
}


def cases() -> Iterator[tuple[str, Case]]:
    for family, members in FAMILIES.items():
        for name, data in members.items():
            yield f"{family}/{name}", (data, WORDS)
    for name, words in test_bug_cases.CASES.items():
        path = Path(test_bug_cases.FOLDER, name)
        if path.is_file():
            yield f"bugs/{name}", (path.read_bytes(), words)


CASES = dict(cases())


def nothing(*_: object, **__: object) -> None:
    return None


def no_text(*_: object) -> str:
    return ""


def as_it_is(data: bytes, *_: object) -> tuple[bytes, tuple[()]]:
    return data, ()


@pytest.fixture(autouse=True)
def _blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """OCR has read every picture and found no text."""
    monkeypatch.setattr("phiscan.extract.ocr.recognition.languages", lambda: "eng")
    monkeypatch.setattr("phiscan.extract.ocr.recognition.picture_text", no_text)


def outcome(name: str) -> tuple[bool, str]:
    """Return whether the longest words of a case are in its text, however parted, and what is listed."""
    data, words = CASES[name]
    try:
        document = extract_bytes(data, name.rpartition("/")[2], Limits())
    except ExtractError as error:
        return False, f"{error.reason} {error.detail}"
    squeezed = re.sub(r"\W", "", document.text.casefold())
    longest = max(words, key=len).split()
    is_there = all(re.sub(r"\W", "", part.casefold()) in squeezed for part in longest)
    return is_there, "; ".join(f"{part.locator} {part.detail}" for part in document.unread)


MAIL = "phiscan.extract.mail.messages"
PLAIN = "phiscan.extract.structured.messages"
# Functions that read one kind of place, what replaces them, and the families they read in.
READERS: dict[str, tuple[Callable[..., object], tuple[str, ...]]] = {
    f"{PLAIN}.lift_encoded": (as_it_is, ("codes",)),
    f"{MAIL}.lift_encoded": (as_it_is, ("mail", "bugs")),
    f"{MAIL}.decode_body": (nothing, ("mail", "bugs")),
    "phiscan.extract.pdf.reader.read_appearances": (nothing, ("bugs",)),
    "phiscan.extract.pdf.objects.read_revisions": (nothing, ("bugs",)),
    "phiscan.extract.pdf.extras.read_extras": (nothing, ("pdf",)),
    "phiscan.extract.pdf.extras.read_page_extras": (nothing, ("pdf",)),
}
# The words are in the file as bits of records of another kind, or look like digits themselves, and no part of
# it is left over.
BOTH_WAYS = {"codes/csv_rtf.csv", "codes/json_rtf.json", "mail/signature_after_digits.eml"}
BOTH_WAYS |= {"mail/not_encoded.eml", "mail/returns.eml"}


@pytest.mark.parametrize("target", READERS)
def test_no_case_is_complete_without_the_reader_of_its_place(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    replacement, families = READERS[target]
    monkeypatch.setattr(target, replacement)
    chosen = [name for name in CASES if name.startswith(families) and name not in BOTH_WAYS]
    outcomes = {name: outcome(name) for name in chosen}
    assert [name for name, (is_there, listed) in outcomes.items() if not is_there and not listed] == []


CODE_PAGES = ["bugs/28/note_cp850.txt", "bugs/28/note_cp863.txt", "bugs/28/note_mac_roman.txt"]


@pytest.mark.skipif(CODE_PAGES[0] not in CASES, reason="the cases are not there")
@pytest.mark.parametrize("name", CODE_PAGES)
def test_a_text_in_a_wrong_code_page_is_listed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("phiscan.extract.core.charset._single_byte_encoding", lambda _: "cp1252")
    assert "code page that is not known" in outcome(name)[1]


def test_an_archive_of_folders_alone_is_complete() -> None:
    data = zipped({"letters/": "", "letters/empty.txt": ""})
    assert not extract_bytes(data, "a.zip", Limits()).unread
