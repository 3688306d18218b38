"""Join the encoder's log-odds with those of P(PHI) on families it did not learn from, and measure both.

Run after ``training.judge.build``: ``python -m training.judge.measure --work DIR``. The joint model is
linear: an intercept, and weights of the encoder, of P(PHI) and of the evidence of the passage; it is fitted
on one half of the families left out and measured on the other, both ways.
"""

from __future__ import annotations

import argparse
import json
import pickle
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from phiscan.config import Config
from phiscan.decision.encoder import ENCODER_FILE, JOINT_FILE, PassageEncoder, load_encoder
from phiscan.decision.evidence import N_EVIDENCE, NAMES_OF_EVIDENCE
from phiscan.decision.model import load_phi_model, threshold_of
from phiscan.health.patient_classifier import log_odds_of
from phiscan.metrics.intervals import clopper_pearson
from training.decision.build import PREVALENCE
from training.judge.build import is_held_out
from training.judge.examples import Example, examples

# In log-odds with as much PHI as not.
THRESHOLD: Final = log_odds_of(threshold_of(Config().missed_file_cost)) - log_odds_of(PREVALENCE)
READ_FROM: Final = 0.5  # a passage that cannot reach it is not read
LOWEST, HIGHEST = -1.25, 4.0  # log-odds that the encoder may add
MOST_PASSAGES: Final = 4  # of one document
NEVER: Final = -30.0  # log-odds of a passage that does not count
VERSION: Final = "judge-6"
PENALTY: Final = 0.002
EVIDENCE_PENALTY: Final = 0.003
# Weights of the kinds of families, each side of PHI summing to one: ordinary files are the bulk of a share.
ORDINARY: Final = ("new:", "bg:")
SHARES: Final = {False: (0.9, 0.1), True: (0.3, 0.7)}  # of ordinary files and records, and of our own texts

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scored:
    """Documents with the log-odds of their passages, by the others and by the encoder."""

    examples: Sequence[Example]
    odds: Floats  # shape (documents, MOST_PASSAGES, 3); last the most that the encoder may add
    evidence: Floats  # shape (documents, MOST_PASSAGES, evidence)

    @property
    def is_phi(self) -> npt.NDArray[np.bool_]:
        """Which documents are PHI."""
        return np.array([one.is_phi for one in self.examples])

    def part(self, chosen: npt.NDArray[np.bool_]) -> Scored:
        """Return some of the documents."""
        return Scored(
            [one for one, is_in in zip(self.examples, chosen.tolist(), strict=True) if is_in],
            self.odds[chosen],
            self.evidence[chosen],
        )


def scored_of(held: Sequence[Example], encoder: PassageEncoder) -> Scored:
    """Return the documents of families left out; a passage that the encoder need not read has none of its."""
    rows = [one for one in held if one.passages]
    found = np.full((len(rows), MOST_PASSAGES, 3), np.nan)
    evidence = np.zeros((len(rows), MOST_PASSAGES, N_EVIDENCE))
    for number, one in enumerate(rows):
        for place, (others, pair, names_health, values, is_sent) in enumerate(one.passages):
            most = HIGHEST * names_health
            encoded = encoder.log_odds(pair) if others + most >= READ_FROM else np.nan
            # With its sender as a person, a passage counts where the encoder says that it tells of health.
            odds = others if encoded > 0 or not is_sent else NEVER
            found[number, place] = odds, encoded, most
            evidence[number, place] = values
        found[number, len(one.passages) :] = found[number, 0]
        evidence[number, len(one.passages) :] = evidence[number, 0]
    return Scored(rows, found, evidence)


def weights_of(found: Scored) -> Floats:
    """Return the weight of each document: each side sums to one, in the shares of the kinds."""
    is_phi, weights = found.is_phi, np.zeros(len(found.examples))
    is_ordinary = np.array([one.family.startswith(ORDINARY) for one in found.examples])
    for side, shares in SHARES.items():
        for kind, share in zip((True, False), shares, strict=True):
            chosen = (is_phi == side) & (is_ordinary == kind)
            weights[chosen] = share / max(int(chosen.sum()), 1)
    return weights


def joined(found: Scored, line: Floats) -> Floats:
    """Return the log-odds of documents; ``line``: intercept, weight, discount, weights of evidence."""
    others, encoded, most = np.moveaxis(found.odds, -1, 0)
    change = line[0] + line[1] * encoded - line[2] * others + found.evidence @ line[3:] * (most > 0)
    change = np.nan_to_num(np.clip(change, LOWEST, most), nan=0.0)
    return np.asarray((others + change).max(axis=1))


def fit(found: Scored) -> Floats:
    """Return the line with the highest likelihood, by the strongest passages."""
    weights, signs = weights_of(found), np.where(found.is_phi, 1.0, -1.0)

    def loss(line: Floats) -> float:
        penalty = PENALTY * (line[:3] ** 2).sum() + EVIDENCE_PENALTY * (line[3:] ** 2).sum()
        return float((weights * np.logaddexp(0.0, -signs * joined(found, line))).sum() + penalty)

    start = np.concatenate([[0.0, 0.5, 0.2], np.zeros(N_EVIDENCE)])
    return np.asarray(minimize(loss, start, method="L-BFGS-B", options={"maxiter": 60}).x)


def groups(found: Scored) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield the rows of the table: a name, and which documents it has."""
    family = np.array([one.family for one in found.examples])
    is_phi, starts = found.is_phi, np.char.startswith
    is_new = starts(family, "new:")
    yield "ordinary files (repositories left out)", is_new & ~is_phi
    yield "structured records (repositories left out)", is_new & is_phi
    yield "background files", starts(family, "bg:")
    for name in sorted({str(one) for one in family if not one.startswith(("new:", "bg:", "hand:"))}):
        yield f"{name}, PHI", (family == name) & is_phi
        yield f"{name}, others", (family == name) & ~is_phi
    yield "everyday texts, PHI", starts(family, "hand:") & is_phi
    yield "everyday texts, others", starts(family, "hand:") & ~is_phi


def with_messages(odds: Floats, found: Scored) -> Floats:
    """Return the log-odds with those of messages of care raised to theirs."""
    is_message = np.array([bool(one.message) for one in found.examples])
    return np.where(is_message, np.maximum(odds, load_phi_model().message_log_odds), odds)


def rows_of_table(found: Scored, before: Floats, after: Floats) -> Iterator[str]:
    """Yield what is referred of each group, before and after."""
    yield "| documents | number | before | fitted | 95% |"
    yield "| --- | --- | --- | --- | --- |"
    for name, chosen in groups(found):
        if number := int(chosen.sum()):
            first, then = (int((odds[chosen] >= THRESHOLD).sum()) for odds in (before, after))
            low, high = clopper_pearson(then, number)
            yield f"| {name} | {number} | {first} | {then} | {low:.3f} to {high:.3f} |"


def curve(found: Scored, before: Floats, after: Floats) -> Iterator[str]:
    """Yield ordinary files referred at thresholds that find a share of PHI."""
    family = np.array([one.family for one in found.examples])
    ordinary = np.char.startswith(family, "new:") & ~found.is_phi
    weights = weights_of(found) * found.is_phi
    yield "| of PHI found | ordinary referred per 1,000 before | after |"
    yield "| --- | --- | --- |"
    for share in (0.8, 0.85, 0.9, 0.95):
        rates = []
        for odds in (before, after):
            order = np.argsort(-odds)
            reached = np.cumsum(weights[order]) / weights.sum()
            threshold = odds[order][int(np.searchsorted(reached, share))]
            rates.append(1000 * float((odds[ordinary] >= threshold).mean()))
        yield f"| {share:.2f} | {rates[0]:.1f} | {rates[1]:.1f} |"


def calibration_rows(found: Scored, odds: Floats) -> Iterator[str]:
    """Yield predicted and observed share of PHI in bins, on a share of the usual prevalence."""
    p_phi = 1 / (1 + np.exp(-odds - log_odds_of(PREVALENCE)))
    weights = weights_of(found) * np.where(found.is_phi, PREVALENCE, 1 - PREVALENCE)
    yield "| predicted | observed | documents |"
    yield "| --- | --- | --- |"
    edges = (0, 0.002, 0.01, 0.0323, 0.1, 0.3, 0.7, 1.01)
    for low, high in pairwise(edges):
        chosen = (p_phi >= low) & (p_phi < high)
        if weights[chosen].sum():
            predicted = np.average(p_phi[chosen], weights=weights[chosen])
            observed = np.average(found.is_phi[chosen], weights=weights[chosen])
            yield f"| {predicted:.4f} | {observed:.4f} | {int(chosen.sum())} |"


def write_joint(line: Floats) -> None:
    """Write the joint model; ``line``: as ``joined`` takes it."""
    names = ("intercept", "weight", "of_others")
    about = {
        "version": VERSION,
        **dict(zip(names, line[:3].round(4).tolist(), strict=True)),
        "evidence": dict(zip(NAMES_OF_EVIDENCE, line[3:].round(4).tolist(), strict=True)),
        "lowest": LOWEST,
        "highest": HIGHEST,
        "read_from": READ_FROM,
        "sha256": sha256(ENCODER_FILE.read_bytes()).hexdigest(),
    }
    JOINT_FILE.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Fit on either half, measure on the other; write the line, fitted on both or as it was."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--refit", action="store_true", help="write the line that is fitted here")
    options = parser.parse_args()
    work: Path = options.work
    if not JOINT_FILE.exists():
        write_joint(np.zeros(3 + N_EVIDENCE))
    held = [one for one in examples(work / "screened") if is_held_out(one.family)]
    found = scored_of(held, load_encoder())
    (work / "scored.pickle").write_bytes(pickle.dumps((found.odds, held)))
    half = np.array([zlib.crc32(f"half {one.family}".encode()) % 2 == 0 for one in found.examples])
    before = with_messages(found.odds[:, 0, 0], found)  # the strongest comes first
    after = before.copy()
    for chosen in (half, ~half):
        line = fit(found.part(chosen))
        after[~chosen] = joined(found.part(~chosen), line)
        print("intercept, weight, discount, evidence:", line.round(3).tolist())
    after = with_messages(after, found)
    encoder = load_encoder()
    kept = np.array([encoder.intercept, encoder.weight, encoder.of_others, *encoder.evidence])
    line = fit(found) if options.refit else kept
    print("written:", line.round(3).tolist())
    write_joint(line)
    lines = [
        *rows_of_table(found, before, after),
        "",
        *curve(found, before, after),
        "",
        *calibration_rows(found, after),
        "",
        *calibration_rows(found, with_messages(joined(found, line), found)),
    ]
    print("\n".join(lines))
    (work / "joined.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
