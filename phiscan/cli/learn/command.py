"""``phiscan learn``: new model versions from reviewed decisions; activate, list, go back."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.learn.table import print_learned, print_versions
from phiscan.cli.output import print_json
from phiscan.config import Config, load_config
from phiscan.errors import InputError, ModelError
from phiscan.health.learned_versions import check_files
from phiscan.model import Referral
from phiscan.pipeline.learning.learn import RandomSample, learn_version
from phiscan.report.sections import elusion
from phiscan.review.decisions import model_versions as models
from phiscan.review.decisions.model_versions import SHIPPED, ModelVersion
from phiscan.review.records.items import FileRow
from phiscan.review.store import Store
from phiscan.store.column_types import iso


@click.command(
    short_help="Learn a new version from reviewed decisions.",
    epilog="Example: phiscan learn --by 'A. Officer' && phiscan learn --activate 1 --by 'A. Officer'",
)
@click.option("--activate", metavar="VERSION", help="Let scans use this version from now on; or 'shipped'.")
@click.option("--list", "as_list", is_flag=True, help="List the versions; change nothing.")
@click.option("--by", default="", help="Your name, for the audit log; needed to learn and to activate.")
@click.option(
    "--no-read", is_flag=True, help="Do not read the reviewed files again: detector C learns nothing."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_obj
def learn(
    config_path: str | None, activate: str | None, as_list: bool, by: str, no_read: bool, as_json: bool
) -> None:
    """Learn prototypes, thresholds and detector C from the current decisions, as a new version.

    Nothing changes until --activate VERSION: the next scan then uses that version, and reads every file
    again. --activate with an older version, or with "shipped", goes back. Before and after are measured on
    held-out reviewed files, and doubtful labels are reported.
    """
    if activate is not None and (as_list or no_read):
        message = "--activate: expected alone, or with --by and --json"
        raise InputError(message)
    config = load_config(Path(config_path) if config_path else None)
    with Store.open(config.database_url, audit_key=config.audit_key_file) as store:
        if as_list:
            _list(config, store, as_json=as_json)
        elif activate is not None:
            _activate(config, store, activate, by=by, as_json=as_json)
        else:
            _learn(config, store, by=by, read_files=not no_read, as_json=as_json)


def _learn(config: Config, store: Store, *, by: str, read_files: bool, as_json: bool) -> None:
    if not by.strip():
        message = "--by: expected your name, for the audit log"
        raise InputError(message)
    sample = random_sample(list(store.present_rows()))
    number, summary = learn_version(
        config, store, sample=sample, by=by.strip(), now=datetime.now(UTC), read_files=read_files
    )
    if as_json:
        print_json({"version": number, "active": False, **summary})
    else:
        print_learned(number, summary)


def random_sample(rows: list[FileRow]) -> RandomSample:
    """Return the reviewed beginnings of the random order, of the referred files and of the others.

    Only these allow an estimate of how many files of a kind are PHI: the others were reviewed because of
    rank.
    """
    weights: dict[int, float] = {}
    referred = [row for row in rows if row.referral is Referral.REFERRED]
    for stratum in (referred, elusion.unreferred(rows)):
        drawn = []
        for row in elusion.sample_order(stratum, elusion.SEED):
            if row.verdict is None:
                break
            drawn.append(row.file_id)
        weights |= dict.fromkeys(drawn, len(stratum) / max(len(drawn), 1))
    return RandomSample(weights)


def _activate(config: Config, store: Store, version: str, *, by: str, as_json: bool) -> None:
    if version != SHIPPED and not (version.isascii() and version.isdecimal() and len(version) < 10):  # noqa: PLR2004 (digits)
        message = f"--activate: expected the number of a version, or {SHIPPED}"
        raise InputError(message)
    number = None if version == SHIPPED else int(version)
    if number is not None:
        for known in models.versions(store.database):
            if known.number == number:
                check_files(_folder(config, known), known.files)
    before = models.activate(store.database, number, by=by, now=datetime.now(UTC))
    shown = SHIPPED if before is None else str(before)
    if as_json:
        print_json({"active": version, "before": shown})
    else:
        click.echo(
            f"Scans use version {version} from now on; before, {shown}. The next scan reads every file again."
        )
        click.echo(f"To go back: phiscan learn --activate {shown}")


def _list(config: Config, store: Store, *, as_json: bool) -> None:
    versions = models.versions(store.database)
    shown = [_shape(config, version) for version in versions]
    active = next((str(version.number) for version in versions if version.active), SHIPPED)
    if as_json:
        print_json({"active": active, "versions": shown})
    else:
        print_versions(active, shown)


def _shape(config: Config, version: ModelVersion) -> dict[str, Any]:
    return {
        "version": version.number,
        "made": iso(version.made),
        "made_by": version.made_by,
        "active": version.active,
        "files": dict(version.files),
        "problem": _problem(_folder(config, version), version.files.items()),
        "summary": dict(version.summary),
    }


def _folder(config: Config, version: ModelVersion) -> Path:
    return config.home / "models" / str(version.number)


def _problem(folder: Path, files: Iterable[tuple[str, str]]) -> str | None:
    try:
        check_files(folder, dict(files))
    except ModelError as error:
        return str(error)
    return None
