"""Identifiers of machine formats: the type of a value is known from its field."""
