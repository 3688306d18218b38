"""Classify documents as health information about a person, and combine that with the identifiers found."""
