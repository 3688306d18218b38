"""Overlapping findings to one finding per place, keeping every reason."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from phiscan.model import EntityType, Finding, Reason, Span

# An address holds its city and postal code: the bits of what it covers stay true.
_CONTAINERS = {
    EntityType.STREET_ADDRESS: {EntityType.LOCATION, EntityType.POSTAL_CODE, EntityType.STREET_ADDRESS},
    EntityType.LOCATION: {EntityType.POSTAL_CODE, EntityType.LOCATION},
    EntityType.PERSON: {EntityType.PERSON},
    EntityType.HEALTH_PROFESSIONAL: {EntityType.HEALTH_PROFESSIONAL},
}
_PLACES = frozenset({EntityType.STREET_ADDRESS, EntityType.LOCATION, EntityType.POSTAL_CODE})
# Recognizers that see different parts of one name or address: their union is the finding.
_UNITED = {EntityType.PERSON, EntityType.HEALTH_PROFESSIONAL, EntityType.STREET_ADDRESS}

_PLACE_CHARS = 64  # findings are looked for by stretches of so many characters


def resolve(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return findings that do not overlap, in text order.

    Where two overlap, the higher rank (``Finding.rank``) wins, then the longer one, then the earlier; the
    other's source joins its reasons. Two names (or two addresses) that overlap are united, with the bits of
    both.
    """
    ordered = sorted(findings, key=lambda f: (f.span.start, -f.span.end))
    kept: list[Finding] = []
    group: list[Finding] = []
    last_end = -1
    for finding in ordered:
        if group and finding.span.start >= last_end:
            kept.extend(_resolve_group(group))
            group = []
        group.append(finding)
        last_end = max(last_end, finding.span.end) if len(group) > 1 else finding.span.end
    if group:
        kept.extend(_resolve_group(group))
    return tuple(kept)


def _resolve_group(group: list[Finding]) -> list[Finding]:
    if len(group) == 1:
        return group
    ranked = sorted(group, key=lambda f: (-f.rank, -f.span.n_chars, f.span.start, f.source))
    chosen = _Chosen()
    for finding in ranked:
        rivals = chosen.overlapping(finding.span)
        if not rivals:
            chosen.add(finding)
            continue
        if finding.entity_type is EntityType.STREET_ADDRESS and not finding.is_doubtful:
            within = [chosen.findings[i] for i in rivals]
            mixed = len(within) > 1 or within[0].entity_type is not finding.entity_type
            if mixed and all(
                other.entity_type in _PLACES and finding.span.contains(other.span) for other in within
            ):
                # A labelled address that holds its street, city and postal code: the whole is the finding.
                best = max(within, key=lambda other: other.rank)
                whole = replace(finding, score=best.score, priority=best.priority)
                for other in within:
                    whole = _absorb(whole, other, alone=False)
                chosen.remove(rivals)
                chosen.add(whole)
                continue
        chosen.replace(rivals[0], _absorb(chosen.findings[rivals[0]], finding, alone=len(rivals) == 1))
    return sorted(chosen.findings.values(), key=lambda f: f.span.start)


class _Chosen:
    """Findings by their rank, and by place: a long line may hold thousands that all touch each other."""

    def __init__(self) -> None:
        self.findings: dict[int, Finding] = {}  # by rank, best first
        self._places: dict[int, set[int]] = {}
        self._n_added = 0

    def overlapping(self, span: Span) -> list[int]:
        """Return the ranks of the findings that overlap a span, best first."""
        near: set[int] = set()
        for place in _places(span):
            near |= self._places.get(place, set())
        return sorted(rank for rank in near if self.findings[rank].span.overlaps(span))

    def add(self, finding: Finding) -> None:
        """Take a finding after all others."""
        self.findings[self._n_added] = finding
        self._enter(self._n_added, _places(finding.span))
        self._n_added += 1

    def replace(self, rank: int, finding: Finding) -> None:
        """Put a finding in the place of one whose span it covers."""
        old, new = _places(self.findings[rank].span), _places(finding.span)
        self.findings[rank] = finding
        # Only what it grew by: a name that unites thousands is long.
        self._enter(rank, range(new.start, old.start))
        self._enter(rank, range(old.stop, new.stop))

    def remove(self, ranks: Iterable[int]) -> None:
        """Drop findings."""
        for rank in ranks:
            for place in _places(self.findings.pop(rank).span):
                self._places[place].discard(rank)

    def _enter(self, rank: int, places: range) -> None:
        for place in places:
            self._places.setdefault(place, set()).add(rank)


def _places(span: Span) -> range:
    return range(span.start // _PLACE_CHARS, span.end // _PLACE_CHARS + 1)


def _absorb(winner: Finding, loser: Finding, *, alone: bool) -> Finding:
    if winner.source == loser.source and winner.span == loser.span:
        return winner
    same = winner.entity_type == loser.entity_type
    span, bits = winner.span, winner.bits
    if alone and same and winner.entity_type in _UNITED and not loser.is_doubtful:
        span = Span(min(span.start, loser.span.start), max(span.end, loser.span.end))
    if (same and winner.entity_type in _UNITED) or loser.entity_type in _CONTAINERS.get(
        winner.entity_type, ()
    ):
        bits = bits | loser.bits
    reasons = winner.reasons
    if all(reason.detail != loser.source for reason in reasons):
        reasons = (*reasons, Reason("overlap", loser.source, winner.score))
    return replace(winner, span=span, bits=bits, reasons=reasons)
