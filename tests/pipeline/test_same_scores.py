"""The same files give the same bytes of scores, however many workers share them and in whatever order."""

import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest

from phiscan.lexicon.gazetteer import load_gazetteer
from phiscan.screen.ner.ensemble import TaggerEnsemble
from phiscan.screen.ner.tagger import load_kinds
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
    three.same_key(one)
    assert three.run("scan", share, "--workers", "3", "--everything").returncode == 1
    found = results_by_path(one.database)
    assert len(found) > 60
    assert results_by_path(three.database) == found


def test_scores_of_a_text_are_the_same_whatever_was_read_before() -> None:
    letters = [
        LETTER.format(first=first, last=last, born="3 May 1961")
        for first, last in zip(FIRST, LAST, strict=True)
    ]
    alone, used = (TaggerEnsemble.load(load_kinds(load_gazetteer())) for _ in range(2))
    expected = alone.emission(alone.lexicon.read(letters[0]))
    for letter in [*letters[1:], "hypertension and diabetes\n"]:
        used.emission(used.lexicon.read(letter))
    stream = used.lexicon.read(letters[0])
    assert stream.entries.tolist() != alone.lexicon.read(letters[0]).entries.tolist()
    assert used.emission(stream).tobytes() == expected.tobytes()
