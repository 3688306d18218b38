"""``phiscan score``: accuracy of a system's spans, ranking or labels against a gold standard."""

from __future__ import annotations

import click

from phiscan.cli.score.hierarchy import hierarchy
from phiscan.cli.score.private import private
from phiscan.cli.score.ranking import ranking, simulate
from phiscan.cli.score.spans import convert, spans


@click.group()
def score() -> None:
    """Score spans, rankings and hierarchies against a gold standard.

    \b
    Example:
      phiscan score spans --gold gold.jsonl --system ours.jsonl --format jsonl --json
    """  # noqa: D301 (click reads the character)


for command in (spans, convert, ranking, private, hierarchy, simulate):
    score.add_command(command)
