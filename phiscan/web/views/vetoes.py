"""The view of the candidates that the rules rejected in one file: it is read again, values are masked."""

from __future__ import annotations

from dataclasses import dataclass

from phiscan.errors import InputError
from phiscan.language import gettext as _
from phiscan.pipeline.rereading.vetoes import Veto
from phiscan.report.words import ENTITY_TYPES
from phiscan.visible import visible
from phiscan.web.request_context import Desk
from phiscan.web.views.plain_words import colour, locator_words, step


@dataclass(frozen=True, slots=True)
class VetoLine:
    """One rejected candidate."""

    kind: str
    colour: str
    shape: str
    where: str
    start: int
    rule: str
    why: str  # the last step of its score, or that the score was too low


@dataclass(frozen=True, slots=True)
class VetoView:
    """The first rejected candidates; ``problem`` is the error message if the file could not be read again."""

    lines: tuple[VetoLine, ...] = ()
    n: int = 0
    problem: str = ""


def veto_view(desk: Desk, file_id: int) -> VetoView:
    """Read a file again and build the view of its rejected candidates."""
    try:
        found = desk.rereader.vetoes(desk.store.desk.examined(file_id))
    except InputError as error:  # it changed, is missing, or cannot be read now
        return VetoView(problem=str(error))
    return VetoView(tuple(_line(one) for one in found.first), found.n)


def _line(one: Veto) -> VetoLine:
    return VetoLine(
        kind=ENTITY_TYPES[one.entity_type],
        colour=colour(one.entity_type),
        shape=one.preview,
        where=locator_words(one.locator),
        start=one.start,
        rule=visible(one.rule),
        why=_why(one),
    )


def _why(one: Veto) -> str:
    last = one.reasons[-1]
    against = last.kind == "veto" or (last.kind == "context" and last.detail.startswith("not "))
    return step(last) if against else _("not enough evidence")
