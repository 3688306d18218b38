"""Scores of annotated spans: strict to partial matches, tokens, significance."""
