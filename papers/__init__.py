"""Replications of the experiments of the papers that phiscan is based on: ``phiscan benchmark``."""
