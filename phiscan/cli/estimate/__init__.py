"""``phiscan estimate``: accuracy and missed PHI from counts."""
