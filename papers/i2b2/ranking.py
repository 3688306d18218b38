"""Train, score and rank every system on one corpus, and test the difference of every two.

Source: Uzuner, Luo & Szolovits (2007), Figures 2 to 8, Tables 8 and 16.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Protocol

from scipy import stats

from papers.i2b2.boosted import BoostedRecognizer
from papers.i2b2.corpus import Corpus
from papers.i2b2.crf import ARAMAKI_1, WELLNER_1, WELLNER_3, CrfRecognizer, MajorityCrf
from papers.i2b2.hmm import HmmRecognizer
from papers.i2b2.own import OwnRecognizer
from papers.i2b2.published import ALPHA, INSTANCE_RANKING, TOKEN_RANKING
from papers.i2b2.rules import RuleRecognizer
from papers.i2b2.statistics import is_known, vocabulary
from papers.i2b2.svm import GUO_1, GUO_2, HybridRecognizer, SvmRecognizer
from papers.i2b2.tokens import TokenizedRecord, tokenize
from phiscan.metrics.deidentification.randomization import (
    Difference,
    randomization_test,
)
from phiscan.metrics.deidentification.span_tokens import (
    Subset,
    TokenScores,
    token_counts,
    token_extents,
    token_scores,
)
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    instance_counts,
)
from phiscan.metrics.rates import OverlapCounts

TEMPLATES, HYBRID, LEARNING, RULES, OWN = (
    "learning with templates for all categories",
    "rules for some categories, learning for others",
    "learning without templates",
    "rules alone",
    "phiscan as shipped",
)


class Recognizer(Protocol):
    """A system: trained on labelled records, predicts the spans of others."""

    @property
    def name(self) -> str:
        """The name of the replicated system."""

    def fit(self, records: Sequence[TokenizedRecord]) -> object:
        """Learn."""

    def predict(self, records: Sequence[TokenizedRecord]) -> Iterator[tuple[LabelledSpan, ...]]:
        """Yield the spans of each record."""


@dataclass(frozen=True, slots=True)
class SystemScore:
    """One system: counts by record, token scores and their subsets, and its duration."""

    name: str
    family: str
    instances: tuple[InstanceCounts, ...]
    per_record: tuple[OverlapCounts, ...]
    tokens: TokenScores
    seconds: float

    @property
    def instance_f1(self) -> float:
        """F1 over instances, 0 where it does not exist."""
        return sum(self.instances, InstanceCounts()).rates.f1 or 0.0

    @property
    def token_f1(self) -> float:
        """F1 over tokens, 0 where it does not exist."""
        return self.tokens.overall.rates.f1 or 0.0

    @property
    def unknown(self) -> Subset:
        """The score on out-of-vocabulary names and places."""
        return self.tokens.out_of_vocabulary or Subset(0, 0)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two systems and the tests of their differences."""

    first: str
    second: str
    instance: dict[str, Difference]
    token: dict[str, Difference]


def recognizers(*, short: bool = False) -> list[tuple[str, Recognizer]]:
    """Return (family, system), untrained; ``short`` trains less and omits the voting system."""
    iterations, epochs, trees = (15, 3, 3) if short else (50, 6, 10)
    systems: list[tuple[str, Recognizer]] = [
        (TEMPLATES, CrfRecognizer("Wellner 3", WELLNER_3, iterations)),
        (TEMPLATES, CrfRecognizer("Wellner 1", WELLNER_1, iterations)),
        (TEMPLATES, MajorityCrf("Aramaki 1", ARAMAKI_1, iterations)),
        (TEMPLATES, BoostedRecognizer("Szarvas 1", trees=trees)),
        (TEMPLATES, BoostedRecognizer("Szarvas 3", trees=trees, trusted=True)),
        (TEMPLATES, HmmRecognizer("Wellner 2")),
        (HYBRID, HybridRecognizer("Hara 3", with_sentences=False, epochs=epochs)),
        (HYBRID, HybridRecognizer("Hara 1", with_sentences=True, epochs=epochs)),
        (TEMPLATES, SvmRecognizer("Guo 2", GUO_2, epochs=epochs)),
        (LEARNING, SvmRecognizer("Guo 1", GUO_1, epochs=epochs)),
        (RULES, RuleRecognizer("Guillen 1")),
        (OWN, OwnRecognizer("phiscan")),
    ]
    if not short:
        voting = BoostedRecognizer("Szarvas 2", trees=trees, voters=3, all_triggers=True)
        systems.insert(4, (TEMPLATES, voting))
    return systems


def rank_systems(
    corpus: Corpus,
    systems: Sequence[tuple[str, Recognizer]],
    *,
    log: Callable[[str], None] = lambda _message: None,
) -> list[SystemScore]:
    """Train each system on the training records, score it on the test records; best token F1 first."""
    train, test = [tokenize(r) for r in corpus.train], [tokenize(r) for r in corpus.test]
    words = vocabulary()
    # A token counts as known with its punctuation too: the vocabulary of the scores is made of tokens.
    tokens = {
        (record.text or "")[start:end]
        for record in corpus.test
        for start, end in token_extents(record.text or "")
    }
    known = {token for token in tokens if is_known(token, words)}
    scores = []
    for family, system in systems:
        begin = time.monotonic()
        system.fit(train)
        found = [
            AnnotatedText(record.name, None, spans)
            for record, spans in zip(corpus.test, system.predict(test), strict=True)
        ]
        pairs = list(zip(corpus.test, found, strict=True))
        seconds = time.monotonic() - begin
        log(f"{system.name}: trained and run in {seconds:.0f} s")
        scores.append(
            SystemScore(
                system.name,
                family,
                instance_counts(pairs),
                token_counts(pairs),
                token_scores(pairs, known),
                seconds,
            )
        )
    return sorted(scores, key=lambda score: -score.token_f1)


def compare_systems(
    scores: Sequence[SystemScore], *, shuffles: int = 9_999, seed: int = 0
) -> list[Comparison]:
    """Test every two systems by approximate randomization over records, instances and tokens."""
    return [
        Comparison(
            one.name,
            two.name,
            randomization_test(one.instances, two.instances, shuffles=shuffles, seed=seed),
            randomization_test(one.per_record, two.per_record, shuffles=shuffles, seed=seed),
        )
        for one, two in combinations(scores, 2)
    ]


def ties(differences: dict[str, Difference]) -> str:
    """Return the letters of the measures that do not differ significantly at 0.1, as the paper prints them.

    >>> ties({"f1": Difference(0.1, 0.5, 9), "precision": Difference(0.1, 0.01, 9)})
    'F'
    """
    letters = (("F", "f1"), ("P", "precision"), ("R", "recall"))
    same = [
        letter
        for letter, name in letters
        if name in differences and (found := differences[name].p_value) is not None and found > ALPHA
    ]
    return ", ".join(same)


@dataclass(frozen=True, slots=True)
class Agreement:
    """The replicated and the published order of the systems in both."""

    ours: tuple[str, ...]
    paper: tuple[str, ...]
    kendall_tau: float


def agreement(scores: Sequence[SystemScore], *, by: str) -> Agreement:
    """Compare the order with the published one; ``by`` is "token" (Table 8) or "instance" (Table 16)."""
    printed = TOKEN_RANKING if by == "token" else INSTANCE_RANKING
    measure = (lambda score: score.token_f1) if by == "token" else (lambda score: score.instance_f1)
    ours = tuple(
        score.name for score in sorted(scores, key=measure, reverse=True) if score.name in set(printed)
    )
    paper = tuple(name for name in printed if name in set(ours))
    tau = float(stats.kendalltau([paper.index(name) for name in ours], range(len(ours))).statistic)
    return Agreement(ours, paper, tau)


def family_order(scores: Sequence[SystemScore]) -> list[tuple[str, float]]:
    """Return the families of the paper by the mean token F1 of their systems, best first."""
    families: dict[str, list[float]] = {}
    for score in scores:
        families.setdefault(score.family, []).append(score.token_f1)
    means = [(family, sum(values) / len(values)) for family, values in families.items()]
    return sorted(means, key=lambda item: -item[1])
