"""Learn which words tell of somebody's health in lines without a health term (``decision.everyday_words``).

Run after the screening by ``training.judge.build``: ``python -m training.judge.everyday --work DIR``.
Positive are the lines of a text in passing that its twin does not have; negative those of the twin, and of
others without a health term. The threshold lets one in twenty of such documents have a line, on families
that the weights did not learn from.
"""

# ruff: noqa: S301 (the pickles are written by training.judge.build)

from __future__ import annotations

import argparse
import pickle
import random
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from phiscan.decision.everyday_words import WORDS_FILE, EverydayWords
from phiscan.decision.passages import units_of
from phiscan.health.features import Window, read
from phiscan.health.term_lexicon import Lexicon, load_lexicon
from phiscan.health.word_hashes import BUCKET_BITS, Words, buckets_of, words_of
from training.decision.features import Screened
from training.judge.build import is_held_out
from training.needs import needed

SHARE_READ: Final = 0.05  # of documents without PHI and without a health term
MOST_LINES: Final = 40  # of one document
MOST_OF_FAMILY: Final = 60  # documents
LEAST_LINES: Final = 3  # that have a word or pair with a weight
LEAST_WEIGHT: Final = 0.02
INVERSE_PENALTY: Final = 1.5
WEIGHT_OF_OTHERS: Final = 0.5

Offsets = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Text:
    """A text as lines: its words, where lines begin and end, and what they say."""

    family: str
    is_phi: bool
    has_term: bool
    words: Words
    starts: Offsets
    ends: Offsets
    lines: tuple[str, ...]


def texts(screened: Path, lexicon: Lexicon) -> Iterator[Text]:
    """Yield the texts in passing, and of other families those without PHI that have no health term."""
    for path in sorted(screened.glob("*.pickle")):
        rows: list[Screened] = pickle.loads(path.read_bytes())
        if not rows[0].family.startswith("passing:"):
            rows = random.Random(path.stem).sample(rows, min(len(rows), MOST_OF_FAMILY))
        for one in rows:
            is_passing = one.family.startswith("passing:")
            if one.is_phi and not is_passing:
                continue
            found = _text(one, lexicon)
            if is_passing or not found.has_term:
                yield found


def _text(one: Screened, lexicon: Lexicon) -> Text:
    text = one.document.text
    if one.identifier.endswith(" titled"):  # half of the names of files are of PHI here, and few on a share
        text = text.partition("\n")[2]
    reading = read(text, lexicon)
    starts, ends = units_of(text)
    words = words_of(text, reading, lexicon, (Window(0, max(len(text), 1), {}),))
    lines = tuple(text[low:high].strip() for low, high in zip(starts.tolist(), ends.tolist(), strict=True))
    return Text(one.family, one.is_phi, len(reading.health.starts) > 0, words, starts, ends, lines)


def rows_of(found: Sequence[Text]) -> Iterator[tuple[Text, int, bool]]:
    """Yield the lines to learn from: their text, their number, and whether they tell of somebody's health."""
    for before, one in zip([None, *found], [*found, None], strict=True):
        if before is not None and before.family.startswith("passing:") and before.is_phi:
            twin = set(one.lines) if one is not None and one.family == before.family else set()
            yield from ((before, at, True) for at, line in enumerate(before.lines) if line not in twin)
        if one is not None and not one.is_phi:
            chosen = range(len(one.lines))
            if len(chosen) > MOST_LINES:
                chosen = random.Random(len(one.words.starts)).sample(chosen, MOST_LINES)  # type: ignore[assignment]
            yield from ((one, at, False) for at in chosen)


def learned(found: Sequence[Text]) -> EverydayWords:
    """Return the weights that these texts give, with the threshold at nothing."""
    sparse, linear = needed("scipy.sparse"), needed("sklearn.linear_model")
    rows, columns, values, labels, weights = [], [], [], [], []
    for number, (text, at, is_positive) in enumerate(rows_of(found)):
        low, high = text.words.starts.searchsorted((text.starts[at], text.ends[at])).tolist()
        line = Words(text.words.starts[low:high], text.words.hashes[low:high])
        single, pairs = buckets_of(line)
        columns.append(np.concatenate((single, pairs + np.uint64(1 << BUCKET_BITS))).astype(np.int64))
        rows.append(np.full(len(columns[-1]), number))
        values.append(np.full(len(columns[-1]), max(high - low, 1) ** -0.5))
        labels.append(is_positive)
        weights.append(1.0 if text.family.startswith("passing:") else WEIGHT_OF_OTHERS)
    shape = (len(labels), 2 << BUCKET_BITS)
    inputs: Any = sparse.csr_matrix(
        (np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=shape
    )
    frequent = np.flatnonzero(np.asarray((inputs > 0).sum(axis=0)).ravel() >= LEAST_LINES)
    model = linear.LogisticRegression(C=INVERSE_PENALTY, max_iter=400)
    model.fit(inputs[:, frequent], labels, sample_weight=weights)
    both = np.zeros(2 << BUCKET_BITS, dtype=np.float32)
    both[frequent] = np.where(np.abs(model.coef_[0]) >= LEAST_WEIGHT, model.coef_[0], 0.0)
    of_words, of_pairs = both.reshape(2, -1).astype(np.float16).astype(np.float32)
    print(f"{len(labels)} lines, {sum(labels)} of them positive; {np.count_nonzero(both)} weights")
    return EverydayWords(of_words, of_pairs, 0.0)


def highest(model: EverydayWords, found: Sequence[Text]) -> npt.NDArray[np.float64]:
    """Return the score of the strongest line of each text."""
    return np.array(
        [float(max(model.scores(one.words, one.starts, one.ends), default=-9.0)) for one in found]
    )


def main() -> None:
    """Learn on half of the families for the threshold, on all for the weights; measure on those left out."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True)
    found = list(texts(parser.parse_args().work / "screened", load_lexicon()))
    kept = [one for one in found if not is_held_out(one.family)]
    half = [zlib.crc32(f"words {one.family}".encode()) // 64 % 2 == 0 for one in kept]
    scores = []
    for side in (True, False):
        model = learned([one for one, is_in in zip(kept, half, strict=True) if is_in == side])
        rest = [one for one, is_in in zip(kept, half, strict=True) if is_in != side]
        scores.append(highest(model, [one for one in rest if not one.family.startswith("passing:")]))
    threshold = float(np.quantile(np.concatenate(scores), 1 - SHARE_READ))
    model = learned(kept)
    arrays: dict[str, npt.NDArray[Any]] = {}
    for name in ("single", "pairs"):
        weights = getattr(model, name)
        buckets = np.flatnonzero(weights)
        arrays |= {f"{name}_buckets": buckets.astype(np.int32), name: weights[buckets].astype(np.float16)}
    np.savez_compressed(WORDS_FILE, threshold=np.float32(threshold), **arrays)  # type: ignore[arg-type]
    out = [one for one in found if is_held_out(one.family)]
    print(f"threshold {threshold:.3f}")
    for name, part in (
        ("others without a health term", [one for one in out if not one.family.startswith("passing:")]),
        ("in passing, without a health term", [one for one in out if one.is_phi and not one.has_term]),
        ("their others", [o for o in out if o.family.startswith("passing:") and not o.is_phi | o.has_term]),
    ):
        print(f"{name}: {int((highest(model, part) >= threshold).sum())} of {len(part)} have a line")


if __name__ == "__main__":
    main()
