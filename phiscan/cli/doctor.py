"""``phiscan doctor``: which readers work on this machine, and what the missing ones cost."""

from __future__ import annotations

from dataclasses import asdict

import click

from phiscan.cli.output import Answer, answers_alone
from phiscan.extract.diagnosis import diagnose


@click.command(epilog="Example: phiscan doctor --json")
@answers_alone
def doctor() -> Answer:
    """Try every reader on a generated sample, and report what cannot be read without the missing ones.

    Optional readers are installed by scripts/install-optional.sh.
    """
    checks = diagnose()
    missing = [check.name for check in checks if not check.works]
    width = max(len(check.name) for check in checks)
    lines = []
    for check in checks:
        state = "works  " if check.works else "MISSING" if not check.found else "FAILS  "
        loss = "" if check.works else f"  without it: {check.lost_without}"
        version = f" ({check.version})" if check.version else ""
        lines.append(f"{state}  {check.name:<{width}}  {check.reads}{version}{loss}")
    return {"parts": [asdict(check) for check in checks], "missing": missing}, lines
