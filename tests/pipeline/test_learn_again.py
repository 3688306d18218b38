"""Learning reads the reviewed files again where they lie, on this machine and in a bucket."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from phiscan.model import SourceFile
from phiscan.pipeline.learning.file_lookup import present
from tests.bucket import SECRET, environment, made_bucket, running_store
from tests.pipeline.harness import LETTER, Tool

N_FILES = 6


@pytest.fixture
def bucket(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    with running_store() as endpoint:
        for name, value in environment(endpoint).items():
            monkeypatch.setenv(name, value)
        with made_bucket(endpoint) as client:
            yield client


def _letter(number: int) -> str:
    return LETTER.format(
        first="Torvald", last="Karrowick", born=f"{number + 1} May 1961", card="1234 567 897", year=2009
    )


def _learned(tool: Tool) -> dict[str, Any]:
    done = tool.run("learn", "--by", "ada", "--json")
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)["detector_text"]
    return found


@pytest.mark.slow
def test_reviewed_files_in_a_bucket_are_learned_from(tool: Tool, tmp_path: Path, bucket: Any) -> None:
    for number in range(N_FILES):
        bucket.put_object(Bucket="research", Key=f"clinic/{number}.txt", Body=_letter(number).encode())
    folder = tmp_path / "share"
    folder.mkdir()
    (folder / "here.txt").write_text(_letter(20))
    done = tool.run("scan", "s3://research/clinic", folder)
    assert done.returncode == 1, done.stderr
    names = [f"s3://research/clinic/{number}.txt" for number in range(N_FILES)]
    for verdict, files in (("phi", [*names[1::2], str(folder / "here.txt")]), ("not_phi", names[::2])):
        done = tool.run("queue", "decide", *files, "--verdict", verdict, "--reviewer", "ada")
        assert done.returncode == 0, done.stderr
    told = _learned(tool)
    assert (told["read_again"], told["not_read"]) == (N_FILES + 1, {})
    bucket.put_object(Bucket="research", Key="clinic/1.txt", Body=_letter(9).encode())
    bucket.delete_object(Bucket="research", Key="clinic/2.txt")
    (folder / "here.txt").unlink()
    told = _learned(tool)
    assert (told["read_again"], told["not_read"]) == (N_FILES - 2, {"changed": 2, "gone": 1})
    for path in [*tool.home.rglob("*"), *tool.temp.rglob("*")]:
        if path.is_file():
            data = path.read_bytes()
            assert SECRET.encode() not in data
            assert b"Karrowick" not in data


def test_a_file_is_found_as_it_lies_there_now(tmp_path: Path) -> None:
    root = bytes(tmp_path)
    (tmp_path / "a").write_text("four")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("a")
    found = present(SourceFile(root, b"a", 1, 1, 1, 1, 1))
    assert found is not None
    assert (found.size, found.inode) == (4, (tmp_path / "a").stat().st_ino)
    for name in (b"gone", b"folder", b"link"):
        assert present(SourceFile(root, name, 1, 1, 1, 1, 1)) is None
    elsewhere = SourceFile(b"s3://research", b"a", 1, 1, 1, 1, 1)
    assert present(elsewhere) == elsewhere
