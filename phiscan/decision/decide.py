"""The decision: a file is referred when P(PHI) reaches the threshold; the table's cases say why in words."""

from __future__ import annotations

from dataclasses import dataclass, replace

from phiscan.config import Config
from phiscan.decision.evidence import gather
from phiscan.decision.model import (
    Judgement,
    PhiModel,
    load_phi_model,
    log_odds_of,
    probability_of,
    threshold_of,
)
from phiscan.decision.reasons import OWN_PATIENT, strongest_reasons
from phiscan.health.classifier import Classifier
from phiscan.health.decision_table import HEALTH, Evidence, row_of, weigh
from phiscan.health.detectors import is_laid_out_as_a_record
from phiscan.model import Decision, Document, HealthScore, Referral, Screening

PASSAGE_CASE = "person_and_health"  # referred by P(PHI), and no row of the table would refer
MESSAGE_CASE = "message_of_care"


@dataclass(frozen=True, slots=True)
class Decider:
    """The model of P(PHI), the threshold, and the kinds of message that count as health information."""

    model: PhiModel
    threshold: float
    messages: frozenset[str]
    calibration: tuple[float, float] = (1.0, 0.0)  # slope and intercept that `phiscan learn` found

    def decide(
        self,
        document: Document,
        screening: Screening,
        health: HealthScore,
        detectors: tuple[tuple[str, bool], ...],
        classifier: Classifier,
        *,
        patient_log_odds: float = 0.0,
    ) -> Decision:
        """Return what becomes of a document, its probability of PHI, and the reasons.

        ``patient_log_odds``: what matches with the organization's own patients add.

        Whatever a detector marks, or the table of cases would refer, and the model does not, is for the
        second list.
        """
        passages = gather(document, screening, classifier.lexicon, self.messages)
        judgement = self.model.judge(passages, classifier.text_model.decide(passages.codes))
        evidence = weigh(document, screening, health, layout=is_laid_out_as_a_record(detectors))
        row = row_of(evidence)
        slope, intercept = self.calibration
        corrected = slope * (judgement.log_odds + health.correction) + intercept + patient_log_odds
        reasons = strongest_reasons(judgement.contributions)
        if judgement.message:
            reasons = ((judgement.message, round(judgement.log_odds, 3)), *reasons)
        if patient_log_odds:
            reasons = ((OWN_PATIENT, round(patient_log_odds, 3)), *reasons)
            judgement = replace(judgement, patient_log_odds=patient_log_odds)
        if corrected >= log_odds_of(self.threshold):
            by_model = MESSAGE_CASE if judgement.message else PASSAGE_CASE
            case = row.case if row.referral is Referral.REFERRED else by_model
            return self._decision(Referral.REFERRED, case, judgement, corrected, reasons, second_look=False)
        referral, case = _not_referred(evidence)
        marked = row.referral is Referral.REFERRED or any(verdict for _, verdict in detectors)
        return self._decision(referral, case, judgement, corrected, reasons, second_look=marked)

    def might_refer(self, document: Document, screening: Screening, classifier: Classifier) -> bool:
        """Tell whether a full name beside the health terms of a passage could bring P(PHI) to the threshold.

        ``screening`` is that of a screener without the expensive recognizers, which search names.
        """
        evidence = gather(document, screening, classifier.lexicon, self.messages)
        text = classifier.text_model.decide(evidence.codes)
        return self.model.judge(evidence, text, assume_name=True).log_odds >= log_odds_of(self.threshold)

    @staticmethod
    def _decision(
        referral: Referral,
        case: str,
        judgement: Judgement,
        corrected: float,
        reasons: tuple[tuple[str, float], ...],
        *,
        second_look: bool,
    ) -> Decision:
        return Decision(
            referral=referral,
            case=case,
            probability=probability_of(corrected),
            log_odds=judgement.log_odds,
            reasons=reasons,
            passage=judgement.passage,
            second_look=second_look,
            patient_log_odds=judgement.patient_log_odds,
        )


def build_decider(config: Config) -> Decider:
    """Load the model of P(PHI) for the prevalence and the cost that the configuration states.

    Raises:
        ModelError: the file is missing, damaged or of another version.
    """
    return Decider(
        model=load_phi_model().at_prevalence(config.prevalence),
        threshold=threshold_of(config.missed_file_cost),
        messages=frozenset(config.messages_of_care),
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
