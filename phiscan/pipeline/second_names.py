"""The verdict of the second family of name recognizers: on a random sample, and on near misses.

It comes after the decision and changes none. On the sample it is a fourth capture list beside those of the
three detectors; a near miss is stored under a name of its own, for it was not drawn at random and would
spoil the estimate. Why it is made so: docs/decisions/0027.
"""

from __future__ import annotations

from collections.abc import Callable

from phiscan import health as classify
from phiscan.model import SECOND_NAMES, SECOND_NAMES_NEAR, Document, HealthScore
from phiscan.screen.ner.second_tagger import SecondNames
from phiscan.store.identity import Key, keyed_hash

_PLACES = 2**64


def place_in_order(document: Document, key: Key) -> float:
    """Return the place of a content in a random order that the key decides, from 0 up to 1."""
    return int(keyed_hash(key, "audit sample", document.content_hash)[:16], 16) / _PLACES


def second_verdict(
    document: Document,
    health: HealthScore,
    *,
    is_near_miss: Callable[[], bool],
    second: SecondNames | None,
    share: float,
    key: Key,
) -> tuple[tuple[str, bool], ...]:
    """Return the second family's verdict on "is this a PHI file" under its name, or nothing.

    The verdict is that of detector B with the other family's names: somebody is named in full, and the score
    by concepts and cues reaches the threshold. Only then is the text read.

    Args:
        document: its content hash decides whether it is in the sample; without one nothing is said.
        health: the score of the text.
        is_near_miss: tells whether any name would bring P(PHI) of the file to the threshold.
        second: the recognizer; None says nothing.
        share: of the contents that are drawn, 0 to 1.
        key: decides the order in which they are drawn.
    """
    if second is None or not document.content_hash:
        return ()
    sampled = place_in_order(document, key) < share
    if not sampled and not is_near_miss():
        return ()
    says = health.by_concepts >= classify.HEALTH and second.finds_full_name(document.text)
    return ((SECOND_NAMES if sampled else SECOND_NAMES_NEAR, says),)
