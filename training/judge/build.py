"""Fine-tune the encoder on passages of some families; ``training.judge.measure`` measures it on the others.

Run from the checkout: ``python -m training.judge.build --work DIR [--screen] [--minutes N]``. The work folder
caches the screened texts and their passages.
"""

from __future__ import annotations

import argparse
import random
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from phiscan.decision.encoder import ENCODER_FILE, Pair
from phiscan.model import SourceFile
from phiscan.pipeline.file_names import title_line, title_of
from training.decision.features import screened
from training.decision.sources import Sample, new_samples, plain_document, samples, sections
from training.judge.examples import Example, examples
from training.judge.network import export, fine_tune
from training.judge.novels import chapters

HELD_OUT: Final = frozenset(
    (
        *(
            "written:in_passing 1",
            "written:written_1 1",
            "written:written_2 0",
            "unseen_eighth",
            "unseen_second",
            "own:second",
        ),
        *(
            "short:written 3",
            "short:3",
            "tables:3",
            "aci_bench_train_valid",
            "hl7v2_reportstream",
            "presidio_synth_v2",
        ),
    )
)
# Never learned from.
BLIND: Final = frozenset(("passing:in_passing_2", *(f"passing:blind_2026_11_{day}" for day in (28, 29))))
MOST_OTHER: Final = 7_500  # passages of others
MOST_PHI: Final = 5_000
MOST_PER_FAMILY: Final = 130  # documents
# Log-odds of the passages of others that the encoder may have to read, without and with a health concept.
LEAST_WITHOUT_HEALTH, LEAST_LOG_ODDS = -0.5, -4.0
MOST_UNLIKELY: Final = 1_500  # of the rest
SHARE_WITH_HEADER: Final = 0.1  # of the passages without the header of a mail that get one
REPEATED: Final = 2  # how often a text of health in passing is learned from, and its twin
_HEADER: Final = re.compile(r"(?:(?:from|de|subject|objet) ?:.*\n)+", re.IGNORECASE)


def passing_samples() -> Iterator[Sample]:
    """Yield the texts of this folder that mention health in passing, each followed by its twin that does not.

    A path after the kind of a text is put before it as a scan does. A fifth of the pairs of a file is a
    family, but for those of ``BLIND``, which are left out as a whole.
    """
    for path in sorted((Path(__file__).parent / "texts").glob("*.txt")):
        for number, (name, text) in enumerate(sections(path)):
            family = f"passing:{path.stem}"
            part = "" if family in BLIND else f" {number // 2 % 5}"
            kind, _, path_name = name.removeprefix(f"texts/{path.stem}/{number}/").partition(" | ")
            title = f"{title_line(title_of(_source(path_name)))}\n" if path_name else ""
            identifier = f"texts/{path.stem}/{number}/{kind}{' titled' * bool(title)}"
            yield Sample(family + part, identifier, kind.startswith("PHI"), plain_document(title + text))


def _source(path: str) -> SourceFile:
    """Return a file of this path, as if it had been crawled."""
    return SourceFile(b"", path.encode(), 0, 0, 0, 0, 0)


def is_held_out(family: str) -> bool:
    """Tell whether a family is left out of the training: half of the repositories, some of our own sets."""
    if family.startswith("new:"):
        return zlib.crc32(family.encode()) % 2 == 0
    if family.startswith(("hand:", "bg:")):
        return zlib.crc32(family.encode()) % 5 == 0
    if family.startswith("passing:"):
        return family in BLIND or family.endswith(" 4")
    return family in HELD_OUT


def training_passages(found: Sequence[Example], *, is_all: bool) -> list[tuple[Pair, bool]]:
    """Return the passages to learn from, with the label of their documents.

    ``is_all``: of all families but the texts of ``BLIND``.
    """
    draw = random.Random(2008)
    phi: list[tuple[Pair, bool]] = []
    likely: list[tuple[Pair, bool]] = []
    unlikely: list[tuple[Pair, bool]] = []
    of_family: Counter[str] = Counter()
    for one in draw.sample(list(found), len(found)):
        most = (
            MOST_PER_FAMILY
            if one.is_phi or not one.family.startswith(("bg:", "ord:", "novels"))
            else 3 * MOST_PER_FAMILY
        )
        is_out = one.family in BLIND if is_all else is_held_out(one.family)
        if is_out or not one.passages or of_family[one.family] >= most:
            continue
        of_family[one.family] += 1
        times = REPEATED if one.family.startswith(("passing:", "written:in_passing")) else 1
        if one.is_phi:
            phi += times * [(one.passages[0][1], True)]
            continue
        for log_odds, pair, names_health, *_ in one.passages:
            is_read = log_odds > (LEAST_LOG_ODDS if names_health else LEAST_WITHOUT_HEALTH)
            (likely if is_read else unlikely).extend(times * [(pair, False)])
    others = [*likely, *unlikely[:MOST_UNLIKELY]][:MOST_OTHER]
    chosen = [*phi[:MOST_PHI], *others]
    headers = [match.group() for pair, _ in others if (match := _HEADER.match(pair[1]))]
    return [(_with_header(pair, headers, draw), label) for pair, label in chosen]


def _with_header(pair: Pair, headers: Sequence[str], draw: random.Random) -> Pair:
    """Give some passages the header of a mail, whatever their label; some beginnings become its subject."""
    passage, context = pair
    if _HEADER.match(context) or draw.random() > SHARE_WITH_HEADER:
        return pair
    first, dot, rest = passage.partition(". ")
    if dot and rest and draw.random() < 0.5:  # noqa: PLR2004
        return rest, f"From: Alex\nSubject: {first}\n{context}"
    return passage, f"{draw.choice(headers)}{context}"


def main() -> None:
    """Screen, choose, fine-tune and export."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for the cache")
    parser.add_argument("--ordinary", type=Path, help="folder that training.decision.ordinary_files filled")
    parser.add_argument("--minutes", type=float, default=60.0, help="limit of the fine-tuning")
    parser.add_argument("--all", action="store_true", help="learn from the families left out, too: to ship")
    parser.add_argument("--screen", action="store_true", help="screen the texts and end")
    options = parser.parse_args()
    work: Path = options.work
    raw = work / "screened"
    if not raw.is_dir():
        raw.mkdir(parents=True)
        screened([*samples(options.ordinary), *new_samples(), *passing_samples(), *chapters(work)], raw)
    if options.screen:  # training.judge.everyday comes between, for it says which lines are passages
        return
    found = examples(raw)
    print(Counter((one.is_phi, is_held_out(one.family)) for one in found), flush=True)
    chosen = training_passages(found, is_all=options.all)
    print(f"{len(chosen)} passages, {sum(label for _, label in chosen)} of PHI", flush=True)
    export(fine_tune(chosen, options.minutes), ENCODER_FILE)


if __name__ == "__main__":
    main()
