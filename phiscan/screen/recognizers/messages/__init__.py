"""Identifiers of machine formats: the field says what a value is."""
