"""The output of ``phiscan learn`` on a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from phiscan.visible import visible


def print_learned(number: int, summary: Mapping[str, Any]) -> None:
    """Print before and after on held-out files, the learned parts, and every warning."""
    reviewed, change, prototypes = summary["reviewed"], summary["change"], summary["prototypes"]
    lines = [
        f"Version {number}, learned from {reviewed['files']} reviewed files:",
        f"  {reviewed['phi']} PHI, {reviewed['not_phi']} not; {reviewed['different']} without near-copies",
        "",
        "On reviewed files that were held out:        shipped              this version",
        _row("  PHI files referred", summary, "phi_kept"),
        _row("  other files referred", summary, "others_kept"),
        _changed(change),
        "  These are shares of the files that people reviewed, not of the share.",
        "",
        f"Prototypes        {prototypes['health']} of health information, {prototypes['pii']} of identifiers",
        f"Correction        {_made(summary['correction'])}",
        f"Detector C        {_made(summary['detector_text'])}",
        f"Probability       {_calibrated(summary['calibration'])}",
    ]
    not_read = summary["detector_text"]["not_read"]
    if not_read:
        counts = ", ".join(f"{reason} {count}" for reason, count in not_read.items())
        lines.append(f"                  not read again: {counts}")
    lines += [f"Warning           {warning['message']}" for warning in summary["warnings"]]
    lines += ["", f"Nothing is changed yet. To use it: phiscan learn --activate {number} --by NAME"]
    click.echo("\n".join(lines))


def print_versions(active: str, versions: Sequence[Mapping[str, Any]]) -> None:
    """Print one line per version, the one in use marked."""
    click.echo(f"{'*' if active == 'shipped' else ' '} shipped")
    for version in versions:
        reviewed, change = version["summary"]["reviewed"], version["summary"]["change"]
        made = version["made"][:16].replace("T", " ")
        click.echo(
            f"{'*' if version['active'] else ' '} {version['version']:<8}{made}"
            f"  by {visible(version['made_by'])}: {reviewed['phi']} phi, {reviewed['not_phi']} not_phi;"
            f" {change['others_spared']} false referrals spared, {change['phi_lost']} PHI lost;"
            f" {len(version['summary']['warnings'])} warnings"
        )
        if version["problem"]:
            click.echo(f"          UNUSABLE: {visible(version['problem'])}")


def _row(label: str, summary: Mapping[str, Any], name: str) -> str:
    before, after = (_share(summary[when][name]) for when in ("before", "after"))
    return f"{label:<45}{before:<21}{after}"


def _changed(change: Mapping[str, Any]) -> str:
    p_value = "" if change["p_value"] is None else f" (p = {change['p_value']:.3g})"
    return (
        f"  spared {change['others_spared']} false referrals, added {change['others_added']};"
        f" lost {change['phi_lost']} PHI files, gained {change['phi_gained']}{p_value}"
    )


def _share(figure: Mapping[str, Any]) -> str:
    if figure["value"] is None:
        return "-"
    low, high = figure["ci95"]
    return f"{figure['value']:.3f} [{low:.2f}, {high:.2f}]"


def _made(part: Mapping[str, Any]) -> str:
    return "learned" if part["made"] else f"as before: {part['reason']}"


def _calibrated(part: Mapping[str, Any]) -> str:
    if part["slope"] is None:
        return f"not calibrated: {part['reason']}"
    return f"calibrated on {part['n']} files of the random sample"
