"""What a worker is handed as an open file: the one that was crawled or that a program wrote, nothing else."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from phiscan.errors import ExtractError
from phiscan.extract.core.opening import open_read_only
from phiscan.model import FailReason, SourceFile
from phiscan.pipeline.workers.file_handoff import FileHandoff
from phiscan.sandbox.channel import close_all
from phiscan.sandbox.delivered_files import key_of
from phiscan.sandbox.programs import _written


@pytest.fixture
def crawled(tmp_path: Path) -> SourceFile:
    """A file of a share; beside the share lies a secret of the same name."""
    for folder in ("share/ward", "home"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "home" / "key").write_text("the secret")
    (tmp_path / "share" / "ward" / "key").write_text("a letter")
    status = os.lstat(tmp_path / "share" / "ward" / "key")
    found = SourceFile.of(os.fsencode(tmp_path / "share"), b"ward/key", status)
    return replace(found, mode=status.st_mode)


def test_a_folder_that_became_a_link_leads_nowhere(crawled: SourceFile, tmp_path: Path) -> None:
    os.close(open_read_only(crawled))
    ward = tmp_path / "share" / "ward"
    ward.rename(tmp_path / "share" / "before")
    ward.symlink_to(tmp_path / "home")
    with pytest.raises(ExtractError, match=FailReason.CHANGED):
        open_read_only(crawled)
    with FileHandoff() as handoff:
        handoff.put_local(crawled)
        reply, descriptors = handoff.serve_request(key_of(crawled))
    assert b"changed" in reply
    assert descriptors == []


def test_no_link_that_a_helper_program_left_is_followed(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("the secret")
    folder = tmp_path / "written"
    (folder / "a").mkdir(parents=True)
    (folder / "b.eml").write_text("two")
    (folder / "a" / "a.eml").write_text("one")
    (folder / "link.eml").symlink_to(tmp_path / "secret")
    (folder / "elsewhere").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.eml")
    found = _written(folder)
    try:
        texts = [(name, os.read(descriptor, 100)) for name, descriptor in found]
    finally:
        close_all([descriptor for _, descriptor in found])
    assert texts == [("a/a.eml", b"one"), ("b.eml", b"two")]
