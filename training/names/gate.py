"""Regression gate: reject new weights whose figures are worse than the last card's by more than a margin."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from phiscan.errors import InputError

POINTS = 1.5  # percentage points that a recall or precision may fall
TOKENS = 2  # or as many tokens, where those are more: small sets
BEYOND = 0.5  # how many more persons beyond the gold, per 1,000 words
_SHARES = ("person_recall", "person_recall_any_label", "person_precision", "unknown_recall")
_BEYOND = "persons_beyond_gold_per_1000_words"
_SIZES = {"unknown_recall": "n_unknown_tokens"}


def last_card(path: Path) -> dict[str, Any]:
    """Read the names.json of the last weights.

    Raises:
        InputError: it cannot be read.
    """
    try:
        card = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        message = f"{path}: expected names.json of the last weights: {type(error).__name__}"
        raise InputError(message) from None
    if not isinstance(card, dict) or not isinstance(card.get("figures", {}), dict):
        message = f"{path}: expected an object with figures"
        raise InputError(message)
    return card


def falls(last: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """Return the figures of card ``new`` that are worse than those of ``last`` by more than a margin.

    Only sets of the same content count (their hashes are compared): another text has other figures. Weights
    of the last card's recipe are the last weights: only what is shown of their findings has changed.

    >>> gone = falls({"figures": {"s": {"person_recall": 95.0}}}, {"figures": {"s": {"person_recall": 90.0}}})
    >>> gone
    ['s: person_recall 95.0 -> 90.0 (may fall by 1.5)']
    """
    if last.get("recipe", "") == new.get("recipe"):
        return []
    found: list[tuple[float, str]] = []
    for name, before in last.get("figures", {}).items():
        after = new["figures"].get(name)
        if after is None or last.get("hashes", {}).get(name) != new.get("hashes", {}).get(name):
            continue
        for key in (*_SHARES, _BEYOND):
            old, now = before.get(key), after.get(key)
            if old is None or now is None:
                continue
            fall = now - old if key == _BEYOND else old - now
            size = after.get(_SIZES.get(key, "n_person_tokens")) or 0
            margin = BEYOND if key == _BEYOND else max(POINTS, 100 * TOKENS / size if size else 0.0)
            if fall > margin:
                found.append(
                    (fall / margin, f"{name}: {key} {old:.1f} -> {now:.1f} (may fall by {margin:.1f})")
                )
    return [text for _, text in sorted(found, reverse=True)]
