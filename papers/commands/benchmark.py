"""``phiscan benchmark``: the experiments of the papers, repeated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from papers.needs import PACKAGES, code_digest, library_versions, needed
from phiscan.cli.output import print_json, print_message
from phiscan.errors import InputError

JSON = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
OUT = click.option(
    "--out", "folder", type=click.Path(path_type=Path), help="Folder for the plots, tables and JSON."
)
SEED = click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of all draws.")
SHORT = click.option("--short", is_flag=True, help="A small form that takes seconds, for trying it out.")


@click.group()
def benchmark() -> None:
    """Repeat the experiments of the source papers; for auditors, never needed to scan.

    Example: phiscan benchmark i2b2 --out build/papers/i2b2
    """


@benchmark.command()
@SHORT
@click.option(
    "--shuffles", type=click.IntRange(min=1), default=9_999, show_default=True, help="Of each test."
)
@SEED
@OUT
@JSON
def i2b2(short: bool, shuffles: int, seed: int, folder: Path | None, as_json: bool) -> None:
    """Train, score and rank recognizers of each family of the i2b2 challenge of 2006.

    The records are surrogates made from the seed.

    Example: phiscan benchmark i2b2 --short
    """
    for module in PACKAGES:
        needed(module)  # at once, not after minutes of training
    from papers.i2b2.corpus import N_TEST, N_TRAIN, make_corpus  # noqa: PLC0415 (loads word lists)
    from papers.i2b2.plots import plot_all  # noqa: PLC0415 (matplotlib is slow to load)
    from papers.i2b2.ranking import rank_systems, recognizers  # noqa: PLC0415 (loads sklearn)
    from papers.i2b2.tables import markdown, payload  # noqa: PLC0415
    from phiscan.config import load_config  # noqa: PLC0415
    from phiscan.pipeline.versions import screening_versions  # noqa: PLC0415

    sizes = (20, 10) if short else (N_TRAIN, N_TEST)
    corpus = make_corpus(seed=2006 + seed, n_train=sizes[0], n_test=sizes[1])
    scores = rank_systems(corpus, recognizers(short=short), log=print_message)
    experiment = {"experiment": code_digest(Path(__file__).parents[1] / "i2b2")}
    versions = {**library_versions("python-crfsuite"), **experiment, **screening_versions(load_config())}
    shape = {"versions": versions, **payload(corpus, scores, shuffles=shuffles, seed=seed)}
    if folder is not None:
        prepare(folder)
        plot_all(scores, folder)
        (folder / "figure-3.txt").write_text((corpus.test[0].text or "") + "\n", encoding="utf-8")
    finish(shape, markdown(shape), folder, as_json=as_json)


@benchmark.command()
@click.option(
    "--adult",
    "adult_paths",
    type=click.Path(path_type=Path),
    multiple=True,
    help="adult.data or adult.test of the UCI repository; repeatable. A look-alike is made where absent.",
)
@click.option(
    "--repetitions", type=click.IntRange(min=20), default=200, show_default=True, help="Of each release."
)
@SEED
@OUT
@JSON
def thresholdless(
    adult_paths: tuple[Path, ...], repetitions: int, seed: int, folder: Path | None, as_json: bool
) -> None:
    """Attack a published area under the curve, and measure the error of private releases against epsilon.

    Example: phiscan benchmark thresholdless --adult adult.data --adult adult.test --out build/papers/boyd
    """
    from papers.evaluation.adult import read_adult, simulated_data  # noqa: PLC0415 (loads numpy)
    from papers.evaluation.results import markdown, run  # noqa: PLC0415 (loads sklearn)

    examples = read_adult(adult_paths) if adult_paths else simulated_data(seed)
    if folder is not None:
        prepare(folder)
    shape = {
        "versions": library_versions(),
        **run(examples, repetitions=repetitions, seed=seed, folder=folder),
    }
    finish(shape, markdown(shape), folder, as_json=as_json)


@benchmark.command("false-negatives")
@click.option(
    "--spambase",
    "spambase_path",
    type=click.Path(path_type=Path),
    help="spambase.data of the UCI repository. A look-alike is made where absent.",
)
@SEED
@OUT
@JSON
def false_negatives(spambase_path: Path | None, seed: int, folder: Path | None, as_json: bool) -> None:
    """Estimate what pairs of classifiers on disjoint features both missed, compared with the true number.

    Example: phiscan benchmark false-negatives --spambase spambase.data --out build/papers/mane
    """
    from papers.false_negatives import experiment as mane  # noqa: PLC0415 (loads sklearn)
    from papers.false_negatives.spambase import read_spambase, simulated_data  # noqa: PLC0415

    messages = simulated_data(seed) if spambase_path is None else read_spambase(spambase_path)
    found = mane.experiment(messages, seed=seed)
    if folder is not None:
        prepare(folder)
        mane.plot(found, folder / "figure-2.svg")
    shape = {"versions": library_versions(), **mane.payload(messages, found)}
    finish(shape, mane.markdown(shape), folder, as_json=as_json)


@benchmark.command("screened-positives")
@click.option(
    "--texts",
    "text_paths",
    type=click.Path(path_type=Path),
    multiple=True,
    help='JSON lines {"text","doc_label"} to draw the shares from; repeatable. Texts are made where absent.',
)
@SHORT
@SEED
@OUT
@JSON
@click.pass_obj
def screened_positives(
    config_path: str | None,
    text_paths: tuple[Path, ...],
    short: bool,
    seed: int,
    folder: Path | None,
    as_json: bool,
) -> None:
    """Screen shares with 1% and 0.44% PHI by one characteristic, by the paper's steps, and as phiscan does.

    Example: phiscan benchmark screened-positives --texts texts.jsonl --out build/papers/screened
    """
    from papers.screened import collections as made  # noqa: PLC0415 (loads word lists)
    from papers.screened import experiment  # noqa: PLC0415 (loads every model)
    from phiscan.config import load_config  # noqa: PLC0415
    from phiscan.pipeline.versions import screening_versions  # noqa: PLC0415

    config = load_config(Path(config_path) if config_path else None)
    pool = made.read_pool(text_paths) if text_paths else made.made_pool(seed, n_other=20 if short else 300)
    shares = made.make_shares(pool, seed=seed, scale=0.06 if short else 1.0)
    wanted = list(dict.fromkeys(name for share in shares for name in share.texts))
    marks = experiment.screen_texts(pool, wanted, config, log=print_message)
    versions = {**library_versions(), **screening_versions(config)}
    shape = {
        "versions": versions,
        "seed": seed,
        **experiment.payload(pool, experiment.screened_shares(pool, shares, marks)),
    }
    finish(shape, experiment.markdown(shape), folder, as_json=as_json)


def prepare(folder: Path) -> None:
    """Make the folder of the results.

    Raises:
        InputError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{folder}: cannot be made: {error.strerror}"
        raise InputError(message) from None


def finish(shape: dict[str, Any], lines: Sequence[str], folder: Path | None, *, as_json: bool) -> None:
    """Print the results, and write them into the folder, if one is given, as JSON and as Markdown."""
    if folder is not None:
        prepare(folder)
        text = json.dumps(shape, indent=2, ensure_ascii=False, allow_nan=False)
        (folder / "results.json").write_text(text + "\n", encoding="utf-8")
        (folder / "results.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print_message(f"results written to {folder}")
    if as_json:
        print_json(shape)
    else:
        click.echo("\n".join(lines))
