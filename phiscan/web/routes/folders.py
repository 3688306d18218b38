"""Folders of the review list: their tree map and table, assigning and deciding the files of one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Depends, Form
from starlette.responses import RedirectResponse, Response

from phiscan.errors import InputError
from phiscan.language import count, lazy_gettext, ngettext
from phiscan.language import gettext as _
from phiscan.review.decisions.verdicts import MAX_AT_ONCE
from phiscan.review.worklist.model import Exposure, FileRecord, WorkFilter, WorkState
from phiscan.review.worklist.reading import FolderLevel, FolderTotal
from phiscan.visible import visible
from phiscan.web.access import Permission, Routes
from phiscan.web.request_context import Ctx
from phiscan.web.routes.queue import Line, people_with
from phiscan.web.work_query import ListQuery, read_query


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle; x and y are its upper left corner."""

    x: float
    y: float
    width: float
    height: float


def split(weights: Sequence[float], area: Box) -> list[Box]:
    """Return one box per weight, in the same order, that fill the area: it is halved along its longer side.

    >>> [(round(box.width), round(box.height)) for box in split([2, 1, 1], Box(0, 0, 40, 20))]
    [(20, 20), (20, 10), (20, 10)]
    """
    if len(weights) < 2:  # noqa: PLR2004 (two can be split)
        return [area for _weight in weights]
    total, n_first, first = sum(weights), 1, weights[0]
    while n_first < len(weights) - 1 and 2 * first + weights[n_first] <= total:
        first, n_first = first + weights[n_first], n_first + 1
    share = first / total if total > 0 else 0.0
    if area.width > area.height:
        one = Box(area.x, area.y, area.width * share, area.height)
        other = Box(area.x + one.width, area.y, area.width - one.width, area.height)
    else:
        one = Box(area.x, area.y, area.width, area.height * share)
        other = Box(area.x, area.y + one.height, area.width, area.height - one.height)
    return split(weights[:n_first], one) + split(weights[n_first:], other)


MAX_BOXES = 30  # of the map; smaller folders are joined in one box
MAX_INNER = 12  # boxes within a box
MAX_ROWS = 300  # of the table
WIDE, TALL = Box(0, 0, 880, 380), Box(0, 0, 340, 460)  # for a screen, and for a phone
_HEADING, _MARGIN = 40.0, 4.0  # of a box with boxes in it
_MIN_WIDTH, _MIN_HEIGHT = 84.0, 74.0  # a smaller box has no inner boxes
_CHAR, _LINE = 7.9, 20.0  # width of a character and height of a line, of the labels

SIZES: Mapping[str, tuple[str, Callable[[FolderTotal], int]]] = {
    "people": (lazy_gettext("people"), lambda total: total.people),
    "files": (lazy_gettext("files"), lambda total: total.n_files),
    "open": (lazy_gettext("files still open"), lambda total: total.n_open),
}
"""The quantities that the area of a box can represent: label and number."""


@dataclass(frozen=True, slots=True)
class MapBox:
    """One rectangle of the map."""

    box: Box
    exposure: int  # 0 to 3: how many of its files everyone can read
    label: str  # "" = too small
    detail: str
    words: str  # text alternative of the box
    url: str  # "" = no link
    total: FolderTotal | None = None  # whose verdicts are shown as a bar at the bottom
    inner: tuple[MapBox, ...] = ()


def folder_url(root_id: int | None, folder: str, size: str = "people", path: str = "/folders") -> str:
    """Return the address of a folder's page.

    >>> folder_url(1, "Clinics/2024")
    '/folders?root=1&folder=Clinics%2F2024'
    """
    values: dict[str, str | int] = {} if root_id is None else {"root": root_id}
    values |= {"folder": folder} if folder else {}
    values |= {} if size == "people" else {"size": size}
    return f"{path}?{urlencode(values)}" if values else path


def folder_view(
    level: FolderLevel,
    *,
    root_id: int | None,
    folder: str,
    roots: Mapping[int, str],
    size: str,
    items: Sequence[FileRecord],
) -> dict[str, Any]:
    """Return what the page of a folder shows."""
    weigh = SIZES[size][1]
    children = sorted(level.children, key=lambda one: (-weigh(one), -one.n_files, one.name))
    parts = [part for part in folder.split("/") if part]
    crumbs = [(_("All shares"), folder_url(None, "", size))] if len(roots) > 1 else []
    if root_id is not None:
        crumbs.append((visible(roots.get(root_id, "")), folder_url(root_id, "", size)))
        crumbs += [
            (visible(part), folder_url(root_id, "/".join(parts[: at + 1]), size))
            for at, part in enumerate(parts)
        ]
    title = crumbs[-1][0] if crumbs else _("Folders")
    query = ListQuery(WorkFilter(root_id=root_id, folder=folder))
    return {
        "title": title,
        "crumbs": tuple(crumbs[:-1]),
        "root_id": root_id,
        "folder": folder,
        "size": size,
        "sizes": tuple(
            (name, words, folder_url(root_id, folder, name)) for name, (words, _weigh) in SIZES.items()
        ),
        "row": _row(level.total, size, title),
        "maps": tuple(
            (name, area, _boxes(children, area, size, depth=1))
            for name, area in (("wide", WIDE), ("tall", TALL))
        ),
        "rows": tuple(_row(one, size) for one in children[:MAX_ROWS]),
        "n_rows": len(children),
        "found": items,
        "query": query,
        "decide_url": folder_url(root_id, folder, path="/folders/decide") if folder else "",
    }


def _row(total: FolderTotal, size: str, name: str = "") -> dict[str, Any]:
    query = ListQuery(WorkFilter(root_id=total.root_id or None, folder=total.folder))
    return {
        "name": name or visible(total.name) or _("Files directly in this folder"),
        "url": folder_url(total.root_id, total.folder, size) if total.name else "",
        "review_url": query.url("/queue/next") if total.name or name else "",
        "total": total,
        **{f"n_{state}": total.by_state[WorkState(state)] for state in ("phi", "not_phi", "unsure")},
        "n_everyone": total.by_exposure[Exposure.EVERYONE],
    }


def _boxes(totals: Sequence[FolderTotal], area: Box, size: str, *, depth: int) -> tuple[MapBox, ...]:
    """Lay folders out; the smallest and those of weight zero become one box at the end."""
    weigh = SIZES[size][1]
    ordered = sorted(totals, key=lambda one: -weigh(one))
    most = MAX_BOXES if depth else MAX_INNER
    shown = [one for one in ordered[:most] if weigh(one) > 0]
    rest = [one for one in ordered if one not in shown]
    weights: list[float] = [weigh(one) for one in shown]
    others = sum(weigh(one) for one in rest)
    if others:
        weights.append(others)
    boxes = split(weights, area)
    made = [_box(one, box, size, depth=depth) for one, box in zip(shown, boxes, strict=False)]
    if others:
        words = ngettext(
            "{n} smaller folder: {others} {what}",
            "{n} smaller folders: {others} {what}",
            len(rest),
            others=count(others),
            what=SIZES[size][0],
        )
        label, detail = _labels(ngettext("{n} more", "{n} more", len(rest)), count(others), boxes[-1])
        made.append(MapBox(boxes[-1], 0, label, detail, words, ""))
    return tuple(made)


def _box(total: FolderTotal, box: Box, size: str, *, depth: int) -> MapBox:
    n_phi, n_everyone = total.by_state[WorkState.PHI], total.by_exposure[Exposure.EVERYONE]
    is_open = ngettext("{n} open", "{n} open", total.n_open)
    numbers = " · ".join((_people(total.people), _("{n} PHI", n=count(n_phi)), is_open))
    name = visible(total.name) or _("files here")
    label, detail = _labels(name, numbers if depth else count(SIZES[size][1](total)), box)
    is_split = depth and box.width >= _MIN_WIDTH and box.height >= _MIN_HEIGHT
    inner: tuple[MapBox, ...] = ()
    if is_split and any(one.name for one in total.below):
        width, height = box.width - 2 * _MARGIN, box.height - _HEADING - _MARGIN
        inside = Box(box.x + _MARGIN, box.y + _HEADING, width, height)
        inner = _boxes(total.below, inside, size, depth=0)
    words = _(
        "{name}: {files}, {people}, {phi} PHI, {open}, {everyone} readable by everyone",
        name=name,
        files=ngettext("{n} file", "{n} files", total.n_files),
        people=_people(total.people),
        phi=count(n_phi),
        open=is_open,
        everyone=count(n_everyone),
    )
    url = folder_url(total.root_id, total.folder, size) if total.name else ""
    exposure = exposure_step(n_everyone, total.n_files)
    return MapBox(box, exposure, label, detail, words, url, None if inner else total, inner)


def _people(n: int) -> str:
    return ngettext("{n} person", "{n} people", n)


def exposure_step(n_everyone: int, n_files: int) -> int:
    """Return the share of files that everyone can read: 0 none, 1 under half, 2 half or more, 3 all.

    >>> [exposure_step(n, 4) for n in (0, 1, 2, 4)]
    [0, 1, 2, 3]
    """
    if n_everyone in {0, n_files}:
        return 3 if n_everyone else 0
    return 2 if 2 * n_everyone >= n_files else 1


def _labels(name: str, detail: str, box: Box) -> tuple[str, str]:
    """Return the two lines of text that fit into a box."""
    max_chars = int((box.width - 12) / _CHAR)
    if max_chars < 4 or box.height < _LINE:  # noqa: PLR2004 (three letters and a mark say nothing)
        return "", ""
    label = name if len(name) <= max_chars else name[: max_chars - 1] + "…"
    parts = detail.split(" · ")
    while len(" · ".join(parts)) > max_chars and len(parts) > 1:
        parts.pop()
    second = " · ".join(parts)
    return label, second if len(second) <= max_chars and box.height >= 2 * _LINE else ""


N_ITEMS = 8  # undecided files of highest risk that the page lists
MAX_ASSIGNED = 5_000  # files that one form assigns

routes = Routes()


def wanted_folder(
    root: Annotated[str, Form(max_length=20)] = "", folder: Annotated[str, Form(max_length=1000)] = ""
) -> WorkFilter:
    """Return the files of the folder that a form names."""
    return read_query({"root": root, "folder": folder}).filter


Wanted = Annotated[WorkFilter, Depends(wanted_folder)]


@routes.page("GET", "/folders", needs=Permission.SEE_QUEUE)
def folders(ctx: Ctx, size: str = "people") -> Response:
    """Show a folder as a tree map and a table: files, people, verdicts, who can read them."""
    if size not in SIZES:
        raise InputError(_("size: expected one of {names}", names=", ".join(SIZES)))
    work = ctx.work
    roots = {number: path for number, path, _n in work.choices().roots}
    asked = ctx.query.filter
    root_id = asked.root_id if asked.root_id is not None or len(roots) != 1 else next(iter(roots))
    wanted = WorkFilter(root_id=root_id, folder=asked.folder)
    level = work.folder(root_id, asked.folder if root_id is not None else "", **ctx.viewing)
    items = work.items(wanted, limit=N_ITEMS, **ctx.viewing).items
    view = folder_view(level, root_id=root_id, folder=asked.folder, roots=roots, size=size, items=items)
    people = people_with(ctx) if ctx.may(Permission.ASSIGN) else ()
    return ctx.page("folders.html", **view, people=people, most=MAX_AT_ONCE)


@routes.page("POST", "/folders/assign", needs=Permission.ASSIGN)
def assign(ctx: Ctx, wanted: Wanted, assignee: Line = "") -> Response:
    """Assign the undecided files of a folder to a reviewer, or remove their assignment."""
    files = ctx.work.numbers(wanted, limit=MAX_ASSIGNED + 1, **ctx.viewing)
    if len(files) > MAX_ASSIGNED:
        raise InputError(
            _("folder: more than {most} open files; choose one of its folders", most=count(MAX_ASSIGNED))
        )
    if files:
        ctx.desk.store.assign_all(files, assignee, **ctx.by)
    back = folder_url(wanted.root_id, wanted.folder)
    return RedirectResponse(f"{back}{'&' if '?' in back else '?'}said={'assigned' if files else 'none'}", 303)
