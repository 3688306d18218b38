"""Detector C's lesson: a reviewed file is read again, and only numbers come back from it."""

from pathlib import Path

import numpy as np
import pytest
from blake3 import blake3

from phiscan.config import Config
from phiscan.model import SourceFile
from phiscan.pipeline.engine import build_engine
from phiscan.pipeline.learning import learn
from phiscan.pipeline.learning.file_lookup import present
from phiscan.store.identity import create_key
from tests.pipeline.harness import LETTER


@pytest.fixture
def ready(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    create_key(tmp_path / "home" / "key")
    monkeypatch.setattr(learn._Reader, "engine", build_engine(Config(home=tmp_path / "home")))
    return tmp_path


def test_only_numbers_come_back_from_a_file_that_is_as_it_was(ready: Path) -> None:
    text = LETTER.format(first="Zantho", last="Prathewin", born="3 May 1961", card="1234 567 897", year=2009)
    (ready / "letter.txt").write_text(text)
    source = present(SourceFile(bytes(ready), b"letter.txt", 1, 0, 0, 0, 0))  # its times do not matter
    assert source is not None
    found = learn._read(source)
    assert found.content_hash == blake3(text.encode()).hexdigest()
    assert found.pieces
    for buckets, values in found.pieces:
        assert all(type(bucket) is int for bucket in buckets)
        assert all(type(value) is float for value in values)
        assert [array.dtype for array in learn._as_arrays(buckets, values)] == [np.int64, np.float32]
        assert len(buckets) == len(values) > 0
    (ready / "letter.txt").unlink()
    assert present(source) is None
    (ready / "letter.txt").mkdir()
    assert present(source) is None
