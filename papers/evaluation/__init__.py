"""Thresholdless metrics and their private release (Boyd 2014) on the Adult data or synthetic data."""
