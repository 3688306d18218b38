"""The account of a file lists what a reader leaves out: each case of the other tests without its reader."""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from phiscan.extract.core import registry
from phiscan.extract.core.content import Sink
from phiscan.extract.core.file_type import sniff
from tests.extract import (
    test_bug_cases,
    test_hidden_places,
    test_mail_forms,
    test_office_places,
    test_pdf_places,
    test_picture_places,
    test_sqlite_remains,
    test_text_codes,
)

Case = tuple[bytes, tuple[str, ...]]
WORDS = ("Lena Okafor", "40718823", "congestive heart failure")
FAMILIES: dict[str, dict[str, bytes]] = {
    "hidden": test_hidden_places.PLACES,
    "office": test_office_places.CASES,
    "pdf": test_pdf_places.CASES,
    "picture": dict(test_picture_places.CASES),
    "mail": test_mail_forms.CASES,
    "codes": test_text_codes.CASES,
    "sqlite": test_sqlite_remains.CASES,
}
# What a case says, in the words by which its lines are recognized; parts of them where a case splits words.
SAID = re.compile(
    r"Okafor|for 407|40718823|congest|8823|Delisle|51120934|prostate|1951|Lena|heart|failure|Seen again"
    r"|nothing new|same team|Côté|Montr|hospitalis|furosemide|seizure|Stillbirth|Rossi",
    re.IGNORECASE,
)


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


def no_lines(*_: object, **__: object) -> Iterator[str]:
    return iter(())


def as_it_is(data: bytes, *_: object) -> tuple[bytes, tuple[()]]:
    return data, ()


@pytest.fixture(autouse=True)
def _blank_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """OCR has read every picture and found no text."""
    monkeypatch.setattr("phiscan.extract.ocr.recognition.languages", lambda: "eng")
    monkeypatch.setattr("phiscan.extract.ocr.recognition.picture_text", no_text)


def outcome(name: str) -> tuple[bool, str]:
    """Return whether all words of a case are in its text, however parted, and what is listed as unread."""
    data, words = CASES[name]
    try:
        document = extract_bytes(data, name.rpartition("/")[2], Limits())
    except ExtractError as error:
        return False, f"{error.reason} {error.detail}"
    squeezed = re.sub(r"\W", "", document.text.casefold())
    is_whole = all(re.sub(r"\W", "", part.casefold()) in squeezed for word in words for part in word.split())
    listed = [f"{part.locator} {part.detail}" for part in document.unread]
    return is_whole, "; ".join(listed)


# Values of one or two words in a row of which nothing else is left; what only the pixels of a code say.
NOT_SEEN = {"sqlite/deleted_cols.db", "bugs/25/wristband_qr.png"}


@pytest.mark.parametrize("name", sorted(CASES.keys() - NOT_SEEN))
def test_lines_that_get_lost_on_the_way_are_listed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whichever reader gives a line of the case, and accounts for it: without both the file is listed."""
    add = Sink.add

    def add_others(sink: Sink, text: str, locator: str) -> None:
        add(sink, "\n".join(line for line in text.split("\n") if not SAID.search(line)), locator)

    monkeypatch.setattr(Sink, "add", add_others)
    monkeypatch.setattr(Sink, "mark_accounted", nothing)
    is_whole, listed = outcome(name)
    assert not is_whole
    assert listed


# No reader: the runs of text in unknown data, which are read as such. A package in base64 in an XML part.
OTHERWISE = {"codes/nulpad.dat", "hidden/queries.xlsx"}


@pytest.mark.parametrize("name", sorted(CASES.keys() - OTHERWISE))
def test_a_file_whose_reader_gives_nothing_is_listed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    media_type = sniff(CASES[name][0], name.rpartition("/")[2])
    monkeypatch.setitem(registry.READERS, media_type, nothing)
    is_whole, listed = outcome(name)
    assert not is_whole
    assert listed


MAIL = "phiscan.extract.mail.messages"
PLAIN = "phiscan.extract.structured.messages"
# Functions that read one kind of place, what replaces them, and the families they read in.
READERS: dict[str, tuple[Callable[..., object], tuple[str, ...]]] = {
    "phiscan.extract.core.registry.recover": (nothing, ("codes",)),
    f"{PLAIN}.lift_encoded": (as_it_is, ("codes", "hidden")),
    f"{PLAIN}.read_lifted": (nothing, ("codes", "hidden")),
    f"{MAIL}.lift_encoded": (as_it_is, ("mail", "bugs")),
    f"{MAIL}.read_lifted": (nothing, ("mail", "bugs")),
    f"{MAIL}.decode_body": (nothing, ("mail", "bugs")),
    f"{MAIL}._header_lines": (no_lines, ("mail",)),
    f"{MAIL}._body_text": (no_text, ("mail",)),
    f"{MAIL}._attachment": (nothing, ("mail", "bugs")),
    f"{MAIL}._nested": (nothing, ("mail",)),
    f"{MAIL}._say_what_lies_elsewhere": (nothing, ("mail",)),
    "phiscan.extract.office.part_values.sweep": (nothing, ("office", "bugs")),
    "phiscan.extract.office.package.Package.members": (no_lines, ("office",)),
    "phiscan.extract.pdf.objects.read_unshown": (nothing, ("pdf",)),
    "phiscan.extract.pdf.reader.read_appearances": (nothing, ("bugs",)),
    "phiscan.extract.pdf.objects.read_revisions": (nothing, ("bugs",)),
    "phiscan.extract.pdf.reader.read_extras": (nothing, ("pdf",)),
    "phiscan.extract.pdf.reader.read_page_extras": (nothing, ("pdf",)),
    "phiscan.extract.residue.account.read_strings": (nothing, ("picture", "hidden")),
    "phiscan.extract.ocr.images.metadata_text": (no_text, ("picture", "hidden")),
    "phiscan.extract.ocr.images.read_appended": (nothing, ("hidden",)),
    "phiscan.extract.ocr.picture_values._decoded": (nothing, ("bugs",)),
}
# The words are in the file as bits of records of another kind, and no part of it is left over.
BOTH_WAYS = {"codes/csv_rtf.csv", "codes/json_rtf.json"}


@pytest.mark.parametrize("target", READERS)
def test_no_case_is_complete_without_the_reader_of_its_place(
    monkeypatch: pytest.MonkeyPatch, target: str
) -> None:
    replacement, families = READERS[target]
    monkeypatch.setattr(target, replacement)
    chosen = [name for name in CASES if name.startswith(families) and name not in BOTH_WAYS]
    outcomes = {name: outcome(name) for name in chosen}
    assert [name for name, (is_whole, listed) in outcomes.items() if not is_whole and not listed] == []


CODE_PAGES = ["bugs/28/note_cp850.txt", "bugs/28/note_cp863.txt", "bugs/28/note_mac_roman.txt"]


@pytest.mark.skipif(CODE_PAGES[0] not in CASES, reason="the cases are not there")
@pytest.mark.parametrize("name", CODE_PAGES)
def test_a_text_in_a_wrong_code_page_is_listed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr("phiscan.extract.core.charset._single_byte_encoding", lambda _: "cp1252")
    assert "code page that is not known" in outcome(name)[1]


def test_without_the_account_the_cases_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """The tests above fail when the account is off: most cases count as read to the end then."""
    monkeypatch.setattr("phiscan.extract.core.reading.account", nothing)
    monkeypatch.setattr("phiscan.extract.core.registry.recover", nothing)
    monkeypatch.setattr("phiscan.extract.office.part_values.sweep", nothing)
    monkeypatch.setattr("phiscan.extract.pdf.objects.read_unshown", nothing)
    chosen = [name for name in CASES if name.startswith(("office", "pdf", "codes"))]
    outcomes = [outcome(name) for name in chosen]
    assert sum(not is_whole and not listed for is_whole, listed in outcomes) > len(chosen) // 2


def test_an_archive_of_folders_alone_is_complete() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.mkdir("letters")
        archive.writestr("letters/empty.txt", "")
    assert not extract_bytes(stream.getvalue(), "a.zip", Limits()).unread


def test_the_entry_names_place_and_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("phiscan.extract.residue.account.read_strings", nothing)
    monkeypatch.setattr("phiscan.extract.ocr.images.block_texts", lambda _data: iter(()))
    data = test_picture_places.png(b"prVt", zlib.compress(f"{test_picture_places.P} ".encode() * 9))
    document = extract_bytes(test_hidden_places.zipped({"a.png": data, "a.txt": "Hello"}), "a.zip", Limits())
    assert any(
        re.fullmatch(
            r"a\.png#bytes \d+ 1 stretches .* 5\d\d characters, are not read", f"{part.locator} {part.detail}"
        )
        for part in document.unread
    )
