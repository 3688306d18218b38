"""Filters of false positives: eponyms, labels, signs and places that look like people."""
