"""The same files give the same bytes of scores, however many workers share them and in whatever order."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from phiscan.screen.ner.lstm import PassageReader
from phiscan.screen.ner.tagger import TaggerRecognizer
from tests.pipeline.harness import FIRST, LAST, LETTER, Tool, write_share
from tests.pipeline.rows import results_by_path

CORPUS = Path(__file__).parents[2] / "sample_corpus"


@dataclass(frozen=True)
class Seeded(Tool):
    """The program with the order of its sets fixed by a number."""

    seed: str = "0"

    def environment(self) -> dict[str, str]:
        return {**super().environment(), "PYTHONHASHSEED": self.seed}


@pytest.mark.slow
def test_scans_by_one_and_by_three_workers_store_the_same_numbers(tmp_path: Path) -> None:
    share = write_share(tmp_path / "share", 60, distinct=True)
    for path in sorted(CORPUS.rglob("*.txt")):
        shutil.copy2(path, share / f"{len(list(share.iterdir()))}-{path.name}")
    one, three = Seeded(tmp_path / "one", "1"), Seeded(tmp_path / "three", "2")
    assert one.run("scan", share, "--workers", "1", "--everything").returncode == 1
    three.home.mkdir(mode=0o700)
    shutil.copy2(one.home / "key", three.home / "key")
    assert three.run("scan", share, "--workers", "3", "--everything").returncode == 1
    found = results_by_path(one.database)
    assert len(found) > 60
    assert results_by_path(three.database) == found


def test_a_text_is_multiplied_in_its_own_order_whatever_was_read_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    letters = [
        LETTER.format(first=first, last=last, born="3 May 1961", card="1234 567 897", year=2009)
        for first, last in zip(FIRST, LAST, strict=True)
    ]
    multiplied: list[np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = []
    words: Callable[..., np.ndarray[tuple[int, ...], np.dtype[np.float32]]] = PassageReader._words

    def noting(self: PassageReader, *arguments: object) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        multiplied.append(words(self, *arguments))
        return multiplied[-1]

    monkeypatch.setattr(PassageReader, "_words", noting)
    fresh = TaggerRecognizer.load()
    alone = list(fresh.spans(letters[0]))
    expected = list(multiplied)
    used = TaggerRecognizer.load()
    for letter in [*letters[1:], "hypertension and diabetes\n"]:
        list(used.spans(letter))
    multiplied.clear()
    assert list(used.spans(letters[0])) == alone
    assert len(multiplied) == len(expected)
    assert all(np.array_equal(one, other) for one, other in zip(multiplied, expected, strict=True))
