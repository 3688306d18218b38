"""Classify documents as health information about a person, and combine that with the identifiers found."""

from phiscan.health.classifier import Classifier, build_classifier, classify, read_terms
from phiscan.health.detectors import (
    DETECTORS,
    detector_margins,
    is_dense,
    text_margin,
)
from phiscan.health.features import Reading
from phiscan.health.file_evidence import HEALTH
from phiscan.health.topics import label_of, topic_of, topics

__all__ = [
    "DETECTORS",
    "HEALTH",
    "Classifier",
    "Reading",
    "build_classifier",
    "classify",
    "detector_margins",
    "is_dense",
    "label_of",
    "read_terms",
    "text_margin",
    "topic_of",
    "topics",
]
