"""Texts in capitals or small letters alone, read with the usual case."""
