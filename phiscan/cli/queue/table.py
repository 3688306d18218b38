"""The queue as a table on a terminal: types, counts and scores, never a value."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Sequence
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

from phiscan.review.store import QueueItem
from phiscan.visible import visible
from phiscan.web.views.plain_words import kinds_of

_MIN_WIDTH = 60  # of a terminal; on narrower ones numbers would be truncated
_NO_TERMINAL_WIDTH = 10_000  # one line per file for grep and other programs


def print_items(
    items: Sequence[QueueItem], *, n_all: int, n_open: int, offset: int, is_scanned: bool = True
) -> None:
    """Print the items, and the number of further ones."""
    if not items:
        if not is_scanned:
            click.echo("Nothing to decide: no scan yet; `phiscan scan FOLDER` fills the queue.")
            return
        click.echo("Nothing to show." if offset or n_open else "Nothing to decide.")
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading, right in (
        ("no.", True),
        ("risk", True),
        ("people", True),
        ("P(PHI)", True),
        ("health", True),
        ("verdict", False),
        ("file", False),
        ("identifiers", False),
    ):
        table.add_column(heading, justify="right" if right else "left", overflow="fold", no_wrap=right)
    for item in items:
        table.add_row(
            str(item.file_id),
            f"{item.risk:,.1f}",
            f"{item.n_people:,}" if item.n_people else "none named",
            "" if item.probability is None else f"{item.probability:.2f}",
            "" if item.health_score is None else f"{item.health_score:.2f}",
            item.verdict or (f"for {visible(item.assignee)}" if item.assignee else "-"),
            Text(visible(item.path)),  # as text: [bold] in a file name is not markup
            ", ".join(kinds_of(item.vector)),
        )
    _print_table(table)
    click.echo(
        f"\n{offset + 1:,} to {offset + len(items):,} of {n_all:,}; {n_open:,} undecided. "
        "`phiscan queue show NO` shows why a file is here."
    )


def _print_table(table: Table) -> None:
    if sys.stdout.isatty():
        width = max(_MIN_WIDTH, shutil.get_terminal_size().columns)
        Console(width=width, highlight=False).print(table)
        return
    console = Console(file=io.StringIO(), width=_NO_TERMINAL_WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        click.echo(line.rstrip())


def item_json(item: QueueItem) -> dict[str, Any]:
    """Return one item as JSON."""
    return {
        "file": item.file_id,
        "root": item.root,
        "path": item.path,
        "media_type": item.media_type,
        "size": item.size,
        "risk": item.risk,
        "pii": list(item.vector.names),
        "hamming": item.hamming,
        "missing": [bit.value for bit in item.missing],
        "nearest_prototype": item.nearest_prototype,
        "prototype_distance": item.prototype_distance,
        "health": item.health_score,
        "health_prototype": item.health_prototype,
        "people": item.n_people,
        "people_interval": item.people_interval,
        "findings": item.n_findings,
        "decision": item.referral,
        "case": item.case,
        "detectors": dict(item.detectors),
        "detector_probability": dict(item.detector_probabilities),
        "probability": item.probability,
        "second_look": item.second_look,
        "verdict": item.verdict,
        "reviewer": item.reviewer or None,
        "assignee": item.assignee or None,
    }
