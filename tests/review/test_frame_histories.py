"""The database counts the frame as it is: random histories through the real code, against a plain recount."""

import random
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from phiscan.metrics.remaining import remaining
from phiscan.model import FileResult, Verdict
from phiscan.model.frame import FramePart
from phiscan.review.store import Store
from tests.empty_database import new_store
from tests.review.results import clear, later, referred, scan, source
from tests.review.samples import members


@dataclass(eq=False)
class Known:
    """A file as the test knows it; ``number`` is 0 until a scan has seen it."""

    path: str
    content: str
    referred: bool
    version: int = 1
    number: int = 0
    verdict: Verdict | None = None
    by_name: bool = False
    present: bool = True

    @property
    def is_final(self) -> bool:
        return self.verdict in {Verdict.PHI, Verdict.NOT_PHI} and not self.by_name

    def result(self) -> FileResult:
        made = referred(self.path) if self.referred else clear(self.path)
        return replace(made, content_hash=self.content, source=source(self.path, mtime_ns=self.version))


class History:
    """Random events, each done to the database and to the files that the test knows."""

    def __init__(self, store: Store, seed: int) -> None:
        self.store, self.random, self.minutes = store, random.Random(seed), 0
        self.files: list[Known] = []
        self.population: dict[bool, set[tuple[int, str]]] = {True: set(), False: set()}
        self.order: dict[bool, list[tuple[Known, str]]] = {True: [], False: []}
        self.is_drawn = False
        self.past: dict[tuple[int, str], Verdict] = {}  # verdicts on earlier contents, opened
        self.change_share()

    def open(self, *, referred: bool) -> list[Known]:
        return [f for f in self.files if f.present and f.referred is referred and not f.is_final]

    def some(self, of: list[Known], most: int) -> list[Known]:
        return self.random.sample(of, min(len(of), self.random.randint(0, most)))

    def change_share(self) -> None:
        """Files arrive, move, change, are referred or not any more, and are removed; a scan sees it."""
        here = [f for f in self.files if f.present]
        for file in self.some([f for f in here if f.verdict is None], 2):
            file.present = False
            self.files.append(Known(f"moved {len(self.files)}.txt", file.content, file.referred))
        for file in self.some([f for f in here if f.present], 2):
            if file.verdict and not file.by_name:
                self.past[file.number, file.content] = file.verdict
            file.version, file.content = file.version + 1, f"{file.content}+"
            file.verdict, file.by_name = None, False
        for file in self.some([f for f in here if f.present], 1):
            file.referred, file.version = not file.referred, file.version + 1
        for file in self.some([f for f in here if f.present], 2):
            file.present = False
        for _ in range(self.random.randint(1, 6)):
            name = f"new {len(self.files)}.txt"
            self.files.append(Known(name, f"hash of {name}", self.random.random() < 0.5))
        self.minutes += 10
        scan(self.store, [f.result() for f in self.files if f.present], minutes=self.minutes)
        for file in self.files:
            file.number = file.number or self.store.find(file.path)

    def decide(self) -> None:
        for file in self.some(self.open(referred=True) + self.open(referred=False), 8):
            file.verdict, file.by_name = (
                self.random.choice([*Verdict, Verdict.PHI]),
                self.random.random() < 0.2,
            )
            self.store.decide_all(
                [(file.number, file.verdict)],
                reviewer="ana",
                by_name=file.by_name,
                now=later(self.minutes + 2),
            )

    def undo(self) -> None:
        for file in self.some([f for f in self.files if f.present and f.verdict], 2):
            while self.store.item(file.number).verdict is not None:
                self.store.desk.undo(file.number, by="ana", now=later(self.minutes + 3))
            file.verdict, file.by_name = None, False

    def draw(self) -> None:
        sizes = {"n_queued": self.random.randint(0, 6), "n_unreferred": self.random.randint(0, 6)}
        self.store.desk.draw_sample(**sizes, by="lea", now=later(self.minutes + 4))
        by_number = {f.number: f for f in self.files if f.present}
        for kind in (True, False):
            self.population[kind] = {(f.number, f.content) for f in self.open(referred=kind)}
            drawn = [by_number[number] for number in members(self.store.database, referred=kind)]
            self.order[kind] = [(f, f.content) for f in drawn]
        self.is_drawn = True

    def verdict_on(self, file: Known, content: str) -> Verdict | None:
        if file.content != content:
            return self.past.get((file.number, content))
        return None if file.by_name else file.verdict

    def sampled(self, file: Known, content: str) -> bool | None:
        """Return what is known of a drawn content: PHI also by the verdict on a file with the same bytes."""
        verdict = self.verdict_on(file, content)
        if any(self.verdict_on(one, content) is Verdict.PHI for one in self.files):
            return True
        return None if verdict is None else verdict is not Verdict.NOT_PHI

    def part(self, *, referred: bool) -> FramePart:
        is_open, population = self.open(referred=referred), self.population[referred]
        by_number = {f.number: f for f in self.files}
        found = sum(
            f.is_final and f.verdict is Verdict.PHI and f.present and f.referred is referred
            for f in self.files
        )
        if referred:
            lost = {
                f.content for f in self.files if f.is_final and f.verdict is Verdict.PHI and not f.present
            }
            found += len(lost | {content for (_, content), v in self.past.items() if v is Verdict.PHI})
        return FramePart(
            open=len(is_open),
            arrived=sum((f.number, f.content) not in population for f in is_open),
            found=found,
            population=len(population),
            found_since=sum(self.verdict_on(by_number[n], c) is Verdict.PHI for n, c in population),
            verdicts=tuple(self.sampled(f, content) for f, content in self.order[referred]),
        )


def check(home: Path, seed: int, n_steps: int = 8) -> None:
    with new_store(home / f"{seed}.db") as store:
        history = History(store, seed)
        for _ in range(n_steps):
            chosen = [history.change_share, history.decide, history.decide, history.undo, history.draw]
            history.random.choice(chosen)()
            counts = store.desk.left()
            assert counts.listed == history.part(referred=True), seed
            assert counts.rest == history.part(referred=False), seed
            here = [f for f in history.files if f.present]
            assert counts.by_name == sum(f.by_name for f in here)
            assert counts.unsure == sum(f.verdict is Verdict.UNSURE and not f.by_name for f in here)
            assert counts.undecided == sum(f.referred and f.verdict is None for f in here)
            assert counts.is_drawn is history.is_drawn
            if remaining(counts).safe:
                assert not counts.listed.arrived + counts.rest.arrived


@pytest.mark.parametrize("seed", range(6))
def test_counts_agree_with_a_recount(tmp_path: Path, seed: int) -> None:
    check(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_counts_agree_with_a_recount_over_some_hundred_histories(tmp_path: Path) -> None:
    for seed in range(100, 400):
        check(tmp_path, seed)
