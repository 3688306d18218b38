"""``phiscan train``: retrain the shipped models, reproducibly from a seed."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from phiscan.cli.output import print_json, print_message
from phiscan.errors import InputError

if TYPE_CHECKING:
    from training.corpora.marked_texts import Texts

EXIT_REFUSED = 1
SHIPPED = Path(str(resources.files("phiscan.screen"))) / "data" / "names.json"
_data_option = click.option(
    "--data",
    type=click.Path(),
    help="Folder of the openly licensed sets (SET.jsonl) to train on and measure with. Default: none.",
)
_marked_option = click.option(
    "--marked",
    type=click.Path(),
    multiple=True,
    help="Marked texts to train on, too: JSON lines, as `phiscan score spans` reads. May be repeated.",
)
_seed_option = click.option(
    "--seed", type=int, help="Seed of every draw. Default: the shipped weights' seed."
)
_documents_option = click.option(
    "--documents",
    "n_documents",
    type=click.IntRange(min=50),
    help="Documents to make. Default: the shipped weights'.",
)
_json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON object with the figures.")


@click.group()
def train() -> None:
    """Make the shipped models anew; for those who change phiscan, never needed to scan."""


@train.command(epilog="Example: phiscan train names --out build/names --data ../texts")
@click.option(
    "--out",
    required=True,
    type=click.Path(),
    help="Folder for weights, labels, card and the models of the folds.",
)
@_data_option
@_marked_option
@click.option(
    "--last",
    type=click.Path(),
    help="names.json of the weights to compare with. Default: the shipped ones.",
)
@_seed_option
@_documents_option
@click.option(
    "--iterations", type=click.IntRange(min=1), help="Iterations of the training at most. Default: 70."
)
@click.option(
    "--measure-only",
    is_flag=True,
    help="Train nothing: measure the models of the last weights in OUT again, by the program of today.",
)
@_json_option
def names(
    out: str,
    data: str | None,
    marked: tuple[str, ...],
    last: str | None,
    seed: int | None,
    n_documents: int | None,
    iterations: int | None,
    measure_only: bool,
    as_json: bool,
) -> int:
    """Train the name tagger and write its weights and its model card.

    Makes the documents, trains once without each of two parts of the sets, once without a tenth of the
    templates and of our own texts and once on everything, measures each set with a model that never saw its
    like, and compares with the last card. A figure that falls by more than its margin refuses the weights:
    exit status 1, one line, and the files go to OUT/refused.
    The same seed, texts and packages give the same bytes on the same kind of machine. Needs the extra
    "train".
    """
    from training.names.train import CARD, Settings, train_names  # noqa: PLC0415 (few commands pay for loading it)

    texts = _texts(data, marked)
    settings = replace(Settings(), **_given(seed=seed, n_documents=n_documents, max_iterations=iterations))
    trained = train_names(
        settings,
        texts=texts,
        out=Path(out),
        last=Path(last) if last is not None else SHIPPED,
        log=print_message,
        measure_only=measure_only,
    )
    if as_json:
        print_json({"figures": trained.card["figures"], "refused": list(trained.refused)})
    elif not trained.refused:
        click.echo(f"{Path(out) / CARD}")
    if trained.refused:
        more = f" and {len(trained.refused) - 1} more" if len(trained.refused) > 1 else ""
        print_message(f"phiscan: refused: {trained.refused[0]}{more}", level="error")
        return EXIT_REFUSED
    return 0


@train.command(epilog="Example: phiscan train numbers --out build/numbers --marked marked.jsonl")
@click.option("--out", required=True, type=click.Path(), help="Folder for weights and card.")
@click.option(
    "--marked",
    type=click.Path(),
    multiple=True,
    required=True,
    help="Marked texts to learn from and to measure with: JSON lines, as `phiscan score spans` reads. May be"
    " repeated.",
)
@_json_option
def numbers(out: str, marked: tuple[str, ...], as_json: bool) -> None:
    """Train the number classifier: which numbers identify a person, and which are ages over 89.

    Trained on the files of --marked, in which every number that identifies a person must be marked with its
    type, and every age over 89 as an age, and on our own texts. Each file is measured with weights that were
    not trained on it. About two minutes on one core. The same texts, program and packages give the same
    bytes.
    """
    from training.numbers.train import CARD, NumberSettings, train_numbers  # noqa: PLC0415 (few commands pay for loading it)

    card = train_numbers(NumberSettings(), marked=tuple(map(Path, marked)), out=Path(out), log=print_message)
    if as_json:
        print_json({"figures": card["figures"]})
    else:
        click.echo(f"{Path(out) / CARD}")


def _given(**options: int | None) -> dict[str, Any]:
    """Return the options that were given; None leaves the shipped setting."""
    return {name: value for name, value in options.items() if value is not None}


def _texts(data: str | None, marked: tuple[str, ...]) -> Texts:
    """Return what ``--data`` and ``--marked`` say.

    Raises:
        InputError: there is no such folder.
    """
    from training.corpora.marked_texts import Texts  # noqa: PLC0415 (few commands pay for loading it)

    if data is not None and not Path(data).is_dir():
        message = f"--data: {data}: expected a folder"
        raise InputError(message)
    return Texts(None if data is None else Path(data), tuple(map(Path, marked)))
