"""The filters of ``phiscan queue list``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import click

from phiscan.model import EntityType
from phiscan.review.worklist.model import WorkFilter

F = TypeVar("F", bound=Callable[..., object])

_OPTIONS = (
    click.option("--folder", default="", help="Only below this folder of a root."),
    click.option("--format", "media_type", default="", help="Only files of this type, as text/plain."),
    click.option(
        "--type",
        "entity_type",
        type=click.Choice([kind.value for kind in EntityType]),
        help="Only files in which this type of identifier was found.",
    ),
    click.option("--owner", default="", help="Only files of this owner, by name or number."),
    click.option("--assignee", help='Only files that this person shall decide; "" = nobody.'),
    click.option("--text", default="", help="Only files with this text anywhere in the path."),
)


def filter_options(function: F) -> F:
    """Add the filter options to a command."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def read_filter(given: Mapping[str, str | None]) -> WorkFilter | None:
    """Return the filter of the options; None = no filter."""
    entity_type = given["entity_type"]
    wanted = WorkFilter(
        folder=given["folder"] or "",
        media_type=given["media_type"] or "",
        entity_type=EntityType(entity_type) if entity_type else None,
        owner=given["owner"] or "",
        assignee=given["assignee"],
        text=given["text"] or "",
    )
    return None if wanted == WorkFilter() else wanted
