"""Workbooks and delimited tables."""
