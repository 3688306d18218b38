"""A learned classifier of numbers: identifier or not, and of which type."""
