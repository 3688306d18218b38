"""What is left and what was missed, over random histories: the truth lies within each bound as often as said.

The histories run on a model of the counts that the database makes (``Share``), through the real function.
They are as bad for the bounds as they can be: reviewers leave PHI of the sample undecided more often, decide
the likeliest files first, undo, disagree, and judge by names; files arrive, move, change and are removed once
they are PHI; rescans move files between list and rest; and records are deleted.
"""

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest

from phiscan.metrics.remaining import TARGET_RATE, TARGET_RECALL, Remaining, remaining
from phiscan.model.frame import FrameCounts, FramePart

FINAL = ("phi", "not_phi")
N_STEPS = 30


@dataclass(eq=False)
class OneFile:
    """A file: its content (by number), whether that is PHI, its part, and the verdict on the content."""

    content: int
    phi: bool
    referred: bool
    verdict: str = ""  # phi, not_phi, unsure, dispute, name (decided unopened) or nothing
    present: bool = True


@dataclass
class Drawn:
    """A draw of one part: its population (file and content) and the random order."""

    population: list[tuple[OneFile, int]] = field(default_factory=list)
    sample: list[tuple[OneFile, int]] = field(default_factory=list)


class Share:
    """Files with known truth, and what the database would count of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.files: list[OneFile] = []
        self.past: dict[tuple[int, int], str] = {}  # verdicts on contents that a file had before
        self.n_contents = 0
        self.n_unread = 0
        self.draws: dict[bool, Drawn] | None = None
        self.rates = {
            True: self.random.choice([0.0, 0.1, 0.5, 0.9]),
            False: self.random.choice([0, 0, 0.02, 0.2]),
        }
        self.add(self.random.randint(5, 80), referred=True)
        self.add(self.random.randint(5, 160), referred=False)

    def add(self, n: int, *, referred: bool, phi: bool | None = None) -> None:
        for _ in range(n):
            self.n_contents += 1
            truth = self.random.random() < self.rates[referred] if phi is None else phi
            self.files.append(OneFile(self.n_contents, truth, referred))

    def open(self, *, referred: bool) -> list[OneFile]:
        return [f for f in self.files if f.present and f.referred is referred and f.verdict not in FINAL]

    def verdict_on(self, file: OneFile, content: int) -> str:
        return file.verdict if file.content == content else self.past.get((id(file), content), "")

    # What happens

    def draw(self) -> None:
        self.draws = {}
        for referred in (True, False):
            population = [(f, f.content) for f in self.open(referred=referred)]
            n = min(len(population), self.random.choice([0, 5, 20, 60, 200]))
            self.draws[referred] = Drawn(population, self.random.sample(population, n))

    def arrive(self) -> None:
        referred = self.random.random() < 0.7
        self.add(self.random.randint(1, 12), referred=referred, phi=self.random.choice([None, True]))

    def decide_sample(self) -> None:
        if self.draws is None:
            return
        skip_phi = self.random.choice([0.0, 0.2, 0.7])
        for drawn in self.draws.values():
            for file, content in drawn.sample[: self.random.randint(0, len(drawn.sample))]:
                is_open = file.present and file.content == content and file.verdict not in FINAL
                if is_open and self.random.random() >= (skip_phi if file.phi else skip_phi / 5):
                    file.verdict = "phi" if file.phi else "not_phi"

    def decide_by_risk(self) -> None:
        waiting = self.open(referred=True)
        waiting.sort(key=lambda f: f.phi + self.random.random(), reverse=True)
        for file in waiting[: self.random.randint(0, 25)]:
            file.verdict = "phi" if file.phi else "not_phi"

    def decide_rest(self) -> None:
        for file in self.open(referred=False)[: self.random.randint(0, 30)]:
            file.verdict = "phi" if file.phi else "not_phi"

    def decide_all(self) -> None:
        for file in self.open(referred=True) + (
            self.open(referred=False) if self.random.random() < 0.5 else []
        ):
            file.verdict = "phi" if file.phi else "not_phi"

    def some(self, of: list[OneFile], most: int = 6) -> list[OneFile]:
        return self.random.sample(of, min(len(of), self.random.randint(0, most)))

    def undo(self) -> None:
        for file in self.some([f for f in self.files if f.verdict]):
            file.verdict = ""

    def doubt(self) -> None:
        for file in self.some(self.open(referred=True) + self.open(referred=False), 3):
            file.verdict = self.random.choice(["unsure", "dispute", "name"])

    def settle(self) -> None:
        for file in self.files:
            if file.verdict in {"unsure", "dispute", "name"}:
                file.verdict = "phi" if file.phi else "not_phi"

    def move(self) -> None:
        for file in self.some([f for f in self.files if f.present]):
            file.present = False
            self.files.append(OneFile(file.content, file.phi, file.referred, file.verdict))

    def change(self) -> None:
        for file in self.some([f for f in self.files if f.present]):
            self.past[id(file), file.content] = file.verdict
            self.n_contents += 1
            file.content, file.verdict, file.phi = self.n_contents, "", self.random.random() < 0.5

    def remove(self) -> None:
        for file in self.some([f for f in self.files if f.present and f.verdict == "phi"], 20):
            file.present = False

    def rescan(self) -> None:
        for file in self.some([f for f in self.files if f.present]):
            file.referred = not file.referred

    def forget(self) -> None:  # retention: no record is left of a file that is missing, or of a past content
        for file in self.files:
            file.verdict = file.verdict if file.present else ""
        self.past.clear()

    def fail(self) -> None:
        self.n_unread = self.random.randint(0, 2)

    def step(self) -> None:
        events = {
            self.decide_sample: 6, self.decide_by_risk: 5, self.decide_rest: 2, self.decide_all: 1,
            self.draw: 2 if self.draws else 6, self.arrive: 2, self.undo: 1, self.doubt: 1, self.settle: 3,
            self.move: 1, self.change: 1, self.remove: 1, self.rescan: 1, self.forget: 1, self.fail: 1,
        }  # fmt: skip
        self.random.choices(list(events), list(events.values()))[0]()

    # What the database counts

    def part(self, *, referred: bool) -> FramePart:
        is_open = self.open(referred=referred)
        found = sum(f.verdict == "phi" and (f.referred is referred or not f.present) for f in self.files)
        if self.draws is None:
            return FramePart(len(is_open), len(is_open), found)
        drawn = self.draws[referred]
        known = {(id(f), content) for f, content in drawn.population}
        verdicts = [self.verdict_on(f, content) for f, content in drawn.sample]
        return FramePart(
            open=len(is_open),
            arrived=sum((id(f), f.content) not in known for f in is_open),
            found=found,
            population=len(drawn.population),
            found_since=sum(self.verdict_on(f, content) == "phi" for f, content in drawn.population),
            verdicts=tuple(None if v in {"", "name"} else v != "not_phi" for v in verdicts),
        )

    def counts(self) -> FrameCounts:
        by = Counter(f.verdict for f in self.files if f.present)
        undecided = sum(not f.verdict for f in self.open(referred=True))
        return FrameCounts(
            self.part(referred=True), self.part(referred=False), undecided, by["unsure"], by["dispute"],
            by["name"], self.n_unread, is_drawn=self.draws is not None, is_scanned=True,
        )  # fmt: skip

    def uncovered(self) -> Iterator[OneFile]:
        """Yield every file without a final verdict that no reviewed sample of its part stands for."""
        for referred in (True, False):
            drawn = (self.draws or {}).get(referred, Drawn())
            is_reviewed = any(self.verdict_on(f, content) not in {"", "name"} for f, content in drawn.sample)
            known = {(id(f), content) for f, content in drawn.population} if is_reviewed else set()
            yield from (f for f in self.open(referred=referred) if (id(f), f.content) not in known)


def simulate(n: int, *, first: int = 0) -> Counter[str]:
    """Run ``n`` histories; count the looks and the draws, and of each how often a bound was too small."""
    counted: Counter[str] = Counter()
    for seed in range(first, first + n):
        share = Share(seed)
        ever: set[tuple[int, str]] = set()
        n_draws, draw, is_wrong_yes = 0, None, False
        wrong: set[str] = set()
        for _ in range(N_STEPS):
            share.step()
            if share.draws is not draw:
                draw, n_draws = share.draws, n_draws + 1
            counts = share.counts()
            known = remaining(counts)
            wrong = set(wrong_bounds(share, known))
            counted.update({"looks": 1, "looks too small": len(wrong)})
            ever |= {(n_draws, name) for name in wrong}
            if known.safe:
                assert not list(share.uncovered())
                assert (counts.unsure, counts.disputes, counts.unread) == (0, 0, 0)
                counted["looks said safe"] += 1
                left = sum(f.phi for f in share.open(referred=True))
                rest = share.open(referred=False)
                too_much = left and counts.listed.found / (counts.listed.found + left) < TARGET_RECALL
                is_wrong_yes |= bool(too_much or sum(f.phi for f in rest) > TARGET_RATE * len(rest))
        counted.update({"histories": 1, "draws": n_draws, "histories with a wrong yes": is_wrong_yes})
        for name in ("left", "missed"):
            counted[f"{name}: end too small"] += name in wrong
            counted[f"{name}: draws ever too small"] += sum(one == name for _, one in ever)
    return counted


def wrong_bounds(share: Share, known: Remaining) -> Iterator[str]:
    if sum(f.phi for f in share.open(referred=True)) > known.left_in_list.upper:
        yield "left"
    if sum(f.phi for f in share.open(referred=False)) > known.missed_in_rest.upper:
        yield "missed"


def check_coverage(counted: Counter[str]) -> None:
    for name in ("left", "missed"):
        assert counted[f"{name}: end too small"] <= 0.05 * counted["histories"]
        assert counted[f"{name}: draws ever too small"] <= 0.05 * counted["draws"]
    assert counted["histories with a wrong yes"] <= 0.05 * counted["histories"]
    assert counted["looks said safe"]


def test_bounds_hold_and_safe_covers_every_file_over_random_histories() -> None:
    check_coverage(simulate(150))


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_bounds_hold_over_ten_thousand_histories() -> None:
    counted = simulate(10_000)
    for name, n in sorted(counted.items()):
        print(f"{name}: {n}")
    check_coverage(counted)
