"""Recognizers: each finds one family of identifiers in a document."""
