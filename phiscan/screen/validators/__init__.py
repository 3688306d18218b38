"""Validators of values: check digits, dates, contacts, codes."""
