"""PHI left in the list and missed in the rest, from the counts of the frame, and whether it is safe to stop.

A random sample of each part bounds the PHI among the files that it was drawn from, without any assumption
about scores, at every look. A file outside that population (it arrived since) counts as PHI in the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache

from phiscan.language import count, lazy_decimal, lazy_join, lazy_ngettext
from phiscan.language import lazy_gettext as _
from phiscan.metrics import elusion
from phiscan.metrics.intervals import check_share
from phiscan.model.frame import FrameCounts, FramePart

TARGET_RECALL = 0.95  # share of the PHI in the list that must be found before it is safe to stop
TARGET_RATE = 0.01  # share of the undecided rest that may be PHI then
ASSUMPTION = _(
    "The sample of each part was drawn at random from its files without a final verdict, and every final "
    "verdict is right. A bound uses the beginning of the random order that makes it smallest and holds every "
    "PHI found in it; in that beginning, files that are unsure, disputed, undecided or judged by their name "
    "alone count as PHI, and so does every file that no sample covers. It holds at every look at one draw."
)


@dataclass(frozen=True, slots=True)
class Bound:
    """PHI among the files of one part: expected number, and upper limit (95%, one-sided, at every look)."""

    name: str
    frame: str  # which files these are
    files: int
    expected: float | None
    upper: int
    reason: str | None  # why no number is expected

    @property
    def words(self) -> str:
        """The figures with their frame, as every page, command and report says them."""
        given = {"name": self.name, "frame": self.frame}
        given |= {"upper": count(self.upper), "files": count(self.files)}
        if self.expected is None:
            return _("{name}: at most {upper} of {files} {frame} (95%).", **given)
        about = lazy_decimal(f"{self.expected:.1f}")
        return _("{name}: about {about}, at most {upper} of {files} {frame} (95%).", about=about, **given)


@dataclass(frozen=True, slots=True)
class Remaining:
    """What is left and what was missed, and whether it is safe to stop."""

    undecided: int
    found: int
    arrived_since_sample: int | None  # None: no sample was drawn
    left_in_list: Bound
    missed_in_rest: Bound
    open_disputes: int
    unsure: int
    judged_by_name: int
    unread: int
    not_covered: int
    recall_lower: float | None  # lower limit of the share of the list's PHI that was found
    target_recall: float
    target_rate: float
    needed: int | None  # blind items without PHI that would make it safe; None: more is missing than that
    safe: bool
    why: str  # in words


def remaining(
    counts: FrameCounts, *, target_recall: float = TARGET_RECALL, target_rate: float = TARGET_RATE
) -> Remaining:
    """Estimate the PHI left in the list and missed in the rest.

    It is safe to stop if nothing is outside the answer (a file that no sample covers, an open dispute, an
    unsure verdict, an unread file, an unfinished scan), at least ``target_recall`` of the list's PHI is
    found, and at most ``target_rate`` of the undecided rest is PHI, each with 95% confidence.

    Raises:
        ValueError: a target is not in [0, 1].

    Source: Waudby-Smith & Ramdas (2020), see :mod:`phiscan.metrics.elusion`.
    """
    check_share("target_recall", target_recall)
    check_share("target_rate", target_rate)
    listed, rest = counts.listed, counts.rest

    def is_found(part: FramePart) -> bool:
        return part.open == 0 or (_recall(part) or 0.0) >= target_recall

    def is_rare(part: FramePart) -> bool:
        return upper(part) <= target_rate * part.open

    outside, unreviewed = tuple(_outside(counts)), tuple(_unreviewed(counts))
    short = (_needed(listed, is_found), _needed(rest, is_rare))
    safe = not (outside or unreviewed) and short == (0, 0)
    needed = None if outside or None in short else max(sum(n or 0 for n in short), len(unreviewed))
    answer = _("It is safe to stop.") if safe else _("It is not safe to stop.")
    return Remaining(
        undecided=counts.undecided,
        found=listed.found + rest.found,
        arrived_since_sample=listed.arrived + rest.arrived if counts.is_drawn else None,
        left_in_list=_bound(
            _("Left in the list"), _("referred files without a final verdict"), listed, counts
        ),
        missed_in_rest=_bound(
            _("Missed in the rest"),
            _("files that were read and not referred, without a final verdict"),
            rest,
            counts,
        ),
        open_disputes=counts.disputes,
        unsure=counts.unsure,
        judged_by_name=counts.by_name,
        unread=counts.unread,
        not_covered=counts.not_covered,
        recall_lower=_recall(listed),
        target_recall=target_recall,
        target_rate=target_rate,
        needed=needed,
        safe=safe,
        why=lazy_join(" ", [answer, *outside, *unreviewed, *_reached(counts, target_recall, target_rate)]),
    )


@lru_cache(maxsize=1024)
def upper(part: FramePart) -> int:
    """Bound the PHI among the files of a part that have no final verdict (95%, at every look at one draw)."""
    covered = part.open - part.arrived
    prefix = elusion.best_prefix(part.population, part.verdicts)
    if prefix is None:
        return part.open
    at_the_draw = _sequential_upper(part.population, prefix.size, prefix.found + prefix.open)
    return min(max(at_the_draw - part.found_since, 0), covered) + part.arrived


@lru_cache(maxsize=4096)
def _sequential_upper(population: int, sample: int, found: int) -> int:
    return elusion.sequential_upper(population, sample, found, elusion.tail_of(0.95))


def _bound(name: str, frame: str, part: FramePart, counts: FrameCounts) -> Bound:
    expected = reason = None
    if part.open == 0:
        expected = 0.0
    elif not counts.is_drawn:
        reason = _("no random sample was drawn; `phiscan queue draw --queued 60 --unreferred 300` draws one")
    elif part.reviewed == 0:
        reason = _("no file of the random sample has a final verdict yet")
    elif part.arrived:
        reason = _arrived(part.arrived)
    else:
        total = part.population * part.phi / part.reviewed
        expected = min(max(total - part.found_since, 0.0), float(part.open))
    return Bound(name, frame, part.open, expected, upper(part), reason)


def _recall(part: FramePart) -> float | None:
    return elusion.recall_lower(part.found, upper(part))


def _arrived(n: int) -> str:
    return lazy_ngettext("{n} file arrived since the sample", "{n} files arrived since the sample", n)


def _outside(counts: FrameCounts) -> Iterator[str]:
    """Yield why the answer cannot be yes, whatever the sample says: what the bounds do not cover."""
    listed, rest = counts.listed, counts.rest
    if not counts.is_scanned:
        yield _("The scan is not complete: files that it has not seen may hold anything.")
    arrived = listed.arrived + rest.arrived
    if counts.is_drawn and arrived:
        yield _("{arrived}: no sample covers them, so each counts as PHI.", arrived=_arrived(arrived))
    if counts.disputes:
        yield lazy_ngettext(
            "Two reviewers disagree about {n} file.",
            "Two reviewers disagree about {n} files.",
            counts.disputes,
        )
    if counts.unsure:
        yield lazy_ngettext("{n} file is marked unsure.", "{n} files are marked unsure.", counts.unsure)
    if counts.unread:
        yield lazy_ngettext(
            "{n} file could not be read and may hold anything.",
            "{n} files could not be read and may hold anything.",
            counts.unread,
        )
    if counts.not_covered:
        yield lazy_ngettext(
            "{n} file is in a language that phiscan does not read.",
            "{n} files are in languages that phiscan does not read.",
            counts.not_covered,
        )


def _unreviewed(counts: FrameCounts) -> Iterator[str]:
    """Yield the parts with files that were there at the draw, and of whose sample nothing was reviewed."""
    for part, sentence in (
        (
            counts.listed,
            _("No random sample of the list was reviewed: each of its open files counts as PHI."),
        ),
        (counts.rest, _("No random sample of the rest was reviewed: each of its files counts as PHI.")),
    ):
        if part.open > part.arrived * counts.is_drawn and part.reviewed == 0:
            yield sentence


def _reached(counts: FrameCounts, recall: float, rate: float) -> Iterator[str]:
    """Yield the two targets and what is shown of each."""
    listed, rest = counts.listed, counts.rest
    shown = _recall(listed)
    if listed.open == 0:
        yield _("Everything in the list has a final verdict.")
    else:
        yield _(
            "At least {shown} of the PHI in the list is found (95% sure); the target is {target}.",
            shown=lazy_decimal(f"{int(100 * (shown or 0.0))}%"),
            target=lazy_decimal(f"{recall:.0%}"),
        )
    if rest.open:
        yield _(
            "At most {upper} of the {files} files of the rest are PHI (95% sure); the target is {target}.",
            upper=count(upper(rest)),
            files=count(rest.open),
            target=lazy_decimal(f"{rate:.1%}"),
        )
    if counts.by_name:
        yield lazy_ngettext(
            "{n} file was judged by its name alone, which counts in no bound.",
            "{n} files were judged by their names alone, which counts in no bound.",
            counts.by_name,
        )


def _fill(part: FramePart, n: int) -> FramePart:
    """Return a part after the next ``n`` drawn files without a verdict turned out not to be PHI."""
    order = list(part.verdicts)
    for place in [place for place, verdict in enumerate(order) if verdict is None][:n]:
        order[place] = False
    return replace(part, verdicts=tuple(order), open=max(part.open - n, part.arrived))


def _needed(part: FramePart, is_reached: Callable[[FramePart], bool]) -> int | None:
    """Return how many more drawn files, none of them PHI, reach a target; None = too few were drawn.

    They are judged in random order, so that gaps are filled first; solved by bisection.
    """
    if is_reached(part):
        return 0
    low, high = 1, part.drawn - part.reviewed
    if low > high or not is_reached(_fill(part, high)):
        return None
    while low < high:
        middle = (low + high) // 2
        if is_reached(_fill(part, middle)):
            high = middle
        else:
            low = middle + 1
    return low
