"""Learning from decisions on one share, scanned on another: false referrals and PHI, over 20 seeds.

Run: ``nice python -m papers.learning.simulation FOLDER``, where ``evidence.py`` wrote its file. Share one and
two have (a) files of the same families or (b) families that the other does not have; PHI is 1%, its families
equally likely. The referred files of share one are decided in a random order, then the second list, then the
rest by probability. Draws the figure of the documentation.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from papers.learning.evidence import NAME
from phiscan.config import Config
from phiscan.decision.decided_examples import (
    LOG_ODDS,
    MAX_SHIFT,
    SCALE,
    LearnedDecision,
    point_of,
)
from phiscan.decision.model import threshold_of
from phiscan.health.patient_classifier import log_odds_of, probability_of
from phiscan.model import PiiVector, ScannedFile, Verdict
from phiscan.pipeline.learning.effect import Share
from phiscan.pipeline.learning.learn import Decided, learn
from phiscan.review.decisions.learning import ReviewedFile

ROOT = Path(__file__).resolve().parents[2]
FIGURE = ROOT / "docs" / "explanation" / "images" / "learning.svg"
N_SEEDS = 20
DECISIONS = (0, 25, 50, 100, 200)
N_SAMPLE = 60
PREVALENCE = 0.01
WRONG = 0.1  # share of flipped verdicts
LIMIT = log_odds_of(threshold_of(Config().missed_file_cost))
NOW = datetime(2026, 1, 1, tzinfo=UTC)
BINS = (0.0, 1 / 61, 0.1, 0.5, 0.9, 1.0)
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Files:
    """All files, in the order of the evidence."""

    evidence: tuple[dict[str, int], ...]
    points: tuple[dict[str, float], ...]
    log_odds: npt.NDArray[np.float64]
    is_phi: npt.NDArray[np.bool_]
    second: npt.NDArray[np.bool_]
    families: npt.NDArray[Any]

    @classmethod
    def read(cls, path: Path) -> Files:
        """Read what ``evidence.py`` wrote, as a scan stores it."""
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        evidence = [row["evidence"] for row in rows]
        log_odds = [
            row["evidence"][LOG_ODDS] / SCALE if row["evidence"] else log_odds_of(row["probability"])
            for row in rows
        ]
        return cls(
            tuple(evidence),
            tuple(map(point_of, evidence)),
            np.array(log_odds),
            np.array([row["is_phi"] for row in rows]),
            np.array([row["second_look"] for row in rows]),
            np.array([row["family"] for row in rows]),
        )


def shares(files: Files, seed: int, *, same_families: bool) -> tuple[Ints, Ints]:
    """Draw share one and share two."""
    draw = np.random.default_rng(seed)
    is_one = np.zeros(len(files.log_odds), dtype=bool)
    if same_families:
        is_one[draw.permutation(len(is_one))[: len(is_one) // 2]] = True
    else:
        names = np.unique(files.families)
        is_one = np.isin(files.families, draw.permutation(names)[: len(names) // 2])
    found = []
    for part in (is_one, ~is_one):
        others, phi = np.flatnonzero(part & ~files.is_phi), np.flatnonzero(part & files.is_phi)
        names, members = np.unique(files.families[phi], return_inverse=True)
        chance = 1.0 / np.bincount(members)[members] / len(names)
        n_phi = round(PREVALENCE * len(others) / (1 - PREVALENCE))
        found.append(np.sort(np.concatenate([others, draw.choice(phi, n_phi, replace=False, p=chance)])))
    return found[0], found[1]


def decided_of(
    files: Files, share: Ints, n_decisions: int, *, sampled: bool, seed: int, flip: str = ""
) -> tuple[Decided, Share, set[int]]:
    """Decide files of share one; ``flip``: a tenth of the verdicts, or all of one of three reviewers."""
    draw = np.random.default_rng(1000 + seed)
    referred = share[files.log_odds[share] >= LIMIT]
    rest = share[files.log_odds[share] < LIMIT]
    order = np.lexsort((-files.log_odds[rest], ~files.second[rest]))
    chosen = [*draw.permutation(referred).tolist(), *rest[order].tolist()][:n_decisions]
    sample = draw.choice(rest, N_SAMPLE, replace=False).tolist() if sampled else []
    decided = list(dict.fromkeys([*chosen, *sample]))
    reviewers = {index: ("ada", "bea", "cyd")[number % 3] for number, index in enumerate(decided)}
    flipped = set()
    if flip == "tenth":
        flipped = {index for index in decided if draw.random() < WRONG}
    elif flip == "reviewer":
        flipped = {index for index in decided if reviewers[index] == "bea"}
    verdicts = {index: bool(files.is_phi[index]) != (index in flipped) for index in decided}
    reviewed = [
        ReviewedFile(
            index, str(index), verdicts[index], reviewers[index], PiiVector(), {}, files.evidence[index]
        )
        for index in decided
    ]
    scanned = [
        ScannedFile(
            index,
            "",
            "",
            bool(files.log_odds[index] >= LIMIT),
            bool(files.second[index] and files.log_odds[index] < LIMIT),
            probability_of(files.log_odds[index]),
            (Verdict.PHI if verdicts[index] else Verdict.NOT_PHI) if index in verdicts else None,
            NOW,
            files.evidence[index],
        )
        for index in share.tolist()
    ]
    return Decided.of(reviewed), Share.of(scanned, random=sample, drawn=None), flipped


@dataclass(frozen=True, slots=True)
class Run:
    """The scan of share two by the shipped model (before) and by a version (after)."""

    false_before: int
    false_after: int
    phi_before: int
    phi_lost: int
    phi_gained: int
    lost_alike: int  # of the lost ones, those near a flipped file
    n_phi: int
    p_before: npt.NDArray[np.float64]
    p_after: npt.NDArray[np.float64]
    is_phi: npt.NDArray[np.bool_]


def run(
    files: Files, seed: int, n_decisions: int, *, same_families: bool, sampled: bool, flip: str = ""
) -> Run:
    """Decide, learn, and scan the other share."""
    one, two = shares(files, seed, same_families=same_families)
    decided, share, flipped = decided_of(files, one, n_decisions, sampled=sampled, seed=seed, flip=flip)
    before = files.log_odds[two]
    after = before.copy()
    if decided.files:
        learned: LearnedDecision = learn(decided, share, LIMIT)
        for place in np.flatnonzero(before >= LIMIT - MAX_SHIFT).tolist():  # no other can be referred
            after[place] = learned.corrected(before[place], files.points[two[place]])
    is_phi = files.is_phi[two]
    was, now = before >= LIMIT, after >= LIMIT
    lost = np.flatnonzero(was & ~now & is_phi)
    alike = 0
    if len(lost) and flipped:
        wrong = [learned.examples.distances(files.points[two[i]])[_at(decided, flipped)].min() for i in lost]
        alike = int(np.sum(np.array(wrong) <= 1.0))
    return Run(
        int((was & ~is_phi).sum()),
        int((now & ~is_phi).sum()),
        int((was & is_phi).sum()),
        len(lost),
        int((now & ~was & is_phi).sum()),
        alike,
        int(is_phi.sum()),
        1 / (1 + np.exp(-before)),
        1 / (1 + np.exp(-after)),
        is_phi,
    )


def _at(decided: Decided, flipped: set[int]) -> list[int]:
    return [number for number, item in enumerate(decided.files) if item.file_id in flipped]


def ratios(runs: Sequence[Run], name: str) -> str:
    """Return observed / predicted PHI in ranges of P, and of all referred files, over all seeds."""
    p = np.concatenate([getattr(one, name) for one in runs])
    is_phi = np.concatenate([one.is_phi for one in runs])
    shown = []
    for low, high in (*pairwise(BINS), (BINS[1], 1.0)):
        part = (p >= low) & (p < high)
        if part.any():
            shown.append(f"[{low:.3f},{high:.3f}) {is_phi[part].sum() / max(p[part].sum(), 1e-9):.2f}")
    return "; ".join(shown)


def main(folder: Path) -> None:
    """Print all figures and draw the curve."""
    files = Files.read(folder / NAME)
    print(len(files.log_odds), "files,", int(files.is_phi.sum()), "PHI")
    curves: dict[str, list[tuple[int, list[float], float]]] = {}
    cases = [(same, sampled, "") for same in (True, False) for sampled in (False, True)]
    cases += [(True, False, "tenth"), (True, False, "reviewer")]
    for same, sampled, flip in cases:
        label = f"{'same' if same else 'other'} families{', random sample' if sampled else ''}"
        label += f", flipped: {flip}" if flip else ""
        for n_decisions in DECISIONS if not flip else (50, 100):
            runs = [
                run(files, seed, n_decisions, same_families=same, sampled=sampled, flip=flip)
                for seed in range(N_SEEDS)
            ]
            left = [one.false_after / max(one.false_before, 1) for one in runs]
            total = {
                name: sum(getattr(one, name) for one in runs)
                for name in (
                    "false_before",
                    "false_after",
                    "phi_before",
                    "phi_lost",
                    "phi_gained",
                    "lost_alike",
                    "n_phi",
                )
            }
            curves.setdefault(label, []).append(
                (n_decisions, left, 1 - total["phi_lost"] / total["phi_before"])
            )
            worst = max(one.false_after - one.false_before for one in runs)
            print(f"{label} {n_decisions}: {total}, most added {worst}", flush=True)
            print(
                "   observed/predicted: shipped",
                ratios(runs, "p_before"),
                "| version",
                ratios(runs, "p_after"),
            )
    draw_curves(curves)


def draw_curves(curves: dict[str, list[tuple[int, list[float], float]]]) -> None:
    """Draw false referrals left and PHI kept by the number of decisions."""
    import matplotlib as mpl  # noqa: PLC0415 (slow to import)

    mpl.use("Agg")
    mpl.rcParams["svg.hashsalt"] = "phiscan"
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
    for label, colour in (("same families", "#b5502b"), ("other families", "#2b6cb0")):
        points = curves[label]
        counts = [one[0] for one in points]
        axes.plot(
            counts,
            [np.mean(one[1]) for one in points],
            color=colour,
            marker="o",
            label=f"false referrals left, {label}",
        )
        low, high = ([np.quantile(one[1], q) for one in points] for q in (0.1, 0.9))
        axes.fill_between(counts, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(
            counts, [one[2] for one in points], color=colour, linestyle="--", label=f"PHI kept, {label}"
        )
    axes.set(
        xlabel="decided files",
        ylabel="share of those the shipped version refers",
        ylim=(0, 1.05),
        xlim=(0, DECISIONS[-1]),
    )
    axes.legend(loc="center right", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(FIGURE, metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
