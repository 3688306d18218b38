"""Maintenance of the review database: backup, copying, status, keys."""
