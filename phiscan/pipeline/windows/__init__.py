"""Long documents in windows: which to read first, and what is said of the rest."""
