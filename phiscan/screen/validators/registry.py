"""The checks that rules name: each may veto a matched value or confirm it.

A check returns CONFIRM when passing it is evidence, PLAUSIBLE when it only fails to object, VETO when no such
value was ever issued.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

from phiscan.screen.validators import check_digits, codes, contacts, dates
from phiscan.screen.validators.verdicts import Check


def _checks_of(module: ModuleType) -> Iterator[tuple[str, Check]]:
    """Yield the public functions of a module that give a verdict, by their names."""
    for name, value in vars(module).items():
        gives = getattr(value, "__annotations__", {}).get("return")
        if gives == "Verdict" and value.__module__ == module.__name__ and not name.startswith("_"):
            yield name, value


CHECKS: dict[str, Check] = {
    name: check for module in (check_digits, codes, contacts, dates) for name, check in _checks_of(module)
}
