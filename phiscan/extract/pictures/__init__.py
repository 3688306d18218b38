"""Machine-readable codes in pictures."""
