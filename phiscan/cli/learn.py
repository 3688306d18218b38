"""``phiscan learn``: a new version from reviewed decisions and its effect; activate, list, go back."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from phiscan.cli.output import Answer, answers, config_of
from phiscan.config import Config
from phiscan.decision.learned_versions import check_files
from phiscan.errors import InputError, ModelError
from phiscan.pipeline.learning.learn import learn_version
from phiscan.review.decisions import learning as models
from phiscan.review.decisions.learning import SHIPPED, ModelVersion
from phiscan.review.store import Store
from phiscan.store.column_types import iso
from phiscan.visible import visible


@click.command(
    short_help="Learn a new version from reviewed decisions.",
    epilog="Example: phiscan learn --by 'A. Officer' && phiscan learn --activate 1 --by 'A. Officer'",
)
@click.option("--activate", metavar="VERSION", help="Let scans use this version from now on; or 'shipped'.")
@click.option("--accept", metavar="WHY", default="", help="Activate it although something speaks against it.")
@click.option("--list", "as_list", is_flag=True, help="List the versions; change nothing.")
@click.option("--by", default="", help="Your name, for the audit log; needed to learn and to activate.")
@answers
def learn(config_path: str | None, activate: str | None, accept: str, as_list: bool, by: str) -> Answer:
    """Learn from the current decisions, as a new version, and show its effect on the last scan.

    Nothing changes until --activate VERSION: the next scan then uses that version, reads every file again,
    and compares it with the former version on its audit sample. --activate with an older version, or with
    "shipped", goes back. A version that adds more referrals than it spares among unreviewed files, or whose
    missed PHI cannot be bounded, needs --accept WHY.
    """
    if activate is not None and as_list:
        message = "--activate: expected alone, or with --by, --accept and --json"
        raise InputError(message)
    if accept and activate is None:
        message = "--accept: expected with --activate VERSION"
        raise InputError(message)
    config = config_of(config_path)
    with Store.open(config.database_url, audit_key=config.audit_key_file) as store:
        if as_list:
            return _list(config, store)
        if activate is not None:
            return _activate(config, store, activate, by=by, accept=accept)
        return _learn(config, store, by=by)


def _learn(config: Config, store: Store, *, by: str) -> Answer:
    if not by.strip():
        message = "--by: expected your name, for the audit log"
        raise InputError(message)
    number, summary = learn_version(config, store, by=by.strip(), now=datetime.now(UTC))
    return {"version": number, "active": False, **summary}, _lines(number, summary)


def _activate(config: Config, store: Store, version: str, *, by: str, accept: str) -> Answer:
    if version != SHIPPED and not (version.isascii() and version.isdecimal() and len(version) < 10):  # noqa: PLR2004 (digits)
        message = f"--activate: expected the number of a version, or {SHIPPED}"
        raise InputError(message)
    number = None if version == SHIPPED else int(version)
    for known in models.versions(store.database):
        if known.number == number:
            check_files(_folder(config, known), known.files)
    before = models.activate(store.database, number, by=by, now=datetime.now(UTC), accept=accept)
    shown = SHIPPED if before is None else str(before)
    return {"active": version, "before": shown}, (
        f"Scans use version {version} from now on; before, {shown}. The next scan reads every file again.",
        f"To go back: phiscan learn --activate {shown} --by NAME",
    )


def _list(config: Config, store: Store) -> Answer:
    known = [_shape(config, version) for version in models.versions(store.database)]
    active = next((str(version["version"]) for version in known if version["active"]), SHIPPED)
    lines = [f"{'*' if active == SHIPPED else ' '} {SHIPPED}"]
    for version in known:
        summary, made = version["summary"], version["made"][:16].replace("T", " ")
        reviewed, unreviewed = summary["reviewed"], summary["share"]["referred"]["unreviewed"]
        lines.append(
            f"{'*' if version['active'] else ' '} {version['version']:<8}{made}"
            f"  by {visible(version['made_by'])}: {reviewed['phi']} phi, {reviewed['not_phi']} not_phi;"
            f" unreviewed files: {unreviewed['spared']} spared, {unreviewed['added']} added;"
            f" {len(summary['warnings'])} warnings"
        )
        if version["problem"]:
            lines.append(f"          UNUSABLE: {visible(version['problem'])}")
    return {"active": active, "versions": known}, lines


def _shape(config: Config, version: ModelVersion) -> dict[str, Any]:
    try:
        check_files(_folder(config, version), version.files)
        problem = None
    except ModelError as error:
        problem = str(error)
    return {
        "version": version.number,
        "made": iso(version.made),
        "made_by": version.made_by,
        "active": version.active,
        "files": dict(version.files),
        "problem": problem,
        "summary": dict(version.summary),
    }


def _folder(config: Config, version: ModelVersion) -> Path:
    return config.home / "models" / str(version.number)


def _lines(number: int, summary: Mapping[str, Any]) -> list[str]:
    """Return the lines for people: what was learned, its effect on the last scan, warnings, what to do."""
    reviewed, share, line = summary["reviewed"], summary["share"], summary["line"]
    sample, prototypes = reviewed["random_sample"], summary["prototypes"]
    lines = [
        f"Version {number}, learned from {reviewed['files']} decided files: {reviewed['phi']} PHI,",
        f"  {reviewed['not_phi']} not; {reviewed['above']} of them above the threshold",
        f"Random sample     {f'{sample} files reviewed' if sample else 'none was drawn and reviewed'}",
        f"Probability       {_calibrated(line)}",
        f"Prototypes        {prototypes['health']} of health information, {prototypes['pii']} of identifiers",
        "",
        f"On the {share['files']} files of the last scan ({share['not_judged']} not judged):",
        f"{'':<30}{'before':>8}{'after':>8}{'spared':>8}{'added':>8}",
    ]
    for name, counts in share["referred"].items():
        numbers = (counts[key] for key in ("before", "after", "spared", "added"))
        lines.append(f"  referred, {name:<18}" + "".join(f"{value:>8}" for value in numbers))
    for name, label in (("false_referrals", "false referrals"), ("missed_phi", "missed PHI")):
        figures = summary["estimates"][name]
        lines.append(f"  {label:<18}before {_figure(figures['before'])}; after {_figure(figures['after'])}")
    if summary["changes"]:
        lines += ["", "The files that change most (P before, after, verdict):"]
    for item in summary["changes"]:
        sides = "spared" if item["referred_before"] and not item["referred_after"] else ""
        sides = "added" if item["referred_after"] and not item["referred_before"] else sides
        lines.append(
            f"  {item['before']:.3f}  {item['after']:.3f}  {sides:<7}{item['verdict'] or '-':<9}"
            f"{item['file']:>7}  {visible(item['path'])}"
        )
    lines += [f"Warning           {visible(warning['message'])}" for warning in summary["warnings"]]
    lines += [f"Against it        {visible(reason)}" for reason in summary["accept"]]
    accept = ' --accept "WHY"' if summary["accept"] else ""
    return [
        *lines,
        "",
        f"Nothing is changed yet. To use it: phiscan learn --activate {number} --by NAME{accept}",
    ]


def _calibrated(line: Mapping[str, Any]) -> str:
    if line["start"] is not None:
        return f"calibrated above the threshold, which stays (slope {line['slope']:.2f})"
    if line["slope"] == 1.0 and line["intercept"] == 0.0:
        return "not calibrated: too few files above the threshold are decided"
    return f"calibrated on both sides (slope {line['slope']:.2f}, intercept {line['intercept']:.2f})"


def _figure(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "not known" + (f" ({figure['reason']})" if figure.get("reason") else "")
    if "upper" in figure:
        return f"{figure['value']:.1f}, at most {figure['upper']} (95%)"
    low, high = figure["ci95"]
    return f"{figure['value']:.1f} [{low:.1f}, {high:.1f}]"
