"""Changes since the previous complete scan of the same folders."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping

from phiscan.language import lazy_gettext as _
from phiscan.model import Outcome, Referral
from phiscan.report.data.desk import Change, ChangedFile
from phiscan.report.data.scan_rows import PreviousScan
from phiscan.report.words import plain
from phiscan.review.worklist.model import FileRecord

NO_PREVIOUS = _("there is no earlier complete scan of the same folders")
NOT_COMPLETE = _("the scan has not reached its end, so a file that it has not met may still be there")

NEW, MOVED, CHANGED, SAME = "new", "moved", "changed", "same"
NOW_READ, NO_LONGER_READ, NEVER_READ = "now_read", "no_longer_read", "never_read"

_READ = {Outcome.SCREENED, Outcome.UNCHANGED}

NameOf = Callable[[int, str, str], str]  # from number, root and path


def change(
    previous: PreviousScan | None,
    places: Mapping[int, FileRecord],
    *,
    complete: bool,
    versions: Mapping[str, str],
    n_copies: int,
    paths: Mapping[int, str],
    name_of: NameOf,
) -> Change:
    """Compare the files of a scan with those of the previous scan.

    Args:
        previous: the previous complete scan of the same folders.
        places: the files of this scan.
        complete: this scan was completed, so that files that it did not find are missing.
        versions: versions of rules and models at this scan.
        n_copies: files whose result this scan reused from an equal content.
        paths: names of the files of this scan.
        name_of: displayed name of a file that this scan did not find.
    """
    if previous is None:
        return Change(copies=n_copies, reason=NO_PREVIOUS)
    before = previous.files
    missing = sorted(before.keys() - places.keys())
    moved_to = _moves(previous, places, missing)
    arrived = set(moved_to.values())
    kinds = {number: _kind(number, places, previous, arrived) for number in places}
    counts = Counter(kinds.values())
    is_now = {number for number, place in places.items() if place.referral == Referral.REFERRED}
    was = {number for number, old in before.items() if old.referral == Referral.REFERRED}
    # A moved file is the same file at another path: it was referred before if it was at its old path.
    origin = {new: old for old, new in moved_to.items()}
    newly = {number for number in is_now if origin.get(number, number) not in was}
    why = Counter(kinds[number] for number in newly)
    dropped = sorted(number for number in was & places.keys() if number not in is_now)
    deleted = [number for number in missing if number not in moved_to]
    rows = [
        *(
            ChangedFile(_("newly referred, {why}", why=_WHY[kinds[n]]), n, paths[n], "")
            for n in sorted(newly)
        ),
        *(ChangedFile(_("no longer referred"), n, paths[n], "") for n in dropped),
        *(
            ChangedFile(_("moved"), old, name_of(old, before[old].root, before[old].path), paths[new])
            for old, new in sorted(moved_to.items())
        ),
    ]
    if complete:
        rows += [
            ChangedFile(_("deleted"), n, name_of(n, before[n].root, before[n].path), "") for n in deleted
        ]
    return Change(
        previous=previous.id,
        previous_ended=previous.ended,
        present_before=len(before),
        present=len(places),
        new=counts[NEW],
        moved=counts[MOVED],
        changed=counts[CHANGED],
        same=counts[SAME],
        now_read=counts[NOW_READ],
        no_longer_read=counts[NO_LONGER_READ],
        never_read=counts[NEVER_READ],
        deleted=len(deleted) if complete else None,
        copies=n_copies,
        newly_referred=len(newly),
        newly_referred_new=why[NEW] + why[MOVED] + why[NOW_READ],
        newly_referred_changed=why[CHANGED],
        newly_referred_same=why[SAME],
        no_longer_referred=len(dropped),
        referred_gone=sum(number in was for number in deleted) if complete else None,
        still_referred=len(is_now) - len(newly),
        versions=_changed_versions(previous.versions, versions),
        files=tuple(rows),
        reason=None if complete else NOT_COMPLETE,
    )


_WHY = {
    NEW: _("a new file"),
    MOVED: _("a moved file"),
    CHANGED: _("its content changed"),
    SAME: _("the same content judged again"),
    NOW_READ: _("it could not be read before"),
    NO_LONGER_READ: _("its content changed"),
    NEVER_READ: _("its content changed"),
}


def _moves(previous: PreviousScan, places: Mapping[int, FileRecord], missing: list[int]) -> dict[int, int]:
    """Pair each missing file with a new one of the same content, each new one once."""
    arrived: dict[str, list[int]] = defaultdict(list)
    for number in sorted(places.keys() - previous.files.keys(), reverse=True):
        if places[number].content_hash:
            arrived[places[number].content_hash].append(number)
    moves = {}
    for number in missing:
        waiting = arrived.get(previous.files[number].content_hash)
        if waiting:
            moves[number] = waiting.pop()
    return moves


def _kind(number: int, places: Mapping[int, FileRecord], previous: PreviousScan, arrived: set[int]) -> str:
    place, old = places[number], previous.files.get(number)
    if old is None:
        return MOVED if number in arrived else NEW
    is_read, was_read = place.outcome in _READ, old.outcome == Outcome.SCREENED
    if is_read and was_read:
        return SAME if place.content_hash == old.content_hash else CHANGED
    if is_read:
        return NOW_READ
    return NO_LONGER_READ if was_read else NEVER_READ


def _changed_versions(before: Mapping[str, str], now: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(plain(name) for name in sorted({*before, *now}) if before.get(name) != now.get(name))
