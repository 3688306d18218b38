"""The decision: a file is referred when P(PHI) reaches the threshold; its case and its reasons say why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from phiscan.config import Config
from phiscan.decision.bound import (
    ENCODER_ALLOWANCE,
    ENCODER_CHARS,
    STRONG_ALLOWANCE,
    TEXT_ALLOWANCE,
    allowance_of,
    hold_numbers,
    with_maximum,
)
from phiscan.decision.decided_examples import (
    NOTHING_DECIDED,
    NOTHING_LEARNED,
    SIZE,
    WORDING,
    DecidedExamples,
    LearnedDecision,
    bits_of,
    stored_point,
)
from phiscan.decision.encoder import PassageEncoder, load_encoder, passage_and_context
from phiscan.decision.evidence import DocumentEvidence, gather
from phiscan.decision.model import Judgement, PassageInputs, PhiModel, Strong, load_phi_model, threshold_of
from phiscan.decision.reasons import FORMER_VERSION, OWN_PATIENT, PATH, strongest_reasons
from phiscan.health.classifier import Classifier
from phiscan.health.detectors import DETECTORS, DetectorPanel, load_panel
from phiscan.health.features import Reading
from phiscan.health.file_evidence import DIRECT, HEALTH, NAMES, identifies
from phiscan.health.patient_classifier import log_odds_of, probability_of
from phiscan.health.text_detector import TextScores
from phiscan.model import LIKE, Decision, Document, Finding, HealthScore, Referral, Screening

CONCEPT_CASE = "concept"  # equation 4
EXAMPLE_CASE = "stored_example"  # equation 5, by the nearest prototypes alone
PASSAGE_CASE = "person_and_health"  # referred by P(PHI), and equation 4 is not satisfied
MESSAGE_CASE = "message_of_care"
PATH_CASE = "file_name"  # referred by the names of file, folders and members alone
# How much more often the path of a PHI file names a person beside an illness or care than that of another
# file: a lower bound of what docs/experiments/2026-11-28-file-names-and-languages.md measured.
PATH_LOG_ODDS = math.log(100.0)


@dataclass(frozen=True, slots=True)
class Gathered:
    """The evidence of a document's passages, and what the text detector says of it and of them."""

    passages: DocumentEvidence
    inputs: PassageInputs
    text: TextScores


@dataclass(frozen=True, slots=True)
class Decider:
    """The model of P(PHI), the threshold, and the kinds of message that count as health information."""

    model: PhiModel
    threshold: float
    messages: frozenset[str]
    detectors: DetectorPanel
    encoder: PassageEncoder
    learned: LearnedDecision = NOTHING_LEARNED  # what `phiscan learn` changes of P(PHI)
    former: LearnedDecision | None = None  # that of the version in use before, to compare with
    keeps_codes: bool = True  # of what is spoken of, so that verdicts act on files about the same
    decided: DecidedExamples = NOTHING_DECIDED  # the newest verdicts, by what is spoken of
    is_knn_alone: bool = False  # equations 4 and 5 and the nearest health prototypes decide, P(PHI) does not

    def gather(
        self, document: Document, screening: Screening, classifier: Classifier, reading: Reading | None = None
    ) -> Gathered:
        """Read what a decision on a document rests on; ``reading``: its health terms, read here if None."""
        passages = gather(document, screening, classifier.lexicon, self.messages, reading)
        return Gathered(
            passages, self.model.inputs(passages), TextScores.of(classifier.text_model, passages.codes)
        )

    def decide(
        self,
        document: Document,
        screening: Screening,
        health: HealthScore,
        detectors: tuple[tuple[str, bool], ...],
        gathered: Gathered,
        *,
        patient_log_odds: float = 0.0,
        is_audited: bool = False,
    ) -> Decision:
        """Return what becomes of a document, its probability of PHI, and the reasons.

        ``patient_log_odds``: what matches with the organization's own patients add. ``is_audited``: compare
        with the version in use before; a file about which they differ says so in its reasons.

        Whatever a detector marks and the model does not is for the second list.
        """
        encode = partial(self._encoded, gathered, screening.findings)
        judgement = self.model.judge(gathered.inputs, gathered.text, encode=encode)
        point = _point(document, judgement)
        corrected = self.learned.corrected(judgement.log_odds, point) + patient_log_odds
        limit = log_odds_of(self.threshold)
        code: tuple[int, ...] = ()
        if self.keeps_codes and judgement.passage is not None and corrected >= limit - WORDING.most:
            place = judgement.passage.start, judgement.passage.end
            code = self.encoder.code(passage_and_context(gathered.passages, screening.findings, *place))
        own = self.decided.hashes == document.content_hash  # a file's verdict is no example for itself
        like = self.decided.shift(corrected, bits_of(code), is_above=True, without=own)
        corrected += like
        is_probable, is_disputed = corrected >= limit, False
        contributions = (*judgement.contributions, (LIKE, round(like, 3)))
        reasons = strongest_reasons(contributions, is_referred=is_probable)
        if judgement.message:
            reasons = ((judgement.message, round(judgement.log_odds, 3)), *reasons)
        if patient_log_odds:
            reasons = ((OWN_PATIENT, round(patient_log_odds, 3)), *reasons)
        if self.former is not None and is_audited and not self.is_knn_alone:
            before = self.former.corrected(judgement.log_odds, point) + patient_log_odds + like
            is_disputed = (before >= limit) != is_probable
            reasons = ((FORMER_VERSION, round(before - corrected, 3)),) * is_disputed + reasons
        case = self._case_of_referral(screening, judgement, health, is_probable=is_probable)
        referral, other = (Referral.REFERRED, case) if case else _not_referred(screening, health)
        marked = is_probable or is_disputed or any(verdict for _, verdict in detectors)
        return Decision(
            referral=referral,
            case=other,
            probability=probability_of(corrected),
            log_odds=judgement.log_odds,
            reasons=reasons,
            passage=judgement.passage,
            second_look=marked and referral is not Referral.REFERRED,
            evidence=stored_point(point, judgement.log_odds, patient_log_odds, code, like),
            patient_log_odds=patient_log_odds,
        )

    def _encoded(self, gathered: Gathered, findings: Sequence[Finding], one: Strong) -> tuple[float, float]:
        """Return what the encoder says of a passage, and what that adds to its log-odds.

        (0, 0) where these are so low that it is not asked, whatever the threshold is.
        """
        can_rise = gathered.inputs.names_health[one.index] and identifies(findings)
        most = self.encoder.highest if can_rise else 0.0
        if one.log_odds + most < self.encoder.read_from:
            return 0.0, 0.0
        pair = passage_and_context(gathered.passages, findings, *gathered.inputs.places[one.index])
        encoded = self.encoder.log_odds(pair)
        # Identifiers without any health are evidence of no PHI that the words do not tell of.
        change = min(self.encoder.change(one.log_odds, encoded, one.evidence * can_rise), most)
        # It does not read what a file is called, so it withdraws nothing that rests on that name.
        return encoded, max(change, 0.0) if gathered.passages.titled else change

    def decide_path(self, decided: Decision, *, is_of_care: bool) -> Decision | None:
        """Return the referral of a path that names a person, None if there is none.

        ``decided``: what its words alone say. ``is_of_care``: it tells of an illness, a procedure or care, so
        that P(PHI) is at least that of such paths.
        """
        log_odds = log_odds_of(decided.probability)
        if is_of_care:
            log_odds = max(log_odds, self.model.prior + PATH_LOG_ODDS)
        if log_odds < log_odds_of(self.threshold):
            return None
        return replace(
            decided,
            referral=Referral.REFERRED,
            case=PATH_CASE,
            probability=probability_of(log_odds),
            log_odds=log_odds,
            reasons=((PATH, round(log_odds - self.model.prior, 3)),),
            passage=None,
            second_look=False,
        )

    def might_refer(
        self,
        gathered: Gathered,
        health: HealthScore,
        findings: Sequence[Finding],
        text_margin: float,
        *,
        is_strong_only: bool = False,
    ) -> bool:
        """Tell whether the recognizers left out could still bring a document to review or the second list.

        ``gathered`` and ``findings`` are those of a screener without them, which looked for strong
        identifiers alone (``is_strong_only``) or left out the expensive recognizers. So they could where the
        text detector marks the document (``text_margin``), whatever P(PHI) is: that puts it on the second
        list.
        """
        if self.is_knn_alone:
            return health.score >= HEALTH
        text_margin += TEXT_ALLOWANCE if is_strong_only else 0.0
        if any(verdict for _, verdict in self.detectors.verdicts([(DETECTORS[2], text_margin)])):
            return True
        inputs, scores, text = gathered.inputs, gathered.text, gathered.passages.document.text
        most = with_maximum(inputs.vectors, hold_numbers(text, findings, inputs.places))
        rows, least = inputs.rows(most, scores.document), self.learned.needed_for(log_odds_of(self.threshold))
        rise = allowance_of(len(text), STRONG_ALLOWANCE if is_strong_only else 0.0)
        if self.model.reaches(least - rise, rows, inputs.places, scores, inputs.message):
            return True
        chosen = inputs.names_health.nonzero()[0].tolist()
        rows, places = rows[chosen], [inputs.places[number] for number in chosen]
        can_rise = self.model.reaches(least - rise - self.encoder.highest, rows, places, scores, "")
        if not can_rise or len(text) < ENCODER_CHARS:
            return can_rise
        least -= self.model.prior + ENCODER_ALLOWANCE[is_strong_only]
        for one in self.model.strongest(rows, places, scores):
            pair = passage_and_context(gathered.passages, findings, *places[one.index])
            encoded = self.encoder.log_odds(pair)
            if one.log_odds + self.encoder.change(one.log_odds, encoded, most[chosen[one.index]]) >= least:
                return True
        return False

    def _case_of_referral(
        self, screening: Screening, judgement: Judgement, health: HealthScore, *, is_probable: bool
    ) -> str:
        """Return the case of a referral; "" = the file is not referred."""
        if self.is_knn_alone:
            if health.score < HEALTH:
                return ""
            if screening.hamming == 0:
                return CONCEPT_CASE
            return EXAMPLE_CASE if screening.prototype_distance == 0 else ""
        if not is_probable:
            return ""
        if health.score >= HEALTH and screening.hamming == 0:
            return CONCEPT_CASE
        return MESSAGE_CASE if judgement.message else PASSAGE_CASE


def build_decider(config: Config) -> Decider:
    """Load the model of P(PHI) for the prevalence and the cost that the configuration states.

    Raises:
        ModelError: the file is missing, damaged or of another version.
    """
    return Decider(
        model=load_phi_model().at_prevalence(config.prevalence),
        threshold=threshold_of(config.missed_file_cost),
        messages=frozenset(config.messages_of_care),
        encoder=load_encoder(),
        detectors=load_panel(config.detectors, config.prevalence),
        is_knn_alone=config.health.detector == "knn",
        keeps_codes=config.decided_examples > 0,
    )


def _point(document: Document, judgement: Judgement) -> dict[str, float]:
    return {**dict(judgement.parts), SIZE: math.log1p(len(document.text))}


def _not_referred(screening: Screening, health: HealthScore) -> tuple[Referral, str]:
    """Return the decision and the case of a file that is not referred."""
    if screening.vector.bits & NAMES:
        return Referral.PII_ONLY, "person_by_name"
    if screening.vector.bits & DIRECT:
        return Referral.PII_ONLY, "person_by_identifier"
    if health.score >= HEALTH:
        return Referral.HEALTH_ONLY, "health_without_person"
    return Referral.CLEAR, "neither"
