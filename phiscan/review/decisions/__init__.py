"""Decisions: verdicts, corrections, second reviews, suppressions, reveals and policy."""
