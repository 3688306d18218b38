"""Scores of rankings: ROC and precision-recall areas, simulation, differential privacy."""
