"""Normalization of a text with its offsets: letter case, escapes, spoken numbers, OCR confusions."""
