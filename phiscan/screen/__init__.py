"""Screening: a document to its identifiers, its PII vector, and what it lacks to satisfy equation 4."""

from phiscan.screen.case_variants import Known
from phiscan.screen.pipeline import Screener, build_screener, screen

__all__ = ["Known", "Screener", "build_screener", "screen"]
