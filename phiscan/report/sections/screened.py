"""TDP, FRP and PPV of each screen, from counts of verified files, with the range due to unverified ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phiscan.language import lazy_gettext as _
from phiscan.metrics.intervals import Figure
from phiscan.metrics.screening import coverage, relative, tdp_frp
from phiscan.model import Verdict
from phiscan.report.data.report import Characteristic, FileEntry, Final

NO_PERSON = _("none of these files has been verified yet")
NOTHING_READ = _("no file was read")


@dataclass(frozen=True, slots=True)
class Screen:
    """One binary screen over the files that were read: its name and the files that it marks."""

    name: str
    label: str
    hipaa: str
    marked: frozenset[int]


class _Decided:
    """The files that were read, by verdict."""

    def __init__(self, files: Sequence[FileEntry]) -> None:
        self.n = len(files)
        self.phi = frozenset(entry.file for entry in files if entry.verdict is Verdict.PHI)
        self.not_phi = frozenset(entry.file for entry in files if entry.verdict is Verdict.NOT_PHI)
        self.unsure = frozenset(entry.file for entry in files if entry.verdict is Verdict.UNSURE)


def characteristics(screens: Sequence[Screen], files: Sequence[FileEntry]) -> tuple[Characteristic, ...]:
    """Evaluate screens over the same files; the one with the most confirmed PHI is the reference.

    Screens that mark no file are omitted. The result is ordered by confirmed PHI files, most first.

    Args:
        screens: which of the files each screen marks, by file number.
        files: the files that were read.

    Source: Sokolova & El Emam (2008), Table 1 and eq. 12, 13.
    """
    decided = _Decided(files)
    used = sorted(
        (screen for screen in screens if screen.marked),
        key=lambda screen: (-len(screen.marked & decided.phi), -len(screen.marked), screen.name),
    )
    return tuple(_evaluate(screen, used[0], decided) for screen in used)


def _evaluate(screen: Screen, reference: Screen, decided: _Decided) -> Characteristic:
    marked, phi, not_phi, n = screen.marked, decided.phi, decided.not_phi, decided.n
    n_phi, n_not_phi = len(marked & phi), len(marked & not_phi)
    n_open = len(marked) - n_phi - n_not_phi
    # n of equations 12 and 13 is n+ + n-: the unverified files are part of n+, in no cell yet.
    found = tdp_frp(n_phi, n_not_phi, n - n_phi - n_not_phi)
    is_unknown = n == 0 or (bool(marked) and n_phi + n_not_phi == 0)
    unknown = Figure(None, None, NO_PERSON if n else NOTHING_READ)
    ratio = relative(
        (n_phi, n_not_phi),
        (len(reference.marked & phi), len(reference.marked & not_phi)),
        both=(len(marked & reference.marked & phi), len(marked & reference.marked & not_phi)),
    )
    return Characteristic(
        name=screen.name,
        label=screen.label,
        hipaa=screen.hipaa,
        n=n,
        positive=len(marked),
        negative=n - len(marked),
        phi=n_phi,
        not_phi=n_not_phi,
        unverified=n_open,
        unsure=len(marked & decided.unsure),
        coverage=coverage(n_phi, n_not_phi + n_open, n - len(marked)),
        tdp=unknown if is_unknown else found.tdp,
        frp=unknown if is_unknown else found.frp,
        ppv=unknown if is_unknown else found.ppv,
        final_tdp=_final(n_phi, n_open, n),
        final_frp=_final(n_not_phi, n_open, n),
        reference=reference.name,
        relative_tdp=unknown if is_unknown else ratio.rtdp,
        relative_frp=unknown if is_unknown else ratio.rfrp,
    )


def _final(n_sure: int, n_open: int, n: int) -> Final:
    """Return the bounds of a figure over all possible verdicts on the unverified files."""
    least = tdp_frp(n_sure, 0, n - n_sure).tdp
    most = tdp_frp(n_sure + n_open, 0, n - n_sure - n_open).tdp
    if least.ci95 is None or most.ci95 is None:
        return Final(None, None, None, NOTHING_READ)
    return Final(least.value, most.value, (least.ci95[0], most.ci95[1]))


def overall(files: Sequence[FileEntry], referred: frozenset[int]) -> Characteristic:
    """Evaluate the whole screen: the file was referred to review; it may have marked no file."""
    screen = Screen("referred", _("Referred to review"), "", referred)
    return _evaluate(screen, screen, _Decided(files))
