"""Scores of the machine's spans and topics against reviewers' corrections; positions and types only."""

from __future__ import annotations

from collections.abc import Sequence

from phiscan.health.topics import CHAPTERS, topic_of
from phiscan.language import lazy_gettext as _
from phiscan.metrics.deidentification.span_schemes import SCHEMES, SchemeCounts, scheme_counts
from phiscan.metrics.deidentification.spans import (
    AnnotatedText,
    InstanceCounts,
    LabelledSpan,
    instance_counts,
    instance_counts_by_type,
)
from phiscan.metrics.hierarchy import REPRESENTATION, Hierarchy, OverlapCounts, score_hierarchy
from phiscan.model import EntityType
from phiscan.report.data.desk import SchemeScore, SpanScore, SpanScores, TopicScore, TopicScores
from phiscan.report.words import ENTITY_TYPES
from phiscan.review.decisions.corrections import GoldFile, TopicGold

ANY_TOPIC = _("any health topic")
NO_SPANS = _("no file of this scan has had all its spans checked by a reviewer")
NO_TOPICS = _("no reviewer has labelled the topic of a file of this scan")
SPAN_ASSUMPTION = _(
    "The reviewer saw the machine's spans, corrected them and marked every missed one. "
    "What both overlooked counts as found, so recall is probably too high. The files are "
    "those that people chose to go through, no random sample of the share. The result "
    "that was looked at counts, which later rules may have changed. No interval: spans "
    "in one file are not independent of each other."
)
TOPIC_ASSUMPTION = _(
    "The reviewer started from the machine's topics, and the files are those that people "
    "chose. Topics are chapters of ICD-10-CM; concepts without a code (drugs, body "
    "parts, tests) belong to none. Counted once per file. No interval: the files are no "
    "random sample."
)
NO_TOKENS = _(
    "Scores by token need the text of the files, which the store does not have; `phiscan "
    "score spans` computes them from a gold standard with texts."
)
SPAN_SOURCE = _(
    "Uzuner, Luo & Szolovits (2007), eq. 4 to 10; schemes: Segura-Bedmar, Martínez & Herrero-Zazo (2013)"
)
TOPIC_SOURCE = _("Falis et al. (2021), CoPHE; Kosmopoulos et al. (2015)")
ALL = _("all types")


def span_scores(gold: Sequence[GoldFile]) -> SpanScores:
    """Score the spans of the files whose spans were all checked."""
    pairs = [(_text(one.file_id, one.gold), _text(one.file_id, one.system)) for one in gold]
    total = sum(instance_counts(pairs), InstanceCounts())
    return SpanScores(
        files=len(gold),
        gold=total.n_gold,
        system=total.n_system,
        overall=_span_score(ALL, _("All types"), total) if gold else None,
        by_type=tuple(
            _span_score(name, ENTITY_TYPES[EntityType(name)], counts)
            for name, counts in instance_counts_by_type(pairs).items()
        ),
        schemes=_schemes(scheme_counts(pairs)) if gold else (),
        reason=None if gold else NO_SPANS,
        assumption=SPAN_ASSUMPTION,
        no_tokens=NO_TOKENS,
        source=SPAN_SOURCE,
    )


def _text(file_id: int, spans: Sequence[tuple[int, int, str]]) -> AnnotatedText:
    return AnnotatedText(str(file_id), None, tuple(LabelledSpan(*span) for span in spans))


def _span_score(name: str, label: str, counts: InstanceCounts) -> SpanScore:
    rates = counts.rates
    return SpanScore(
        name=name,
        label=label,
        correct=counts.correct,
        substitution=counts.substitution,
        insertion=counts.insertion,
        deletion=counts.deletion,
        precision=rates.precision,
        recall=rates.recall,
        f1=rates.f1,
        reason=rates.reason or None,
    )


def _schemes(found: dict[str, SchemeCounts]) -> tuple[SchemeScore, ...]:
    return tuple(
        SchemeScore(
            scheme=name,
            correct=found[name].correct,
            incorrect=found[name].incorrect,
            partial=found[name].partial,
            missed=found[name].missed,
            spurious=found[name].spurious,
            precision=found[name].rates.precision,
            recall=found[name].rates.recall,
            f1=found[name].rates.f1,
            reason=found[name].rates.reason or None,
        )
        for name in SCHEMES
    )


def topic_scores(gold: Sequence[TopicGold]) -> TopicScores:
    """Score the topics of the files with topics of a reviewer; the latest correction of each file applies."""
    chapters = {name for _, _, name in CHAPTERS}
    tree = Hierarchy({name: [ANY_TOPIC] for name in chapters})
    last = {one.file_id: one for one in gold}
    right = {
        str(number): dict.fromkeys([label for label in one.labels if label in chapters], 1)
        for number, one in last.items()
    }
    predicted = {
        str(number): dict.fromkeys([topic for concept in one.concepts if (topic := topic_of(concept))], 1)
        for number, one in last.items()
    }
    levels, overall = score_hierarchy(tree, right, predicted)
    rows = [
        _topic_score(level.level, view, counts)
        for level in (*levels, overall)
        for view, counts in ((_("counts kept"), level.count_preserving), (_("as a set"), level.set_based))
    ]
    return TopicScores(
        files=len(last),
        left_out=sum(label not in chapters for one in last.values() for label in one.labels),
        scores=tuple(rows) if last else (),
        representation=REPRESENTATION,
        reason=None if last else NO_TOPICS,
        assumption=TOPIC_ASSUMPTION,
        source=TOPIC_SOURCE,
    )


def _topic_score(level: int | None, view: str, counts: OverlapCounts) -> TopicScore:
    rates = counts.rates
    return TopicScore(
        level=level,
        view=view,
        tp=counts.tp,
        fp=counts.fp,
        fn=counts.fn,
        precision=rates.precision,
        recall=rates.recall,
        f1=rates.f1,
        reason=rates.reason or None,
    )
