"""Which pattern files apply: ours, and the site's own of the configuration."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from phiscan.config import Config, data_dir
from phiscan.errors import RuleError
from phiscan.screen.rules.definitions import RuleSet, read_rules

_read_once = cache(read_rules)


def load_rules(config: Config | None = None) -> RuleSet:
    """Read our pattern files and the site's own (``extra_patterns``), in the order of their names.

    Raises:
        RuleError: names the file and the rule id, and says what was expected.
        ConfigError: our own pattern files are not found.
    """
    extra = () if config is None else config.extra_patterns
    ours = data_dir("patterns")
    return read_rules([ours, *map(Path, extra)]) if extra else _read_once((ours,))


def load_sound_rules(config: Config) -> RuleSet:
    """Read the rules for a scan; the site's own must compile (ours are proven by the tests).

    Raises:
        RuleError: as ``load_rules``, and for a rule of the site that ``phiscan rules check`` would refuse.
    """
    ruleset = load_rules(config)
    if not config.extra_patterns:
        return ruleset
    from phiscan.screen.rules.self_check import form_defects  # noqa: PLC0415 (only where a site has rules)

    ours = data_dir("patterns")
    for rule in ruleset.rules:
        if Path(rule.path).parent != ours:
            for defect in form_defects(rule):
                message = f"{rule.path}: {rule.id}: {defect}"
                raise RuleError(message)
    return ruleset
