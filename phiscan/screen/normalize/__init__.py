"""A document as it was meant: escapes resolved, spoken numbers as digits, with the way back to its offsets."""
