"""Filters of false positives: eponyms, brands, codes, places and organizations that look like people."""
