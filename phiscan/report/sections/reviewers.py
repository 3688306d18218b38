"""What reviewers did: their agreement, their corrections as scores of the machine, reveals, suppressions.

In a blind second review the second reviewer could not see the first verdict. Of spans, positions and types.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import combinations
from typing import Any

import sqlalchemy as sa

from phiscan.health.topics import CHAPTERS, topic_of
from phiscan.language import lazy_gettext as _
from phiscan.metrics.agreement import ASSUMPTION, POSITIVE, SOURCE, Agreement, agreement, krippendorff_alpha
from phiscan.metrics.deidentification import spans as span_metrics
from phiscan.metrics.hierarchy import REPRESENTATION, Hierarchy, score_hierarchy
from phiscan.metrics.intervals import Figure
from phiscan.metrics.rates import OverlapCounts
from phiscan.model import EntityType
from phiscan.report.scan_rows import StoredScan
from phiscan.report.sections.screened import Estimate
from phiscan.report.words import ENTITY_TYPES
from phiscan.review.decisions.incidents import Incident
from phiscan.review.decisions.learning import GoldFile, TopicGold
from phiscan.review.decisions.suppressions import Suppression, SuppressionKind
from phiscan.review.decisions.verdicts import Rating
from phiscan.review.decisions.writing import purpose_shown
from phiscan.review.records.openings import openings_together
from phiscan.review.worklist.model import Decision
from phiscan.visible import visible


@dataclass(frozen=True, slots=True)
class ReviewerPair:
    """How far two people agree on the ``files`` that both decided.

    ``same`` counts equal verdicts, ``both_phi`` those of them that are PHI, ``first_phi`` and ``second_phi``
    the shared files that each called PHI.
    """

    first: str
    second: str
    files: int
    same: int
    both_phi: int
    first_phi: int
    second_phi: int
    kappa: Figure
    positive_agreement: Figure
    pabak: Figure


@dataclass(frozen=True, slots=True)
class DoubleReview:
    """Agreement of the people who decided the same files; of each, the latest verdict per file and content.

    ``files`` counts the files that two or more decided. ``reason`` says why nothing is compared.
    """

    files: int
    pairs: tuple[ReviewerPair, ...]
    alpha: Estimate
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class BlindReview:
    """How far the blind second verdicts agree with the first ones, of this scan's files.

    ``drawn`` went to a second person at random; ``compared`` have both verdicts. ``settled`` disagreements
    were decided by a third person. ``held_back`` files await their second verdict, and are undecided in
    all of this report.
    """

    drawn: int
    held_back: int
    compared: int
    agreed: int
    disagreed: int
    settled: int
    kappa: Figure
    positive_agreement: Figure
    pabak: Figure
    alpha: Estimate
    pairs: tuple[ReviewerPair, ...]
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class RevealRow:
    """One request to see the text of a file; a purpose in a person's own words stays in the database."""

    reveal: int
    revealed: datetime
    revealed_by: str
    file: int
    path: str
    purpose: str


@dataclass(frozen=True, slots=True)
class Revealer:
    """The reveals of one person."""

    revealed_by: str
    reveals: int
    files: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class SuppressionRow:
    """One suppression; ``rule`` is empty when it is about a value, which is not shown.

    ``status`` is active, waiting (for approval), ended or lifted. ``hid_when_made`` counts the items it hid
    when it was made; ``hides_now`` the undecided items hidden now with a finding that it passes over, alone
    or together with others, None unless it is active.
    """

    suppression: int
    kind: str
    rule: str
    where: str
    status: str
    hid_when_made: int
    hides_now: int | None
    made_by: str
    made: datetime
    until: datetime
    approved_by: str
    needs_approval: bool
    lifted_by: str


@dataclass(frozen=True, slots=True)
class LogSignOff:
    """Somebody has reviewed the audit log up to an entry; ``since`` counts the entries made after that.

    ``holds`` says whether that entry still has the hash that was signed; None when it was purged by policy.
    """

    reviewer: str
    at: datetime
    entries: int
    since: int
    head: str
    holds: bool | None


@dataclass(frozen=True, slots=True)
class Oversight:
    """Who looked at texts, what is hidden from review, and who has checked the record of it all."""

    revealers: tuple[Revealer, ...]
    reveals: tuple[RevealRow, ...]
    suppressions: tuple[SuppressionRow, ...]
    hidden_now: int
    sign_offs: tuple[LogSignOff, ...]


@dataclass(frozen=True, slots=True)
class SpanScore:
    """Spans of one type, or of all; precision = correct / (correct + substitution + insertion).

    Recall divides by correct + substitution + deletion. ``reason`` says why one of them does not exist.
    """

    name: str
    label: str
    correct: int
    substitution: int
    insertion: int
    deletion: int
    precision: float | None
    recall: float | None
    f1: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SchemeScore:
    """One way of counting a match: strict, exact, partial or type (SemEval-2013 task 9.1)."""

    scheme: str
    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int
    precision: float | None
    recall: float | None
    f1: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class SpanScores:
    """The machine's spans against the reviewers' in ``files`` whose spans were all gone through."""

    files: int
    gold: int
    system: int
    overall: SpanScore | None
    by_type: tuple[SpanScore, ...]
    schemes: tuple[SchemeScore, ...]
    reason: str | None
    assumption: str
    no_tokens: str
    source: str


@dataclass(frozen=True, slots=True)
class TopicScore:
    """Topics at one level, None = all: 0 is the chapter of ICD-10-CM, 1 any health topic."""

    level: int | None
    view: str
    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class TopicScores:
    """The machine's topics against the reviewers', in ``files``; ``left_out`` labels are no chapter."""

    files: int
    left_out: int
    scores: tuple[TopicScore, ...]
    representation: str
    reason: str | None
    assumption: str
    source: str


@dataclass(frozen=True, slots=True)
class IncidentRow:
    """An incident without its texts; ``here``: its files in the scan; the last three by access logs."""

    number: int
    state: str
    opened: datetime
    files: int
    here: int
    files_opened: int
    accounts: int  # different ones that opened a file of it
    files_not_covered: int  # by any log


Row = tuple[str | None, str | None]  # the verdicts of two reviewers on one file; None = none


def reviewer_pair(names: tuple[str, str], rows: Sequence[Row]) -> ReviewerPair:
    """Count the pairs of verdicts and compute their agreement."""
    found = agreement([row[0] for row in rows], [row[1] for row in rows])
    both = [row for row in rows if None not in row]
    return ReviewerPair(
        first=visible(names[0]),
        second=visible(names[1]),
        files=found.n_both,
        same=sum(a == b for a, b in both),
        both_phi=sum(a == b == POSITIVE for a, b in both),
        first_phi=sum(a == POSITIVE for a, _ in both),
        second_phi=sum(b == POSITIVE for _, b in both),
        **_figures(found),
    )


def _figures(found: Agreement) -> dict[str, Figure]:
    return {name: getattr(found, name) for name in ("kappa", "positive_agreement", "pabak")}


def alpha(units: Sequence[Sequence[str]], *, name: str, over: str, assumption: str) -> Estimate:
    """Return Krippendorff's alpha over the verdicts on each file.

    Args:
        units: verdicts by file.
        name: name of the estimate.
        over: which verdicts are compared, to complete "observed / expected disagreement, over ...".
        assumption: what it assumes.
    """
    found = krippendorff_alpha(list(units))
    counts = Counter(verdict for verdicts in units for verdict in verdicts)
    inputs: dict[str, float] = {_("files"): len(units)}
    inputs |= {
        _("verdicts '{value}'", value=label.replace("_", " ")): n for label, n in sorted(counts.items())
    }
    title = _("Krippendorff's alpha, {name}", name=name)
    formula = _("1 - observed / expected disagreement, over {over}", over=over)
    source = _('Krippendorff (2019), "Content Analysis", section 12.3')
    known = (inputs, assumption, source, found.reason)
    return Estimate(title, found.value, found.ci95, "ratio", formula, *known)


NO_PERSON = _("no file was decided by two people")
NONE_DRAWN = _("no decision of this scan was drawn for a blind second review")
NONE_GIVEN = _("no blind second verdict has been given yet")
BLIND_ASSUMPTION = _(
    "The second person did not see the first verdict, which the desk sees to, and the "
    "decisions were drawn at random, which it does too. They stand for decisions of the "
    "same people; a first verdict that its reviewer replaced counts as replaced, a "
    "lead's settlement as neither."
)


def double_review(decisions: Sequence[Decision]) -> DoubleReview:
    """Compare the latest verdict of each reviewer on each content; identical files have one.

    Args:
        decisions: about the files of a scan, oldest first.
    """
    latest: dict[str, dict[str, str]] = {}  # verdict of each reviewer by content
    for made in decisions:
        latest.setdefault(made.content_hash, {})[made.reviewer] = str(made.verdict)
    shared = {content: verdicts for content, verdicts in latest.items() if len(verdicts) > 1}
    together = Counter(pair for verdicts in shared.values() for pair in combinations(sorted(verdicts), 2))
    return DoubleReview(
        files=len(shared),
        pairs=tuple(
            reviewer_pair(
                (first, second), [(verdicts.get(first), verdicts.get(second)) for verdicts in latest.values()]
            )
            for first, second in sorted(together)
        ),
        alpha=alpha(
            [list(verdicts.values()) for verdicts in shared.values()],
            name=_("all people together"),
            over=_("all pairs of verdicts on the same file"),
            assumption=ASSUMPTION,
        ),
        reason=None if shared else NO_PERSON,
        assumption=ASSUMPTION,
        source=SOURCE,
    )


def blind_review(drawn: int, ratings: Sequence[Rating], *, held_back: int) -> BlindReview:
    """Compare first and second verdicts.

    Args:
        drawn: decisions that were drawn for a second review.
        ratings: of them, those with both verdicts.
        held_back: files whose first verdict this report does not show yet.
    """
    pairs = [_verdicts(one) for one in ratings]
    found = agreement([first for first, _ in pairs], [second for _, second in pairs])
    by_pair: dict[tuple[str, str], list[Rating]] = defaultdict(list)
    for one in ratings:
        by_pair[one.first_reviewer, one.second_reviewer].append(one)
    agreed = sum(first == second for first, second in pairs)
    return BlindReview(
        drawn=drawn,
        held_back=held_back,
        compared=len(ratings),
        agreed=agreed,
        disagreed=len(ratings) - agreed,
        settled=sum(one.settled is not None for one in ratings),
        **_figures(found),
        alpha=alpha(
            pairs,
            name=_("first and blind second verdict"),
            over=_("the two verdicts on the same file"),
            assumption=BLIND_ASSUMPTION,
        ),
        pairs=tuple(
            reviewer_pair(names, [_verdicts(one) for one in some]) for names, some in sorted(by_pair.items())
        ),
        reason=None if ratings else NONE_GIVEN if drawn else NONE_DRAWN,
        assumption=BLIND_ASSUMPTION,
        source=SOURCE,
    )


def _verdicts(one: Rating) -> tuple[str, str]:
    return str(one.first), str(one.second)


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
    total = sum(span_metrics.instance_counts(pairs), span_metrics.InstanceCounts())
    schemes = span_metrics.scheme_counts(pairs)
    return SpanScores(
        files=len(gold),
        gold=total.n_gold,
        system=total.n_system,
        overall=_span_score(ALL, _("All types"), total) if gold else None,
        by_type=tuple(
            _span_score(name, ENTITY_TYPES[EntityType(name)], counts)
            for name, counts in span_metrics.instance_counts_by_type(pairs).items()
        ),
        schemes=tuple(SchemeScore(name, **_rated(schemes[name])) for name in span_metrics.SCHEMES)
        if gold
        else (),
        reason=None if gold else NO_SPANS,
        assumption=SPAN_ASSUMPTION,
        no_tokens=NO_TOKENS,
        source=SPAN_SOURCE,
    )


def _text(file_id: int, spans: Sequence[tuple[int, int, str]]) -> span_metrics.AnnotatedText:
    return span_metrics.AnnotatedText(
        str(file_id), None, tuple(span_metrics.LabelledSpan(*span) for span in spans)
    )


def _span_score(name: str, label: str, counts: span_metrics.InstanceCounts) -> SpanScore:
    return SpanScore(name=name, label=label, **_rated(counts))


def _rated(counts: span_metrics.InstanceCounts | span_metrics.SchemeCounts | OverlapCounts) -> dict[str, Any]:
    """Return the counts by name, with precision, recall, F1, and the reason why one is missing."""
    rates = counts.rates
    found = {"precision": rates.precision, "recall": rates.recall, "f1": rates.f1}
    return {**asdict(counts), **found, "reason": rates.reason or None}


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
        TopicScore(level.level, view, **_rated(counts))
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


def oversight(stored: StoredScan, paths: Mapping[int, str], *, hidden: bool) -> Oversight:
    """Summarize reveals, suppressions and the reviews of the log.

    Args:
        stored: the scan with the records of the desk.
        paths: names of the files of the scan.
        hidden: whether paths must not be shown.
    """
    reveals = tuple(
        RevealRow(
            reveal=one.id,
            revealed=one.revealed,
            revealed_by=visible(one.revealed_by),
            file=one.file_id,
            path=paths[one.file_id],
            purpose=purpose_shown(one.purpose),
        )
        for one in stored.reveals
    )
    by_person: dict[str, list[RevealRow]] = defaultdict(list)
    for row in reveals:
        by_person[row.revealed_by].append(row)
    return Oversight(
        revealers=tuple(
            Revealer(
                revealed_by=name,
                reveals=len(theirs),
                files=len({one.file for one in theirs}),
                first=min(one.revealed for one in theirs),
                last=max(one.revealed for one in theirs),
            )
            for name, theirs in sorted(by_person.items())
        ),
        reveals=reveals,
        suppressions=tuple(
            _suppression(one, hides_now, hidden=hidden) for one, hides_now in stored.suppressions
        ),
        hidden_now=stored.hidden_now,
        sign_offs=tuple(
            LogSignOff(
                reviewer=visible(one.reviewer),
                at=one.at,
                entries=one.n_entries,
                since=stored.last_entry - one.n_entries,
                head=one.head,
                holds=stored.log_heads[one.n_entries] == one.head
                if one.n_entries in stored.log_heads
                else None,
            )
            for one in stored.sign_offs
        ),
    )


def _suppression(one: Suppression, hides_now: int | None, *, hidden: bool) -> SuppressionRow:
    by_rule = one.scope.kind is SuppressionKind.RULE
    return SuppressionRow(
        suppression=one.id,
        kind=one.scope.kind.value,
        # The target of a value is its keyed hash, and its shape reveals the length: neither is shown.
        rule=visible(one.scope.target) if by_rule else "",
        where=_where(one, hidden=hidden),
        status=one.status,
        hid_when_made=one.n_hidden,
        hides_now=hides_now,
        made_by=visible(one.made_by),
        made=one.made,
        until=one.until,
        approved_by=visible(one.approved_by),
        needs_approval=one.needs_approval,
        lifted_by=visible(one.lifted_by),
    )


def _where(one: Suppression, *, hidden: bool) -> str:
    if one.scope.root_id is None:
        return _("every share")
    if hidden:
        return _("one folder") if one.scope.folder else _("one share")
    return visible(f"{one.root.rstrip('/')}/{one.scope.folder}" if one.scope.folder else one.root)


def incident_rows(
    connection: sa.Connection, known: Sequence[Incident], here: Collection[int]
) -> tuple[IncidentRow, ...]:
    """Return the incidents with files of the scan; ``here``: its files."""
    rows = []
    for one in known:
        if n_here := sum(file in here for file in one.places):
            by_logs = openings_together(connection, one.files)
            rows.append(
                IncidentRow(
                    number=one.number,
                    state=one.state.value,
                    opened=one.entries[0].entered,
                    files=len(one.files),
                    here=n_here,
                    files_opened=by_logs.n_opened,
                    accounts=by_logs.n_accounts,
                    files_not_covered=by_logs.n_not_covered,
                )
            )
    return tuple(rows)
