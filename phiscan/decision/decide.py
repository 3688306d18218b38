"""The decision: a file is referred when P(PHI) reaches the threshold; the table's cases say why in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phiscan.config import Config
from phiscan.decision.bound import highest_log_odds
from phiscan.decision.detectors import DetectorPanel, load_panel
from phiscan.decision.evidence import DocumentEvidence, gather
from phiscan.decision.model import (
    Judgement,
    PassageInputs,
    PhiModel,
    load_phi_model,
    log_odds_of,
    probability_of,
    threshold_of,
)
from phiscan.decision.reasons import OWN_PATIENT, strongest_reasons
from phiscan.decision.text_scores import TextScores
from phiscan.health.classifier import Classifier
from phiscan.health.decision_table import HEALTH, Evidence, Row, evidence_of, row_of
from phiscan.health.detectors import DETECTORS, is_laid_out_as_a_record
from phiscan.health.features import Reading
from phiscan.model import Decision, Document, Finding, HealthScore, Referral, Screening

CONCEPT_CASE = "concept"  # equation 4
EXAMPLE_CASE = "stored_example"  # equation 5, by the nearest prototypes alone
PASSAGE_CASE = "person_and_health"  # referred by P(PHI), and no row of the table would refer
MESSAGE_CASE = "message_of_care"


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
    calibration: tuple[float, float] = (1.0, 0.0)  # slope and intercept that `phiscan learn` found
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
    ) -> Decision:
        """Return what becomes of a document, its probability of PHI, and the reasons.

        ``patient_log_odds``: what matches with the organization's own patients add.

        Whatever a detector marks, or the table of cases would refer, and the model does not, is for the
        second list.
        """
        judgement = self.model.judge(gathered.inputs, gathered.text)
        evidence = evidence_of(document, screening, health, layout=is_laid_out_as_a_record(detectors))
        row = row_of(evidence)
        corrected = self._corrected(judgement, health) + patient_log_odds
        reasons = strongest_reasons(judgement.contributions)
        if judgement.message:
            reasons = ((judgement.message, round(judgement.log_odds, 3)), *reasons)
        if patient_log_odds:
            reasons = ((OWN_PATIENT, round(patient_log_odds, 3)), *reasons)
        is_probable = corrected >= log_odds_of(self.threshold)
        case = self._case_of_referral(screening, row, judgement, evidence, is_probable=is_probable)
        referral, other = (Referral.REFERRED, case) if case else _not_referred(evidence)
        marked = is_probable or row.referral is Referral.REFERRED or any(verdict for _, verdict in detectors)
        return Decision(
            referral=referral,
            case=other,
            probability=probability_of(corrected),
            log_odds=judgement.log_odds,
            reasons=reasons,
            passage=judgement.passage,
            second_look=marked and referral is not Referral.REFERRED,
            evidence=evidence.stored_values(),
            patient_log_odds=patient_log_odds,
        )

    def might_refer(
        self, gathered: Gathered, health: HealthScore, findings: Sequence[Finding], text_margin: float
    ) -> bool:
        """Tell whether the expensive recognizers could still bring a document to review or the second list.

        ``gathered`` and ``findings`` are those of a screener without them. So they could where the text
        detector marks the document (``text_margin``), whatever P(PHI) is: that puts it on the second list.
        """
        if self.is_knn_alone:
            return health.score >= HEALTH
        if any(verdict for _, verdict in self.detectors.verdicts([(DETECTORS[2], text_margin)])):
            return True
        highest = highest_log_odds(
            self.model, gathered.passages.document.text, gathered.inputs, gathered.text, findings
        )
        slope, intercept = self.calibration
        return slope * (highest + health.correction) + intercept >= log_odds_of(self.threshold)

    def lacks_only_a_name(self, gathered: Gathered, health: HealthScore, decided: Decision) -> bool:
        """Tell of a file with health terms and nobody's name whether any name would bring it to review."""
        is_named = bool(dict(decided.evidence)["name"])
        if decided.referral is Referral.REFERRED or is_named or not health.terms:
            return False
        return self._corrected(self._named(gathered), health) >= log_odds_of(self.threshold)

    def _named(self, gathered: Gathered) -> Judgement:
        return self.model.judge(gathered.inputs, gathered.text, assume_name=True)

    def _corrected(self, judgement: Judgement, health: HealthScore) -> float:
        slope, intercept = self.calibration
        return slope * (judgement.log_odds + health.correction) + intercept

    def _case_of_referral(
        self,
        screening: Screening,
        row: Row,
        judgement: Judgement,
        evidence: Evidence,
        *,
        is_probable: bool,
    ) -> str:
        """Return the case of a referral; "" = the file is not referred."""
        if self.is_knn_alone:
            if evidence.health < HEALTH:
                return ""
            if screening.hamming == 0:
                return CONCEPT_CASE
            return EXAMPLE_CASE if screening.prototype_distance == 0 else ""
        if not is_probable:
            return ""
        by_model = MESSAGE_CASE if judgement.message else PASSAGE_CASE
        return row.case if row.referral is Referral.REFERRED else by_model


def build_decider(config: Config) -> Decider:
    """Load the model of P(PHI) for the prevalence and the cost that the configuration states.

    Raises:
        ModelError: the file is missing, damaged or of another version.
    """
    return Decider(
        model=load_phi_model().at_prevalence(config.prevalence),
        threshold=threshold_of(config.missed_file_cost),
        messages=frozenset(config.messages_of_care),
        detectors=load_panel(config.detectors, config.prevalence),
        is_knn_alone=config.health.detector == "knn",
    )


def _not_referred(evidence: Evidence) -> tuple[Referral, str]:
    """Return the decision and the case of a file that is not referred."""
    if evidence.name:
        return Referral.PII_ONLY, "person_by_name"
    if evidence.direct:
        return Referral.PII_ONLY, "person_by_identifier"
    if evidence.health >= HEALTH:
        return Referral.HEALTH_ONLY, "health_without_person"
    return Referral.CLEAR, "neither"
