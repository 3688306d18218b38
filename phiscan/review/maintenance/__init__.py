"""Upkeep of the review database: backup, copying, condition, keys."""
