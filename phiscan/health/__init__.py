"""Classify documents as health information about a person, and combine that with the identifiers found."""

from phiscan.health.classifier import HINT, Classifier, build_classifier, classify, read_terms
from phiscan.health.decision_table import HEALTH, decide, evidence_of
from phiscan.health.detectors import DETECTORS, detect, is_laid_out_as_a_record, margins, text_margin
from phiscan.health.features import Reading
from phiscan.health.topics import label_of, topic_of, topics

__all__ = [
    "DETECTORS",
    "HEALTH",
    "HINT",
    "Classifier",
    "Reading",
    "build_classifier",
    "classify",
    "decide",
    "detect",
    "evidence_of",
    "is_laid_out_as_a_record",
    "label_of",
    "margins",
    "read_terms",
    "text_margin",
    "topic_of",
    "topics",
]
