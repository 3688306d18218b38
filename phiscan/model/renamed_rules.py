"""Rule ids that were renamed: databases hold findings and suppressions with the former ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

RENAMED: Final[Mapping[str, str]] = {
    "age.told.1": "age.without_unit.1",
    "age.told_fr.1": "age.without_unit_fr.1",
    "date.told_md.1": "date.md_after_word.1",
}


def rule_ids(rule_id: str) -> tuple[str, ...]:
    """Return all ids under which findings of a rule are stored, the present one first; any other as it is.

    >>> rule_ids("age.told.1"), rule_ids("email.1")
    (('age.without_unit.1', 'age.told.1'), ('email.1',))
    """
    present = RENAMED.get(rule_id, rule_id)
    return present, *(former for former, now in RENAMED.items() if now == present)
