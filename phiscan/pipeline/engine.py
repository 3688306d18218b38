"""What one worker process holds: the stages, ready to run, and the key of the hashes."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from phiscan import decision, screen
from phiscan.config import Config, Limits
from phiscan.decision.decided_examples import NOTHING_LEARNED, DecidedExamples
from phiscan.decision.learned_versions import load_version
from phiscan.health.classifier import Classifier, build_classifier
from phiscan.model import (
    PiiVector,
)
from phiscan.patients.matching import Matcher, load_matcher
from phiscan.patients.settings import load_settings
from phiscan.pipeline.passwords import read_passwords
from phiscan.screen.prototypes import Prototype
from phiscan.store.identity import Key, load_key


@dataclass(frozen=True, slots=True)
class Engine:
    """What one worker process holds: the stages, ready to run, and the key of the hashes."""

    screener: screen.Screener
    classifier: Classifier
    decider: decision.Decider
    limits: Limits
    key: Key = field(repr=False)  # or the process that has it, for one that reads documents
    passwords: tuple[str, ...] = field(default=(), repr=False)
    audit_share: float = 1.0  # of the files; on the others the cascade leaves out what decides nothing
    patients: Matcher | None = None  # the organization's own patients; None = there is no index

    @property
    def cheap_screener(self) -> screen.Screener:
        """The screener for what is not referred, whatever names it holds."""
        return self.screener.without_names()


def build_engine(config: Config, key: Key | None = None) -> Engine:
    """Load rules, dictionaries and models, and the key unless it is given; once per process.

    Raises:
        ConfigError, RuleError, DictionaryError, ModelError: the installation or configuration is unusable.
    """
    screener, classifier = screen.build_screener(config), build_classifier(config)
    decider = decision.build_decider(config)
    if config.learned is not None:
        decider = replace(decider, decided=DecidedExamples.by_wording(config.learned.decided))
    if config.learned is not None and config.learned.number:
        version = load_version(classifier, config.home, config.learned)
        before = config.learned.former
        former = load_version(classifier, config.home, before).decision if before else NOTHING_LEARNED
        found = (Prototype(item.name, PiiVector.from_int(item.vector)) for item in version.pii)
        screener = replace(screener, prototypes=(*screener.prototypes, *found))
        classifier, decider = version.classifier, replace(decider, learned=version.decision, former=former)
    return Engine(
        screener=screener,
        classifier=classifier,
        decider=decider,
        limits=config.limits,
        key=load_key(config.key_file) if key is None else key,
        passwords=read_passwords(config),
        audit_share=config.audit_share,
        patients=load_matcher(load_settings(config)),
    )
