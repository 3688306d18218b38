"""Which pattern files apply: ours, and the site's own of the configuration."""

from __future__ import annotations

from pathlib import Path

from phiscan.config import Config, data_dir
from phiscan.rules import RuleSet, read_rules


def load_rules(config: Config | None = None) -> RuleSet:
    """Read our pattern files and the site's own (``extra_patterns``), in the order of their names.

    Raises:
        RuleError: names the file and the rule id, and says what was expected.
        ConfigError: our own pattern files are not found.
    """
    extra = () if config is None else config.extra_patterns
    return read_rules([data_dir("patterns"), *map(Path, extra)])
