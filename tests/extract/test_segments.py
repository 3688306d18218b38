"""Files cut into segments are read as one; a later segment is a part of the first."""

import io
import os
import random
import zipfile
from collections.abc import Callable
from pathlib import Path

import py7zr
import pytest

from phiscan.config import Limits
from phiscan.errors import ExtractError
from phiscan.extract import extract
from phiscan.extract.archives.segments import PART
from phiscan.extract.core.opening import open_sibling, segment_of
from phiscan.extract.reading import identify
from phiscan.model import SourceFile
from tests.extract.packages import zipped
from tests.handed_over import handed_over

AsSource = Callable[[Path], SourceFile]
NOTE = "Patient: Lena Okafor, MRN 40718823, congestive heart failure"


def cut(data: bytes, folder: Path, n_parts: int, name: Callable[[int], str]) -> list[Path]:
    """Write data in parts of one size, the last one shorter."""
    size = len(data) // n_parts + 1
    paths = [folder / name(number) for number in range(1, n_parts + 1)]
    for number, path in enumerate(paths):
        path.write_bytes(data[number * size : (number + 1) * size])
    return paths


def numbered(stem: str) -> Callable[[int], str]:
    return lambda number: f"{stem}.{number:03d}"


def zip_file() -> bytes:
    return zipped({"noise.txt": random.Random(1).randbytes(60_000).hex(), "a.txt": NOTE}, zipfile.ZIP_STORED)


def seven_zipped() -> bytes:
    stream = io.BytesIO()
    with py7zr.SevenZipFile(stream, "w") as archive:
        archive.writestr("x" * 30_000 + random.Random(1).randbytes(30_000).hex(), "noise.txt")
        archive.writestr(NOTE, "a.txt")
    return stream.getvalue()


def check(paths: list[Path], as_source: AsSource, main: int = 0) -> None:
    for number, path in enumerate(paths):
        document = extract(as_source(path), Limits())
        if number == main % len(paths):
            assert NOTE in document.text
            assert "a.txt" in document.segments[-1].locator or "NOTE" in document.segments[0].locator
        else:
            assert document.media_type == PART
            assert not document.text
        assert not [part for part in document.unread if "segment" in part.detail]
        assert identify(as_source(path), Limits())[:2] == (document.content_hash, document.media_type)


@pytest.mark.parametrize(("make", "stem"), [(zip_file, "a.zip"), (seven_zipped, "a.7z")])
def test_a_split_archive_is_read_as_one(
    tmp_path: Path, as_source: AsSource, make: Callable[[], bytes], stem: str
) -> None:
    check(cut(make(), tmp_path, 3, numbered(stem)), as_source)


def test_a_split_zip_begins_with_its_first_part_and_is_named_after_its_last(
    tmp_path: Path, as_source: AsSource
) -> None:
    data = b"PK\x07\x08" + zip_file()
    paths = cut(data, tmp_path, 3, lambda number: "a.zip" if number == 3 else f"a.z{number:02d}")
    check(paths, as_source, main=-1)


def test_workers_are_handed_the_segments(tmp_path: Path, as_source: AsSource) -> None:
    paths = cut(zip_file(), tmp_path, 3, numbered("a.zip"))
    sources = [as_source(path) for path in paths]
    with handed_over(1, Limits(), sources) as sandbox:
        answers = dict(sandbox.run(_kind_and_text, sources))
    assert answers[sources[0]] == ["application/zip", True]
    assert answers[sources[1]] == answers[sources[2]] == [PART, False]


def _kind_and_text(source: SourceFile) -> list[object]:
    document = extract(source, Limits())
    return [document.media_type, NOTE in document.text]


def test_a_gap_ends_the_series(tmp_path: Path, as_source: AsSource) -> None:
    paths = cut(zip_file(), tmp_path, 4, numbered("a.zip"))
    paths[1].unlink()
    first = extract(as_source(paths[0]), Limits())
    assert NOTE not in first.text
    assert "damaged ZIP archive" in {part.detail[:19] for part in first.unread}
    assert extract(as_source(paths[2]), Limits()).media_type != PART


def test_letters_with_numbers_are_no_series(tmp_path: Path, as_source: AsSource) -> None:
    for number, name in enumerate(("Lena", "Marc"), 1):
        (tmp_path / f"letter.{number:03d}").write_text(f"Dear {name}, see you soon")
    assert "Marc" in extract(as_source(tmp_path / "letter.002"), Limits()).text
    assert "Marc" not in extract(as_source(tmp_path / "letter.001"), Limits()).text


def test_archives_of_their_own_are_no_series(tmp_path: Path, as_source: AsSource) -> None:
    names = ("Lena", "Marc", "Odile")
    for number, name in enumerate(names, 1):
        noise = random.Random(number).randbytes(40_000 // number).hex()
        data = zipped({"noise.txt": noise, "a.txt": f"Dear {name}, see you soon"}, zipfile.ZIP_STORED)
        (tmp_path / f"backup.{number:03d}").write_bytes(data)
    for number, name in enumerate(names, 1):
        document = extract(as_source(tmp_path / f"backup.{number:03d}"), Limits())
        assert f"Dear {name}" in document.text
        assert document.text.count("Dear ") == 1
        assert not document.unread


def test_a_link_is_no_segment(tmp_path: Path, as_source: AsSource) -> None:
    share, elsewhere = tmp_path / "share", tmp_path / "elsewhere"
    share.mkdir()
    elsewhere.mkdir()
    paths = cut(zip_file(), share, 2, numbered("a.zip"))
    paths[1].rename(elsewhere / "b")
    paths[1].symlink_to(elsewhere / "b")
    with pytest.raises(ExtractError):
        open_sibling(as_source(paths[0]), 2)


def test_a_folder_that_was_exchanged_gives_no_segment(tmp_path: Path, as_source: AsSource) -> None:
    share, other = tmp_path / "share", tmp_path / "other"
    for folder in (share, other):
        folder.mkdir()
        cut(zip_file(), folder, 2, numbered("a.zip"))
    source = as_source(share / "a.zip.001")
    share.rename(tmp_path / "moved")
    share.symlink_to(other)
    with pytest.raises(ExtractError, match="changed"):
        open_sibling(source, 2)


def test_only_names_of_a_series_are_opened(tmp_path: Path, as_source: AsSource) -> None:
    paths = cut(zip_file(), tmp_path, 2, numbered("a.zip"))
    (tmp_path / "plain.txt").write_text(NOTE)
    for path, number in ((tmp_path / "plain.txt", 2), (paths[0], 1), (paths[0], 10_000)):
        with pytest.raises(ExtractError):
            open_sibling(as_source(path), number)


def test_another_segment_changes_the_hash(tmp_path: Path, as_source: AsSource) -> None:
    paths = cut(zip_file(), tmp_path, 3, numbered("a.zip"))
    before = identify(as_source(paths[0]), Limits())[0]
    os.utime(paths[2], ns=(1, 1))
    assert identify(as_source(paths[0]), Limits())[0] != before


@pytest.mark.parametrize("name", [b"letter.docx", b"001", b"a.000000", b"report.2024", b".001"])
def test_names_of_no_series(name: bytes) -> None:
    assert segment_of(name) is None
