"""Verdicts of checks, and the functions that all checks share."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

CONFIRM_RATE = 0.6  # the share of the remaining doubt that a confirmed check digit takes away


class Verdict(StrEnum):
    """The result of a check of a value."""

    CONFIRM = "confirm"
    PLAUSIBLE = "plausible"
    VETO = "veto"


Check = Callable[[str], Verdict]


def digits_of(value: str) -> str:
    """Return the digits of a value."""
    return value if value.isdecimal() else "".join(c for c in value if c.isdecimal())


def alnum_of(value: str) -> str:
    """Return the letters and digits of a value, in capitals."""
    return (value if value.isalnum() else "".join(c for c in value if c.isalnum())).upper()


def confirm(ok: bool) -> Verdict:
    """Confirm what is right, veto what is not."""
    return Verdict.CONFIRM if ok else Verdict.VETO


def plausible(ok: bool) -> Verdict:
    """Return the verdict of a condition: plausible, or a veto."""
    return Verdict.PLAUSIBLE if ok else Verdict.VETO
