"""What one worker process holds: the stages, ready to run, and the key of the hashes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from phiscan import decision, screen
from phiscan import health as classify
from phiscan.config import Config, Limits
from phiscan.health.learned_versions import with_learned
from phiscan.model import (
    PiiVector,
)
from phiscan.patients.matching import Matcher, load_matcher
from phiscan.patients.settings import load_settings
from phiscan.pipeline.passwords import read_passwords
from phiscan.screen.ner.second_tagger import SecondNames
from phiscan.screen.prototypes import Prototype
from phiscan.store.identity import Key, load_key


@dataclass(frozen=True, slots=True)
class Engine:
    """What one worker process holds: the stages, ready to run, and the key of the hashes."""

    screener: screen.Screener
    classifier: classify.Classifier
    decider: decision.Decider
    limits: Limits
    key: Key = field(repr=False)  # or the process that has it, for one that reads documents
    passwords: tuple[str, ...] = field(default=(), repr=False)
    audit_share: float = 1.0  # of the files; on the others the cascade leaves out what decides nothing
    second: SecondNames | None = None  # the second family of name recognizers; None = it is not asked
    patients: Matcher | None = None  # the organization's own patients; None = there is no index
    second_share: float = 0.0  # of the files, drawn at random; near misses are asked about besides

    @property
    def cheap_screener(self) -> screen.Screener:
        """The screener for what is not referred, whatever names it holds."""
        return self.screener.without_names()


def build_engine(config: Config, key: Key | None = None) -> Engine:
    """Load rules, dictionaries and models, and the key unless it is given; once per process.

    Raises:
        ConfigError, RuleError, DictionaryError, ModelError: the installation or configuration is unusable.
    """
    screener, classifier = screen.build_screener(config), classify.build_classifier(config)
    decider = decision.build_decider(config)
    if config.learned is not None:
        classifier, learned, line = with_learned(classifier, config.home, config.learned)
        found = (Prototype(item.name, PiiVector.from_int(item.vector)) for item in learned)
        screener = replace(screener, prototypes=(*screener.prototypes, *found))
        decider = replace(decider, calibration=line)
    return Engine(
        screener=screener,
        classifier=classifier,
        decider=decider,
        limits=config.limits,
        key=load_key(config.key_file) if key is None else key,
        passwords=read_passwords(config),
        audit_share=config.audit_share,
        patients=load_matcher(load_settings(config)),
        second=SecondNames.load() if config.second_names_share else None,
        second_share=config.second_names_share,
    )
