"""Decide whether a file is referred: evidence per passage, one calibrated probability, reasons in words."""

from phiscan.decision.decide import Decider, Gathered, build_decider
from phiscan.decision.reasons import sentences

__all__ = ["Decider", "Gathered", "build_decider", "sentences"]
