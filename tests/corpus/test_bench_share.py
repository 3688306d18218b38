"""The share for benchmarks is what its function says."""

import io
from collections import Counter
from pathlib import Path

from docx import Document

from tests.corpus.bench_share import make_share


def _contents(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_share_has_the_asked_number_of_files_and_one_in_a_hundred_with_phi(tmp_path: Path) -> None:
    phi = make_share(tmp_path, 500, seed=3)
    contents = _contents(tmp_path)
    assert len(contents) == 500
    assert len(phi) == 5
    assert set(phi) <= set(contents)
    assert set(Counter(name.rpartition(".")[2] for name in contents)) == {"txt", "csv", "html", "eml", "docx"}
    assert len(set(contents.values())) == 500


def test_phi_files_name_a_patient_and_the_others_do_not(tmp_path: Path) -> None:
    phi = set(make_share(tmp_path, 300, seed=4))
    for name, payload in _contents(tmp_path).items():
        if name.endswith("docx"):
            text = "\n".join(p.text for p in Document(io.BytesIO(payload)).paragraphs)
        else:
            text = payload.decode()
        assert ("Patient: " in text and "Health card: " in text) == (name in phi), name


def test_same_seed_gives_the_same_share(tmp_path: Path) -> None:
    make_share(tmp_path / "a", 60, seed=5)
    make_share(tmp_path / "b", 60, seed=5)
    make_share(tmp_path / "c", 60, seed=6)
    assert _contents(tmp_path / "a") == _contents(tmp_path / "b")
    assert _contents(tmp_path / "a") != _contents(tmp_path / "c")
