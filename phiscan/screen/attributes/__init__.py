"""Attributes of names: patient, professional, author, relative."""
