"""Learned taggers of names: tokens, features, models, calibration, spans."""
