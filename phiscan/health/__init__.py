"""Tell clinical information about a person from everything else, and join it with the identifiers found."""

from phiscan.health.classifier import HINT, Classifier, build_classifier, classify
from phiscan.health.decision_table import HEALTH, decide, lacks_only_a_name, weigh
from phiscan.health.detectors import DETECTORS, detect, is_laid_out_as_a_record
from phiscan.health.topics import label_of, topic_of, topics

__all__ = [
    "DETECTORS",
    "HEALTH",
    "HINT",
    "Classifier",
    "build_classifier",
    "classify",
    "decide",
    "detect",
    "is_laid_out_as_a_record",
    "label_of",
    "lacks_only_a_name",
    "topic_of",
    "topics",
    "weigh",
]
