"""The decision whether a file is referred: evidence by passage, one calibrated probability, plain reasons."""

from phiscan.decision.decide import Decider, Gathered, build_decider
from phiscan.decision.reasons import sentences

__all__ = ["Decider", "Gathered", "build_decider", "sentences"]
