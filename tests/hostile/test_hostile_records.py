"""Hostile data files: claims of endless rows, rings, bombs and damage cost one file and little time."""

import gzip
import os
import random
import struct
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract_bytes
from phiscan.model import FailReason
from phiscan.sandbox import programs
from tests.extract.access_files import TEXT, Table, access_file

SMALL = Limits(member_bytes=8 * 1024**2, member_count=50, depth=3, ratio=100, file_bytes=16 * 1024**2)
ONENOTE = b"\xe4\x52\x5c\x7b\x8c\xd8\xa7\x4d" + bytes(1016)
FILE = bytes.fromhex("e716e3bd65261145a4c48d4d0b7a9eac")


def outcome(data: bytes, name: str, limits: Limits = SMALL) -> set[str]:
    """Read a file and return the reasons of what was not read."""
    try:
        document = extract_bytes(data, name, limits)
    except ExtractError as error:
        return {error.reason}
    return {part.reason for part in document.unread}


def written(folder: Path, write: Callable[..., None], **options: object) -> bytes:
    path = folder / "made"
    rows = {"name": ["Lena Okafor", "Marc Delisle"] * 20, "dx": [1.0, 2.0] * 20}
    write(pd.DataFrame(rows), path, **options)
    return path.read_bytes()


def test_a_compressed_file_of_endless_rows_is_bounded(tmp_path: Path) -> None:
    path = tmp_path / "made.zsav"
    pyreadstat.write_sav(pd.DataFrame({"name": ["x" * 8] * 400_000}), path, compress=True)
    document = extract_bytes(path.read_bytes(), "a.zsav", replace(SMALL, text_chars=100_000))
    assert len(document.text) <= 100_000
    assert FailReason.TOO_LARGE in {part.reason for part in document.unread}


@pytest.mark.parametrize("n_rows", [2**31 - 1, 10**6])
def test_rows_that_are_claimed_and_not_there_end(tmp_path: Path, n_rows: int) -> None:
    data = bytearray(written(tmp_path, pyreadstat.write_dta, version=13))
    at = data.index(b"<N>") + 3
    data[at : at + 4] = struct.pack("<I", n_rows)
    assert outcome(bytes(data), "a.dta") & {FailReason.CORRUPT, FailReason.UNSUPPORTED}


def read_damaged(sample: bytes, first: int) -> None:
    """Read a file that is cut and changed at random behind its first bytes."""
    chance = random.Random(11)
    for _ in range(40):
        data = bytearray(sample[: chance.randrange(len(sample) // 3, len(sample) + 1)])
        for _ in range(chance.randrange(1, 6)):
            data[chance.randrange(first, len(data))] = chance.choice((0, 255, chance.randrange(256)))
        with suppress(ExtractError):  # any other exception fails the test
            extract_bytes(bytes(data), "a.bin", SMALL)


@pytest.mark.parametrize("write", [pyreadstat.write_dta, pyreadstat.write_xport, pyreadstat.write_sav])
def test_damaged_tables_end_in_a_known_outcome(tmp_path: Path, write: Callable[..., None]) -> None:
    read_damaged(written(tmp_path, write), 24)


def test_files_of_onenote_that_overlap_share_one_budget() -> None:
    heads = b"".join(FILE + struct.pack("<QIQ", 2**40, 0, 0) + b"text of the ward " * 4 for _ in range(60))
    body = struct.pack("<HI", 1, 0x1C001C22) + struct.pack("<I", 8) + "Ward".encode("utf-16-le")
    assert FailReason.TOO_LARGE in outcome(ONENOTE + body + heads, "a.one")


def test_a_section_of_onenote_within_itself_stops_at_the_depth() -> None:
    data = ONENOTE + struct.pack("<HI", 1, 0x1C001C22) + struct.pack("<I", 8) + "Ward".encode("utf-16-le")
    for _ in range(6):
        data = data + FILE + struct.pack("<QIQ", len(data), 0, 0) + data
    assert outcome(data, "a.one") & {FailReason.NESTED_TOO_DEEP, FailReason.TOO_LARGE}


def test_lists_of_properties_without_end_are_bounded() -> None:
    text = struct.pack("<HII", 1, 0x1C001C22, 8) + "Ward".encode("utf-16-le")
    data = ONENOTE + text + struct.pack("<HI", 64, 0x1C001C22) * 100_000
    assert FailReason.TOO_LARGE in outcome(data, "a.one")


def test_a_program_that_writes_without_end_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "_MOST_OUTPUT_BYTES", 256 * 1024)
    monkeypatch.setitem(programs.JOBS, "endless", programs.Job("yes", ()))
    with Path(os.devnull).open("rb") as nothing:
        done = programs.execute("endless", {}, nothing.fileno(), 60)
    assert done.status != 0
    assert len(done.output) == 256 * 1024


def test_a_picture_that_is_followed_by_a_bomb_costs_the_bomb() -> None:
    bomb = gzip.compress(bytes(64 * 1024**2))
    picture = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 0) + b"IEND\xae\x42\x60\x82"
    assert outcome(picture + bomb, "a.png") & {FailReason.TOO_LARGE, FailReason.CORRUPT}


WARDS = Table("Wards", (("Name", TEXT),), [("Okafor",)] * 30)
DATABASES = {
    "Access": access_file(WARDS),
    "memos": struct.pack(">IHH", 9, 0, 64).ljust(512, b"\0")
    + (struct.pack(">II", 1, 32) + b"gout " * 11) * 9,
    "log": struct.pack(">4s4xI", b"\x37\x7f\x06\x82", 512).ljust(56, b"\0") + b"\x0d\0\0\0\x20" * 99,
    "gzip": b"\x1f\x8b\x08\x1c" + bytes(6) + b"\xff\xff" + b"Okafor" * 20,
}


@pytest.mark.parametrize("sample", DATABASES.values(), ids=DATABASES)
def test_damaged_databases_end_in_a_known_outcome(sample: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(programs, "is_installed", lambda _: False)
    read_damaged(sample, 12)
