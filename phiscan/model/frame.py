"""The counts behind "left in the list" and "missed in the rest": one frame of files, counted when asked."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class FramePart:
    """One part of the frame: the list (referred files), or the rest (files that were read and not referred).

    A verdict is final if it is phi or not_phi, the file was shown to the reviewer, and neither a second
    verdict nor a settlement is awaited. ``verdicts`` are those of the random sample in its order: is it PHI
    (unsure and disputed count as PHI), None without a final verdict. They reveal which items are of the
    sample: no page shows them.
    """

    open: int  # files without a final verdict
    arrived: int  # of them, outside the population of the draw: new, changed, moved or undecided again
    found: int  # PHI with a final verdict
    population: int = 0  # files without a final verdict at the draw; 0 = nothing was drawn from
    found_since: int = 0  # of this population, PHI with a final verdict by now
    verdicts: tuple[bool | None, ...] = field(default=(), repr=False)

    @property
    def drawn(self) -> int:
        """How many files were drawn."""
        return len(self.verdicts)

    @property
    def reviewed(self) -> int:
        """How many of them have a verdict, anywhere in the order."""
        return len(self.verdicts) - self.verdicts.count(None)

    @property
    def phi(self) -> int:
        """How many of these are PHI, unsure or disputed."""
        return self.verdicts.count(True)


@dataclass(frozen=True, slots=True)
class FrameCounts:
    """All files that are present, by what is known of them."""

    listed: FramePart
    rest: FramePart
    undecided: int  # referred files without any verdict, hidden and skipped ones among them
    unsure: int
    disputes: int  # two reviewers disagree, and no lead has settled it
    by_name: int  # the only verdict was given by the file's name, unopened
    unread: int  # files that could not be read and have no final verdict
    is_drawn: bool  # a random sample was drawn
    is_scanned: bool  # every root has a complete scan, and none is under way
    not_covered: int = 0  # of the rest, files in a language that is not read, without a final verdict
